"""`jax.lax`: gather and scatter, by their dimension numbers (JAX 0.10.2)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import LibraryObject, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    axes_of,
    given,
    known_rank,
    like,
    operand,
    operands,
    reject,
    sequence,
    shape_of,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Operation, library_table

_GATHERED = (
    "offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
    "start_indices_batching_dims",
)  # fmt: skip
_SCATTERED = (
    "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "operand_batching_dims",
    "scatter_indices_batching_dims",
)  # fmt: skip


def _numbers(kind: str, fields: tuple[str, ...]) -> Callable[[Call], Value]:
    """Return the class of dimension numbers with these fields, of which the last two may be missing."""

    def make(call: Call) -> Value:
        values = call.bind(*fields[:3], **dict.fromkeys(fields[3:], Tuple(())))
        return LibraryObject(
            kind, {name: value or Tuple(()) for name, value in zip(fields, values, strict=True)}
        )

    return make


def _gathered(call: Call) -> Value:
    """`gather(operand, start_indices, dimension_numbers, slice_sizes, ...)`: slices, one for each index."""
    a, indices, numbers, sizes, *_ = call.bind(
        "operand", "start_indices", "dimension_numbers", "slice_sizes", unique_indices=None,
        indices_are_sorted=None, mode=None, fill_value=None,
    )  # fmt: skip
    x, at = operands([a, indices])
    rank, batch = len(known_rank(x)), list(known_rank(at)[:-1])
    if not isinstance(numbers, LibraryObject) or not known_rank(at):
        unresolved("the dimension numbers are not known")
    window = shape_of(sizes)
    if len(window) != rank:
        reject("a size for each dimension")
    gone = {i for name in (_GATHERED[1], _GATHERED[3]) for i in _axes(numbers, name, rank)}
    kept = [size for i, size in enumerate(window) if i not in gone]
    places = _axes(numbers, _GATHERED[0], len(batch) + len(kept))
    if len(places) != len(kept):
        reject("a place for each dimension of a slice")
    shape = [kept.pop(0) if i in places else batch.pop(0) for i in range(len(batch) + len(kept))]
    return like(call, x, tuple(shape))


def _axes(numbers: LibraryObject, name: str, rank: int) -> tuple[int, ...]:
    value = numbers.fields[name]
    return axes_of(value, rank) if given(value) else unresolved("the dimension numbers are not known")


def _scattered(call: Call) -> Value:
    """`scatter(operand, scatter_indices, updates, dimension_numbers, ...)` and its relatives: like the
    operand."""
    a, *_ = call.bind(
        "operand", "scatter_indices", "updates", "dimension_numbers", indices_are_sorted=None,
        unique_indices=None, mode=None,
    )  # fmt: skip
    x = operand(a)
    return like(call, x, x.shape)


def _taken(call: Call) -> Value:
    """`index_take(src, idxs, axes)`: a slice for each of the indices along some axes."""
    source, indices, axes = call.bind("src", "idxs", "axes")
    x, arrays = operand(source), sequence(indices)
    if not arrays:
        unresolved("no indices")
    shape = known_rank(x)
    gone = axes_of(axes, len(shape))
    return like(call, x, (*known_rank(arrays[0]), *(n for i, n in enumerate(shape) if i not in gone)))


OPERATIONS: tuple[Operation, ...] = (
    Operation("gather", _gathered, sharding=unclaimed, reads_values=False),
    Operation(
        "scatter scatter_add scatter_sub scatter_mul scatter_min scatter_max",
        _scattered,
        sharding=unclaimed,
        reads_values=False,
    ),
    Operation("index_take", _taken, sharding=unclaimed, reads_values=False),
)

TABLE: dict[str, Transfer] = {
    **library_table("jax.lax.", OPERATIONS),
    "jax.lax.GatherDimensionNumbers": _numbers("jax.lax.GatherDimensionNumbers", _GATHERED),
    "jax.lax.ScatterDimensionNumbers": _numbers("jax.lax.ScatterDimensionNumbers", _SCATTERED),
}
