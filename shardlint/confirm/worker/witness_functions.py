"""Functions of witnesses that are not a single function of JAX: each is one recipe with a few parameters."""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from witness_steps import Unsupported


def jit(
    function: Any, in_shardings: Any = None, out_shardings: Any = None, static_argnums: Any = None
) -> Any:
    """Return `jax.jit` with the given shardings and static arguments, and none of its other options."""
    given = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "static_argnums": static_argnums,
    }
    return jax.jit(function, **{key: value for key, value in given.items() if value is not None})


def pmap(
    function: Any,
    in_axes: Any = 0,
    axis_size: Any = None,
    devices: Any = None,
    static_broadcasted_argnums: Any = (),
) -> Any:
    """Return `jax.pmap` with its mapped axes and static arguments, and none of its other options."""
    return jax.pmap(
        function,
        in_axes=in_axes,
        axis_size=axis_size,
        devices=devices,
        static_broadcasted_argnums=static_broadcasted_argnums,
    )


def context(manager: Any) -> None:
    """Enter a mesh or the context of one, and leave it."""
    with manager:
        pass


def decorator(manager: Any) -> Any:
    """Use the context of a mesh as a decorator.

    `jax.set_mesh` has set the mesh by then, and is undone first.
    """
    if type(manager) is getattr(jax, "set_mesh", None):
        manager.__exit__(None, None, None)
    return manager(lambda x: x)


def subclass(base: Any) -> Any:
    """Make a class of this base."""
    return type("Spec", (base,), {})


def object_without_hash() -> Any:
    """Return an object of a class with `__eq__` and without `__hash__`."""
    return types.SimpleNamespace()


def array_of_shards(shape: Any, sharding: Any, shapes: Any = None) -> Any:
    """Return an array of shards of these shapes, each on a device of its own as far as there are enough.

    Without shapes there is one shard for each device.
    """
    devices = list(sharding.mesh.devices.flat)
    if shapes is None:
        shapes = [sharding.shard_shape(shape)] * len(devices)
        extra: dict[str, Any] = {}
    else:
        extra = {"dtype": np.float32}
    turns = itertools.cycle(devices)
    shards = [jax.device_put(np.ones(size, np.float32), next(turns)) for size in shapes]
    return jax.make_array_from_single_device_arrays(shape, sharding, shards, **extra)


def flax(name: str) -> Any:
    """Return `flax.linen` or `flax.nnx`."""
    try:
        if name == "linen":
            from flax import linen as module
        else:
            from flax import nnx as module
    except ImportError as error:
        raise Unsupported(f"flax.{name}: {error}") from None
    return module


def names_given(name: str) -> Callable[[Any], Any]:
    """Give names to an initializer, and call it."""
    return lambda init: flax(name).with_partitioning(init, (None, None))(jax.random.key(0), (1, 1))


def dense(init: Any) -> Any:
    """Initialize a layer whose kernel has this initializer."""
    return flax("linen").Dense(1, kernel_init=init).init(jax.random.key(0), np.ones((1, 1)))


def stacked_layers(named: Any) -> Any:
    """Stack layers whose kernel has partitioning names, with or without one for the new axis."""
    nn = flax("linen")
    options = {"metadata_params": {nn.PARTITION_NAME: None}} if named else {}
    stack = nn.vmap(nn.Dense, variable_axes={"params": 0}, split_rngs={"params": True}, **options)
    layer = stack(4, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, "x")))
    return layer.init(jax.random.key(0), jnp.ones((2, 4)))


def attribute(name: str) -> Callable[[Any], Any]:
    """Read one attribute."""
    return operator.attrgetter(name)


def method(name: str) -> Callable[..., Any]:
    """Call one method of the first argument."""
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def update(name: str) -> Callable[..., Any]:
    """Return a function such as ``x.at[key].set(value)``."""
    return lambda x, key, *args, **kwargs: getattr(x.at[key], name)(*args, **kwargs)


#: Loops that carry x, or two branches, whose body or second branch returns y.
def _scan(x: Any, y: Any) -> Any:
    return jax.lax.scan(lambda c, _: (y, None), x, None, length=2)


def _fori_loop(x: Any, y: Any) -> Any:
    return jax.lax.fori_loop(0, 2, lambda i, c: y, x)


def _while_loop(x: Any, y: Any) -> Any:
    return jax.lax.while_loop(lambda c: True, lambda c: y, x)


def _cond(x: Any, y: Any) -> Any:
    return jax.lax.cond(jnp.sum(x) > 0, lambda: x, lambda: y)


def _switch(x: Any, y: Any) -> Any:
    return jax.lax.switch(0, (lambda: x, lambda: y))


_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le,
    "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_METHODS = """
    all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten max
    mean min nonzero prod ptp ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take
    trace transpose var view
"""
_UPDATES = "set add subtract multiply mul divide power min max get"

OWN: dict[str, Callable[..., Any]] = {
    "jax.jit": jit,
    "jax.pmap": pmap,
    "a context": context,
    "a decorator": decorator,
    "a class": subclass,
    "an object without a hash": object_without_hash,
    "an array of shards": array_of_shards,
    "nn.with_partitioning called": names_given("linen"),
    "nnx.with_partitioning called": names_given("nnx"),
    "nn.Dense initialized": dense,
    "stacked layers": stacked_layers,
    "scan": _scan,
    "fori_loop": _fori_loop,
    "while_loop": _while_loop,
    "cond": _cond,
    "switch": _switch,
    "reshaped devices": lambda devices, shape: np.array(devices).reshape(shape),
    "[]": operator.getitem,
    "1 -": operator.neg,
    "1 +": operator.pos,
    "1 ~": operator.invert,
    "AbstractMesh.shape": attribute("shape"),
    **{f"2 {symbol}": function for symbol, function in _OPERATORS.items()},
    **{f"jax.Array.{name}": attribute(name) for name in ("T", "mT", "real", "imag")},
    **{f"jax.Array.{name}": method(name) for name in _METHODS.split()},
    **{f"at[].{name}": update(name) for name in _UPDATES.split()},
    **{
        f"Mesh.{name}": attribute(name)
        for name in ("devices", "device_ids", "is_multi_process", "local_devices", "local_mesh")
    },
    **{
        f"NamedSharding.{name}": attribute(name)
        for name in ("addressable_devices", "device_set", "is_fully_addressable")
    },
}
