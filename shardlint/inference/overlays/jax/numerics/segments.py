"""`jax.ops`: reductions of the rows of an array by segments."""

from __future__ import annotations

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    given,
    known_rank,
    operands,
    reject,
    result,
    same_dim,
    size_of,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.rules.updates import segmented
from shardlint.inference.overlays.operations import Operation, library_table


def _segments(call: Call) -> Value:
    """`segment_sum(data, segment_ids, num_segments=None, ...)`: a row for each segment
    (`scatter._segment_update`, JAX 0.10.2)."""
    options = dict.fromkeys(("indices_are_sorted", "unique_indices", "bucket_size", "mode", "out_sharding"))
    data, ids, number, *_ = call.bind("data", "segment_ids", num_segments=None, **options)
    if not given(number):
        unresolved("the data decide how many segments there are")
    rows, numbers = operands([data, ids])
    shape, kinds = known_rank(rows), known_rank(numbers)
    if len(kinds) != 1:
        unresolved("segments of several dimensions")
    if not shape:
        reject("a scalar has no rows")
    count = size_of(number)
    if isinstance(count, int) and count < 0:
        reject("a negative number of segments")
    if shape[0] != 1:
        same_dim((shape[0], kinds[0]))
    return result(call, (count, *shape[1:]), rows.dtype)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "segment_sum segment_prod segment_max segment_min", _segments, sharding=segmented, reads_values=True
    ),
)

TABLE = library_table("jax.ops.", OPERATIONS)
