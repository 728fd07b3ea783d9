"""Trees without boxes of which linen's metadata is asked: each array in them gets the spec ``P()``."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Const, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.common.metadata import map_tree
from shardlint.inference.overlays.pytrees.prefixes import arrays_at, steps_of
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.uses import BareTreeUse


def note_bare(call: Call, tree: Value | None) -> None:
    """Record a call that asks for the names in a tree, where all its leaves are known, and none has any."""
    if tree is None or call.opaque or call.interpreter.context.test:
        return
    bare: list[bool] = []

    def look(leaf: Value) -> Value:
        bare.append(isinstance(leaf, Array | Const))
        return leaf

    map_tree(look, tree)
    leaves = tuple((steps_of(path), array.shape) for array, path in arrays_at(tree) if array.shape)
    if leaves and all(bare):
        call.interpreter.record(
            BareTreeUse(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=Accepted(),
                function=call.name.rpartition(".")[2],
                leaves=leaves,
            )
        )
