"""`jnp.fft`: Fourier transforms, by the shape and dtype of their results."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Value, as_dim, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    axes_of,
    axis_of,
    dtype_argument,
    given,
    is_numpy,
    known_rank,
    operand,
    reject,
    result,
    size_of,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Gathered, Operation
from shardlint.laws.core.dims import Dim
from shardlint.laws.placement.movement import gathered_by_transform

_COMPLEX = {"float64": "complex128", "complex128": "complex128"}
_REAL = {"float64": "float64", "complex128": "float64"}


def _dtype(call: Call, dtype: str | None, real: bool) -> str | None:
    """Return the dtype of a result: numpy transforms integers in double precision, JAX in single."""
    if dtype is None or (real and is_numpy(call) and dtype in ("float16", "bfloat16")):
        return None
    double = is_numpy(call) and dtype.startswith(("int", "uint", "bool"))
    kind = "float64" if double else dtype
    return _REAL.get(kind, "float32") if real else _COMPLEX.get(kind, "complex64")


def _size(kind: str, size: Dim, asked: Dim | None) -> Dim:
    """Return the size of the last transformed dimension. ``kind`` is ``c`` for complex to complex, ``r`` for
    real to complex (``rfft``, ``ihfft``), ``i`` for complex to real."""
    if kind == "i":
        return 2 * (size - 1) if asked is None else asked
    whole = size if asked is None else asked
    return whole // 2 + 1 if kind == "r" else whole


def _asked(value: Value | None) -> Dim:
    size = None if value is None else as_dim(value)
    return unresolved("a size is not known") if size is None else size


def _axis(axis: Value | None, rank: int) -> int:
    """Return the dimension that a call transforms."""
    if not rank:
        reject("a scalar has no dimension to transform")
    return axis_of(axis, rank) if given(axis) else rank - 1


def _axes(axes: Value | None, rank: int, count: int | None) -> tuple[int, ...]:
    """Return the dimensions that a call transforms: by default the last ``count``, all if that is None."""
    if count is not None and count > rank:
        reject("more dimensions than the array has")
    return axes_of(axes, rank) if given(axes) else tuple(range(rank - (count or rank), rank))


def _gathered(real: bool) -> Gathered:
    """Return the part of a transform's record that tells along which dimensions XLA gathers its operand."""

    def along(call: Call, array: Array, split: frozenset[int]) -> frozenset[int]:
        rank = len(known_rank(array))
        if "axis" in call.arguments:
            return gathered_by_transform(split, (_axis(call.arguments["axis"], rank),), real)
        sizes, axes = call.bound("s", "axes")
        count = len(as_items(sizes) or ()) if given(sizes) else 2 if call.name.endswith("2") else None
        return gathered_by_transform(split, _axes(axes, rank, count), real)

    return along


def _along(kind: str) -> Transfer:
    """Return ``fft`` and its relatives: ``(a, n=None, axis=-1, norm=None)``."""

    def transform(call: Call) -> Value:
        a, n, axis, _ = call.bind("a", n=None, axis=None, norm=None)
        x = operand(a, is_numpy(call))
        shape = list(known_rank(x))
        at = _axis(axis, len(shape))
        shape[at] = _size(kind, shape[at], _asked(n) if given(n) else None)
        return result(call, tuple(shape), _dtype(call, x.dtype, kind == "i"))

    return transform


def _over(kind: str, two: bool) -> Transfer:
    """Return ``fftn``, ``fft2`` and their relatives: ``(a, s=None, axes=None, norm=None)``."""

    def transform(call: Call) -> Value:
        a, s, axes, _ = call.bind("a", s=None, axes=None, norm=None)
        x = operand(a, is_numpy(call))
        shape = list(known_rank(x))
        sizes = as_items(s) if given(s) else None
        if given(s) and sizes is None:
            unresolved("the sizes are not known")
        at = _axes(axes, len(shape), 2 if two else None if sizes is None else len(sizes))
        if sizes is not None and len(sizes) != len(at):
            reject("a size for each dimension")
        for position, dimension in enumerate(at):
            asked = None if sizes is None else _asked(sizes[position])
            last = kind if position == len(at) - 1 else "c"
            shape[dimension] = _size(last, shape[dimension], asked)
        return result(call, tuple(shape), _dtype(call, x.dtype, kind == "i"))

    return transform


def _shifted(call: Call) -> Value:
    """``fftshift(x, axes=None)``."""
    a, _ = call.bind("x", axes=None)
    x = operand(a, is_numpy(call))
    return result(call, x.shape, x.dtype, x.weak)


def _frequencies(call: Call) -> Value:
    """``fftfreq(n, d=1.0)`` and ``rfftfreq``: also with ``dtype=`` in JAX."""
    n, _, dtype, _ = call.bind("n", d=None, dtype=None, device=None)
    size = size_of(n)
    kind = dtype_argument(dtype, "float64" if is_numpy(call) else "float32")
    return result(call, (_size("r" if call.name.endswith("rfftfreq") else "c", size, None),), kind)


def _records() -> tuple[Operation, ...]:
    names = {
        "c": ("fft.fft fft.ifft", "fft.fft2 fft.ifft2", "fft.fftn fft.ifftn"),
        "r": ("fft.rfft fft.ihfft", "fft.rfft2", "fft.rfftn"),
        "i": ("fft.irfft fft.hfft", "fft.irfft2", "fft.irfftn"),
    }
    transforms = (
        Operation(name, transfer, sharding=unclaimed, reads_values=True, gathered=_gathered(kind != "c"))
        for kind, (one, two, many) in names.items()
        for name, transfer in ((one, _along(kind)), (two, _over(kind, True)), (many, _over(kind, False)))
    )
    shifts = Operation("fft.fftshift fft.ifftshift", _shifted, sharding=unclaimed, reads_values=True)
    counts = Operation("fft.fftfreq fft.rfftfreq", _frequencies, sharding=unclaimed, reads_values=True)
    return (*transforms, shifts, counts)


OPERATIONS: tuple[Operation, ...] = _records()
