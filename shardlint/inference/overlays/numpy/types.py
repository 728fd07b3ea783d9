"""Information on dtypes, and constants, of `numpy` and `jax.numpy`: `finfo`, `result_type`, `inf`.

None of these values is data, so inside `jax.shard_map` they are the same on all devices.
"""

from __future__ import annotations

import math

from shardlint.inference.domain.values import Array, Const, LibraryObject, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype, bits, dtype_value, kind, narrowed, promote
from shardlint.inference.overlays.arrays.operands import Transfer, is_numpy, operand, table

_LIMITS = ("eps", "max", "min", "resolution", "smallest_normal", "tiny")


def _asked(call: Call) -> str | None:
    """Return the dtype that the argument names, or the dtype of an array."""
    (requested,) = call.bind("dtype")
    if isinstance(requested, Array):
        return requested.dtype
    dtype = as_dtype(requested)
    return dtype if is_numpy(call) else narrowed(dtype)


def finfo(call: Call) -> Value:
    """`finfo(dtype)`: its limits are numpy's scalars of that dtype."""
    dtype = _asked(call)
    if dtype is None or kind(dtype) != "f":
        return call.unknown("the limits of a dtype that is not known")
    fields: dict[str, Value] = {name: Array((), dtype, numpy=True) for name in _LIMITS}
    return LibraryObject("numpy.finfo", {**fields, "bits": Const(bits(dtype)), "dtype": dtype_value(dtype)})


def iinfo(call: Call) -> Value:
    """`iinfo(dtype)`: its limits are Python's integers."""
    dtype = _asked(call)
    size = None if dtype is None else bits(dtype)
    if dtype is None or size is None or kind(dtype) not in "iu":
        return call.unknown("the limits of a dtype that is not known")
    low, high = (-(2 ** (size - 1)), 2 ** (size - 1) - 1) if kind(dtype) == "i" else (0, 2**size - 1)
    return LibraryObject(
        "numpy.iinfo",
        {"min": Const(low), "max": Const(high), "bits": Const(size), "dtype": dtype_value(dtype)},
    )


def promoted(call: Call) -> Value:
    """`promote_types(a, b)`, `result_type(*arrays_and_dtypes)`."""
    numpy = is_numpy(call)
    types: list[tuple[str | None, bool]] = []
    for arg in call.args:
        named = as_dtype(arg)
        x = None if named is not None else operand(arg, numpy)
        types.append((named, False) if x is None else (x.dtype, x.weak))
    if call.opaque or call.kwargs or not types:
        return call.unknown("what types are promoted to")
    dtype, _ = promote(types, numpy)
    dtype = dtype if numpy else narrowed(dtype)
    return call.unknown("what types are promoted to") if dtype is None else dtype_value(dtype)


_TABLE: dict[str, Transfer] = {
    "finfo": finfo,
    "iinfo": iinfo,
    "promote_types": promoted,
    "result_type": promoted,
}

TABLE: dict[str, Transfer] = {**table("numpy.", _TABLE), **table("jax.numpy.", _TABLE)}

#: Values of names that are not functions.
CONSTANTS: dict[str, Value] = {
    f"{module}.{name}": Const(getattr(math, name))
    for module in ("numpy", "jax.numpy")
    for name in ("e", "inf", "pi")
}
