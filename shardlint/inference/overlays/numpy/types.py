"""Information on dtypes, and constants, of `numpy` and `jax.numpy`: `finfo`, `result_type`, `inf`.

None of these values is data, so inside `jax.shard_map` they are the same on all devices.
"""

from __future__ import annotations

import math

from shardlint.inference.domain.values import (
    Array,
    Const,
    External,
    Integer,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    is_none,
)
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


def dtype(call: Call) -> Value:
    """`dtype(dtype)`: an object that names it; 64 bits stay 64 bits."""
    (named,) = call.bind("dtype")
    found = "float64" if is_none(named) else as_dtype(named)
    return call.unknown("a dtype that is not known") if found is None else dtype_value(found)


#: The abstract classes of dtypes, with the kinds of those that derive from them.
_CLASSES = {
    "generic": "biufc", "number": "iufc", "inexact": "fc", "floating": "f", "complexfloating": "c",
    "integer": "iu", "signedinteger": "i", "unsignedinteger": "u", "character": "", "flexible": "",
}  # fmt: skip
#: JAX's own, of which keys of random numbers are.
_EXTENDED = frozenset({"jax.dtypes.extended", "jax.dtypes.prng_key"})


def issubdtype(call: Call) -> Value:
    """`issubdtype(arg1, arg2)`: numpy takes bfloat16 and the other dtypes of JAX's own for no numbers."""
    one, other = call.bind("arg1", "arg2")
    known = one.fields["name"] if isinstance(one, LibraryObject) and one.kind == "numpy.dtype" else None
    is_key = isinstance(known, Const) and str(known.value).startswith("key<")
    dtype = as_dtype(one)
    if not isinstance(other, External) or (dtype is None and not is_key):
        return call.unknown("dtypes that are not known")
    library, _, name = other.name.rpartition(".")
    if other.name in _EXTENDED and not is_numpy(call):
        return Const(is_key)
    if is_key or library not in ("numpy", "jax.numpy"):
        return call.unknown("dtypes of another library")
    assert dtype is not None
    if (kinds := _CLASSES.get(name)) is not None:
        foreign = is_numpy(call) and name != "generic" and not _is_of_numpy(dtype)
        return Const(kind(dtype) in kinds and not foreign)
    wanted = as_dtype(other)
    return call.unknown("a class that is not known") if wanted is None else Const(dtype == wanted)


def _is_of_numpy(dtype: str) -> bool:
    """Return whether numpy itself has a dtype."""
    return dtype == "bool" or (
        not dtype.startswith("bfloat") and (bits(dtype) or 0) >= 8 and "_" not in dtype
    )


def isscalar(call: Call) -> Value:
    """`isscalar(element)`: JAX's also of arrays without dimensions."""
    (element,) = call.bind("element")
    match element:
        case Array(struct=False, shape=tuple() as shape) if shape or not is_numpy(call):
            return Const(shape == ())
        case Integer() | Const(value=bool() | int() | float() | complex() | str() | bytes()):
            return Const(True)
        case Tuple() | ListValue() | Const(value=None):
            return Const(False)
    return call.unknown("the value is not known")


_TABLE: dict[str, Transfer] = {
    "dtype": dtype,
    "issubdtype": issubdtype,
    "isscalar": isscalar,
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
