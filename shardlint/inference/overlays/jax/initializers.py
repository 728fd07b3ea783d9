"""`jax.nn.initializers`: functions of a key, a shape and a dtype, and functions that return them.

Each is evaluated as the draw that it makes (`jax._src.nn.initializers`, JAX 0.10.2), which decides about
``out_sharding=`` and the sharding in the result's type; a factor of shape () changes neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from shardlint.inference.domain.values import Const, External, Native, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, dtype_argument, given, table, unresolved
from shardlint.inference.store.effect_log import STEADY
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

#: Evaluates the call of an initializer; the dtype is used if the call passes none.
_Initialize = Callable[[Call, str | None], Value]


def _drawn(call: Call, default: str | None) -> Value:
    """Return a draw of `jax.random`; those of initializers take the same ``out_sharding=``."""
    key, shape, dtype, out = call.bind("key", "shape", dtype=None, out_sharding=None)
    return _made(call, External("jax.random.normal"), [key, shape], dtype, default, out)


def _filled(name: str) -> _Initialize:
    def fill(call: Call, default: str | None) -> Value:
        _, shape, dtype, out = call.bind("key", "shape", dtype=None, out_sharding=None)
        return _made(call, External(f"jax.numpy.{name}"), [shape], dtype, default, out)

    return fill


def _unsharded(initialize: _Initialize) -> _Initialize:
    """Return an initializer whose treatment of an ``out_sharding=`` is unknown."""

    def plain(call: Call, default: str | None) -> Value:
        if given(call.argument(3, "out_sharding")):
            unresolved("an initializer with an out_sharding")
        return initialize(call, default)

    return plain


def _made(
    call: Call,
    function: Value,
    args: list[Value | None],
    dtype: Value | None,
    default: str | None,
    out_sharding: Value | None,
) -> Value:
    name = dtype_argument(dtype, default)
    kwargs: dict[str, Value] = {"dtype": Unknown("the dtype") if name is None else Const(name)}
    if given(out_sharding) and out_sharding is not None:
        kwargs["out_sharding"] = out_sharding
    known = [Unknown("not given") if arg is None else arg for arg in args]
    return call.interpreter.call(function, known, kwargs, call.place)


def _maker(initialize: _Initialize, *names: str) -> Transfer:
    """Return a function with these parameters, ``dtype`` among them, that returns an initializer."""

    def transfer(call: Call) -> Value:
        options = dict(zip(names, call.bind(**dict.fromkeys(names)), strict=True))
        default = dtype_argument(options.get("dtype"), "float32")
        return _initializer(initialize, call.name, default, call.place)  # type: ignore[arg-type]

    return transfer


@lru_cache(maxsize=500)
def _initializer(initialize: _Initialize, name: str, default: str | None, place: Place) -> Native:
    """Return the initializer that a call makes: one object for equal calls, so that whatever holds it has one
    canonical key."""
    ready = table("", {"f": lambda inner: initialize(inner, default)})["f"]
    made = Native(f"{name}(...)", ready, origin=place)
    made.born = STEADY
    return made


_FAN = ("in_axis", "out_axis", "batch_axis", "dtype")
_KINDS = ("lecun", "glorot", "xavier", "he", "kaiming")

_FUNCTIONS: dict[str, Transfer] = {
    "zeros": lambda call: _filled("zeros")(call, "float32"),
    "ones": lambda call: _filled("ones")(call, "float32"),
    **{f"{kind}_{law}": _maker(_drawn, *_FAN) for kind in _KINDS for law in ("normal", "uniform")},
    "normal": _maker(_drawn, "stddev", "dtype"),
    "uniform": _maker(_drawn, "scale", "dtype"),
    "constant": _maker(_unsharded(_filled("zeros")), "value", "dtype"),
    "truncated_normal": _maker(_drawn, "stddev", "dtype", "lower", "upper"),
    "orthogonal": _maker(_unsharded(_drawn), "scale", "column_axis", "dtype"),
    "delta_orthogonal": _maker(_unsharded(_drawn), "scale", "column_axis", "dtype"),
    "variance_scaling": _maker(_drawn, "scale", "mode", "distribution", *_FAN),
}

TABLE: dict[str, Transfer] = table("jax.nn.initializers.", _FUNCTIONS)
