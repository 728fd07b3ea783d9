"""`jax.image`: images of another size."""

from __future__ import annotations

from shardlint.inference.domain.values import Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import known_rank, operand, reject, result, shape_of
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Operation, library_table


def _resized(call: Call) -> Value:
    """`resize(image, shape, method, antialias=True, precision=...)` (`scale._resize`, JAX 0.10.2)."""
    image, shape, method, *_ = call.bind("image", "shape", "method", antialias=None, precision=None)
    x, sizes = operand(image), shape_of(shape)
    if len(known_rank(x)) != len(sizes):
        reject("a size for each dimension")
    nearest = as_str(method) == "nearest"
    dtype = x.dtype if nearest else None if as_str(method) is None else floating(x.dtype, False)
    return result(call, sizes, dtype, x.weak and nearest)


OPERATIONS: tuple[Operation, ...] = (Operation("resize", _resized, sharding=unclaimed, reads_values=True),)

TABLE = library_table("jax.image.", OPERATIONS)
