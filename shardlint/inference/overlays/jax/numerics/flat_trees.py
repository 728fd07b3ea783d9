"""`jax.flatten_util`: all arrays of a tree in one vector, and back."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Native, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    known_rank,
    mixed,
    operands,
    result,
    table,
    unresolved,
)
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.inference.overlays.pytrees.trees import leaves, tree_map
from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Unknown


def _raveled(call: Call) -> Value:
    """`ravel_pytree(pytree)`: the vector, and a function that returns a tree from such a vector
    (`flatten_util._ravel_list`, JAX 0.10.2)."""
    (tree,) = call.bind("pytree")
    if tree is None:
        unresolved("the tree is not given")
    found = leaves(tree)
    if any(isinstance(leaf, Unknown) for leaf in found):
        unresolved("an unknown leaf")
    arrays = operands(found)
    size = sum((product(known_rank(array)) for array in arrays), start=0)
    dtype = mixed(call, arrays)[0] if arrays else "float32"

    def unravel(inner: Call) -> Value:
        flat = inner.args[0] if inner.args else None
        variation = variation_of(flat) if flat is not None else variation_of(Unknown("no vector"))
        parts = iter(arrays)

        def part(_: Value) -> Value:
            array = next(parts)
            return Array(array.shape, array.dtype, origin=inner.place).vary(variation)

        return tree_map(part, tree)

    return Tuple((result(call, (size,), dtype), Native("unravel", unravel)))


TABLE = table("jax.flatten_util.", {"ravel_pytree": _raveled})
