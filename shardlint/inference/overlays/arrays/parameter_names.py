"""The names of parameters where functions that share an overlay call them differently.

`jnp.add(x, y)` takes no keywords, `jnp.gcd(x1, x2)` does, and one function stands for both. Arguments
given by these names are put in their positions before anything reads them.
"""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.evaluation.call import Call

_DTYPES = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 "
    "complex128"
).split()

#: The first parameters of functions, in their order.
NAMES: dict[str, tuple[str, ...]] = {
    **{f"jax.numpy.{name}": ("x1", "x2") for name in ("fmax", "fmin", "gcd", "lcm")},
    **{f"jax.numpy.{name}": ("x",) for name in _DTYPES},
    **{f"jax.numpy.{name}": ("m",) for name in ("flip", "fliplr", "flipud")},
    **{f"numpy.{name}": ("m",) for name in ("flip", "fliplr", "flipud")},
    **{f"{library}.array_equal": ("a1", "a2") for library in ("jax.numpy", "numpy")},
    **{f"{library}.empty_like": ("prototype",) for library in ("jax.numpy", "numpy")},
    "jax.lax.igamma": ("a", "x"),
    "jax.lax.nextafter": ("x1", "x2"),
    "jax.lax.stop_gradient": ("x",),
    **dict.fromkeys(("jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"), ("f", "tree")),
    **{f"numpy.{name}": ("val",) for name in ("real", "imag")},
    **{f"numpy.{name}": ("x",) for name in ("iscomplex", "isreal")},
    **{f"numpy.{name}": ("a",) for name in ("max", "min", "prod", "sum")},
}  # fmt: skip


def by_position(call: Call) -> Call:
    """Return the call with arguments that are given by these names in their positions."""
    names = NAMES.get(call.name, ())[len(call.args) :]
    if call.opaque or not names or names[0] not in call.kwargs:
        return call
    args, kwargs, places = list(call.args), dict(call.kwargs), dict(call.arg_places)
    for name in names:
        if name not in kwargs:
            break
        if name in places:
            places[len(args)] = places.pop(name)
        args.append(kwargs.pop(name))
    return replace(call, args=args, kwargs=kwargs, arg_places=places)
