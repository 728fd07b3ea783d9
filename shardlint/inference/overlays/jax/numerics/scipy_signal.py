"""`jax.scipy.signal`, `jax.scipy.fft` and `jax.scipy.ndimage`: shapes and dtypes of results (JAX 0.10.2)."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating, kind
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    axis_of,
    given,
    known_rank,
    maximum,
    minimum,
    mixed,
    operand,
    operands,
    reject,
    result,
    same_shape,
    sequence,
    size_of,
    unresolved,
)
from shardlint.inference.overlays.arrays.selection import trapezoid
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Operation, library_table
from shardlint.laws.core.dims import Dim, Shape


def _overlaid(first: Shape, second: Shape, mode: str | None) -> Shape:
    """Return the shape of what is slid over something else: where they overlap, at least in part."""
    if len(first) != len(second):
        reject("ranks differ")
    if mode == "full":
        return tuple(m + n - 1 for m, n in zip(first, second, strict=True))
    if mode == "same":
        return first
    if mode != "valid":
        unresolved("the mode")
    pairs = list(zip(first, second, strict=True))
    sizes: list[Dim] = [maximum(m, n) - minimum(m, n) + 1 for m, n in pairs]
    return tuple(sizes)


def _convolved(call: Call) -> Value:
    """`convolve(in1, in2, mode)` and its relatives."""
    one, other, mode, *options = call.bind(
        "in1",
        "in2",
        mode=Const("full"),
        method=None,
        precision=None,
        axes=None,
    )
    if given(options[-1]):
        unresolved("axes")
    x, y = operands([one, other])
    dtype, _ = mixed(call, [x, y])
    shape = _overlaid(known_rank(x), known_rank(y), as_str(mode))
    if 0 in (*known_rank(x), *known_rank(y)):
        unresolved("operands without elements")
    return result(call, shape, None if x.weak or y.weak else floating(dtype, False))


def _cosines(call: Call) -> Value:
    """`dct(x, type, n, axis, norm)`, `idct`."""
    x, _, n, axis, _ = call.bind("x", type=None, n=None, axis=Const(-1), norm=None)
    array = operand(x)
    shape = known_rank(array)
    at = axis_of(axis, len(shape))
    size = size_of(n) if given(n) else shape[at]
    dtype = array.dtype if array.dtype in ("float32", "complex64") else None
    return result(call, (*shape[:at], size, *shape[at + 1 :]), dtype)


def _mapped(call: Call) -> Value:
    """`map_coordinates(input, coordinates, order, mode, cval)`: an element for each point."""
    values, points, *_ = call.bind("input", "coordinates", "order", mode=None, cval=None)
    x, arrays = operand(values), sequence(points)
    if len(arrays) != len(known_rank(x)):
        reject("coordinates for each dimension")
    shapes = [point.shape for point in arrays]
    return result(call, same_shape(shapes), None if x.weak else x.dtype)


def _detrended(call: Call) -> Value:
    """`detrend(data, axis, type, bp)`: as it was, in floats."""
    data, *_ = call.bind("data", axis=None, type=None, bp=None, overwrite_data=None)
    x = operand(data)
    return result(call, x.shape, None if x.dtype is None or kind(x.dtype) != "f" else x.dtype)


_SIGNAL: tuple[Operation, ...] = (
    Operation(
        "convolve correlate fftconvolve",
        _convolved,
        sharding=unclaimed,
        reads_values=True,
    ),
    Operation("detrend", _detrended, sharding=unclaimed, reads_values=True),
)
_TRANSFORMS: tuple[Operation, ...] = (Operation("dct idct", _cosines, sharding=unclaimed, reads_values=True),)
_IMAGES: tuple[Operation, ...] = (
    Operation("map_coordinates", _mapped, sharding=unclaimed, reads_values=False),
)
_INTEGRALS: tuple[Operation, ...] = (
    Operation("trapezoid", trapezoid, sharding=unclaimed, reads_values=True),
)
#: The records by the module of their functions.
MODULES: dict[str, tuple[Operation, ...]] = {
    "jax.scipy.signal": _SIGNAL,
    "jax.scipy.fft": _TRANSFORMS,
    "jax.scipy.ndimage": _IMAGES,
    "jax.scipy.integrate": _INTEGRALS,
}

TABLE: dict[str, Transfer] = {
    name: transfer
    for module, operations in MODULES.items()
    for name, transfer in library_table(f"{module}.", operations).items()
}
