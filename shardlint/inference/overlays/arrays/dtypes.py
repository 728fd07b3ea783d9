"""Dtype names, and the promotion rules of JAX and numpy.

JAX's lattice is that of its type promotion page (`jax._src.dtypes`), with 64-bit types off, which is the
default; numpy's rules are those of NEP 50. A dtype is a numpy-style name, or None if it is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from shardlint.inference.domain.values import Const, External, LibraryObject, Value

#: The dtype of a JAX array that is created with a 64-bit dtype.
_NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}

_ALIASES = {
    "bool_": "bool", "int": "int64", "int_": "int64", "float": "float64", "float_": "float64",
    "double": "float64", "single": "float32", "half": "float16", "complex": "complex128",
    "complex_": "complex128", "uint": "uint64", "byte": "int8", "ubyte": "uint8", "intp": "int64",
    "csingle": "complex64", "cdouble": "complex128", "f2": "float16", "f4": "float32", "f8": "float64",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
    "u4": "uint32", "u8": "uint64", "c8": "complex64", "c16": "complex128",
}  # fmt: skip

#: Texts that numpy takes for a dtype beside its names. Those of a C long (l, L) depend on the platform.
_CODES = {
    "?": "bool", "b1": "bool", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32",
    "I": "uint32", "q": "int64", "Q": "uint64", "e": "float16", "f": "float32", "d": "float64",
    "F": "complex64", "D": "complex128",
}  # fmt: skip

_NAME = re.compile(r"(bool|(u?int|b?float|complex)(\d+)(_\w+)?)$")

#: Each node of JAX's lattice with the nodes just above it; ``i*``, ``f*``, ``c*`` are weak types.
_ABOVE = {
    "bool": ("i*",),
    "i*": ("uint4", "int4"),
    "uint4": ("uint8", "int8"),
    "int4": ("int8",),
    "uint8": ("uint16", "int16"),
    "uint16": ("uint32", "int32"),
    "uint32": ("uint64", "int64"),
    "uint64": ("f*",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("f*",),
    "f*": ("c*", "float16", "bfloat16"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "c*": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}
_WEAK = {"i*": "int32", "f*": "float32", "c*": "complex64"}


def is_inexact(dtype: str | None) -> bool:
    """Return whether a dtype is certainly one of floating-point or complex numbers."""
    return dtype is not None and dtype.startswith(("float", "bfloat", "complex"))


def as_dtype(value: Value | None) -> str | None:
    """Return the dtype that a value names (``jnp.float32``, ``"bfloat16"``, ``float``, ``x.dtype``), or
    None."""
    if isinstance(value, Const) and isinstance(value.value, str):
        name = _name_of_code(value.value)
    elif isinstance(value, External):
        name = value.name.rpartition(".")[2]
    elif isinstance(value, LibraryObject) and value.kind == "numpy.dtype":
        return as_dtype(value.fields["name"])
    else:
        return None
    name = _ALIASES.get(name, name)
    return name if _NAME.match(name) else None


def _name_of_code(text: str) -> str:
    """Return the dtype of a text such as ``"f"`` or ``"<f4"``, a little-endian one as on nearly all machines;
    any other text as it is."""
    code = text[1:] if text[:1] in ("<", "=", "|") else text
    return _CODES.get(code) or (_ALIASES.get(code, text) if code[-1:].isdigit() else text)


def dtype_value(dtype: str) -> LibraryObject:
    """Return the value of ``x.dtype``, with the fields that programs read."""
    fields: dict[str, Value] = {"name": Const(dtype), "kind": Const(kind(dtype))}
    if (size := itemsize(dtype)) is not None:
        fields["itemsize"] = Const(size)
    return LibraryObject("numpy.dtype", fields)


def kind(dtype: str) -> str:
    """Return ``b`` for bool, ``i`` signed, ``u`` unsigned, ``f`` floating, ``c`` complex, ``V`` anything
    else."""
    if dtype.startswith("bfloat"):
        return "f"
    return dtype[0] if _NAME.match(dtype) else "V"


def bits(dtype: str) -> int | None:
    """Return the width of one element in bits, or None if it has none (PRNG keys)."""
    if dtype == "bool":
        return 8
    found = _NAME.match(dtype)
    return int(found[3]) if found else None


def itemsize(dtype: str) -> int | None:
    """Return the bytes of one element, as ``x.itemsize`` does."""
    width = bits(dtype)
    return None if width is None else max(1, width // 8)


def narrowed(dtype: str | None) -> str | None:
    """Return the dtype that an array has inside JAX with 64-bit types off."""
    return _NARROWED.get(dtype, dtype) if dtype else None


def floating(dtype: str | None, numpy: bool) -> str | None:
    """Return the dtype of a mean: an inexact dtype stays, any other becomes the default float."""
    if dtype is None or kind(dtype) in "fcV":
        return dtype
    return "float64" if numpy else "float32"


def real_part(dtype: str | None) -> str | None:
    """Return the dtype of the real part."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype) if dtype else None


def summed(dtype: str | None, numpy: bool) -> str | None:
    """Return the dtype of a sum: small integers widen to the default integer."""
    if dtype is None or kind(dtype) not in "biu":
        return dtype
    unsigned = kind(dtype) == "u"
    if numpy:
        return "uint64" if unsigned else "int64"
    return "uint32" if unsigned else "int32"


def promote(types: Iterable[tuple[str | None, bool]], numpy: bool) -> tuple[str | None, bool]:
    """Return the (dtype, weak) pair that such pairs promote to; unknown if one of them is."""
    known: list[tuple[str, bool]] = []
    for dtype, weak in types:
        if dtype is None:
            return None, False
        known.append((dtype, weak))
    return _promote_numpy(known) if numpy else _promote_jax(known)


def _promote_jax(types: list[tuple[str, bool]]) -> tuple[str | None, bool]:
    pairs = {(narrowed(dtype) or dtype, weak and dtype != "bool") for dtype, weak in types}
    if len(pairs) == 1:
        return pairs.pop()
    if all(weak for _, weak in pairs):
        bound = _least_upper_bound(frozenset(dtype for dtype, _ in pairs))
        return narrowed(bound), True
    stars = {"i": "i*", "u": "i*", "f": "f*", "c": "c*"}
    nodes = frozenset(stars.get(kind(dtype), dtype) if weak else dtype for dtype, weak in pairs)
    found = _least_upper_bound(nodes)
    return (_WEAK[found], True) if found in _WEAK else (narrowed(found), False)


@cache
def _least_upper_bound(nodes: frozenset[str]) -> str | None:
    """Return the least node above all nodes, or None if JAX requires an explicit cast."""
    if len(nodes) == 1:
        return next(iter(nodes))
    if not nodes <= _ABOVE.keys():
        return None
    common = frozenset.intersection(*(_uppers(node) for node in nodes))
    return next((node for node in common if common <= _uppers(node)), None)


@cache
def _uppers(node: str) -> frozenset[str]:
    return frozenset({node}).union(*(_uppers(above) for above in _ABOVE[node]))


def _promote_numpy(types: list[tuple[str, bool]]) -> tuple[str | None, bool]:
    strong = {dtype for dtype, weak in types if not weak}
    if not strong:
        order = ("bool", "int64", "float64", "complex128")
        kinds = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
        ranks = [kinds.get(kind(dtype)) for dtype, _ in types]
        known = [rank for rank in ranks if rank is not None]
        return (order[max(known)], False) if len(known) == len(ranks) else (None, False)
    result: str | None = strong.pop()
    for dtype in strong:
        result = _promote_two(result, dtype) if result else None
    for dtype, weak in types:
        if weak and result:
            result = _promote_scalar(result, kind(dtype))
    return result, False


def _promote_two(a: str, b: str) -> str | None:
    if a == b:
        return a
    if "bfloat16" in (a, b) or "V" in (kind(a), kind(b)):
        return {"float32": "float32", "float64": "float64", "bool": "bfloat16"}.get(
            b if a == "bfloat16" else a
        )
    order = "buifc"
    low, high = sorted((a, b), key=lambda d: (order.index(kind(d)), bits(d)))
    low_kind, high_kind = kind(low), kind(high)
    low_bits, high_bits = bits(low) or 0, bits(high) or 0
    if low_kind == "b" or low_kind == high_kind:
        return high
    if low_kind == "u" and high_kind == "i":
        return f"int{max(high_bits, 2 * low_bits)}" if low_bits < 64 else "float64"
    if low_kind in "ui":
        needed = min(64, max(16, 2 * low_bits))
        wide = max(needed, high_bits if high_kind == "f" else high_bits // 2)
        return f"float{wide}" if high_kind == "f" else f"complex{2 * wide}"
    return f"complex{max(high_bits, 2 * low_bits)}"


def _promote_scalar(dtype: str, scalar: str) -> str | None:
    """Return the dtype that a numpy dtype and a Python scalar of this kind promote to."""
    mine = kind(dtype)
    if mine == "V":
        return None
    if scalar in "iu":
        return "int64" if mine == "b" else dtype
    if scalar == "f":
        return dtype if mine in "fc" else "float64"
    if scalar == "c":
        return {"float16": "complex64", "float32": "complex64"}.get(
            dtype, dtype if mine == "c" else "complex128"
        )
    return dtype
