"""Statistics over several devices: the effect of ``axis_name=`` in the normalizing layers of Flax.

`flax.linen.normalization` and `flax.nnx.nn.normalization` 0.12.8 average statistics with `jax.lax.pmean` over
the axes, wherever they compute any (`_compute_stats`).
"""

from __future__ import annotations

from shardlint.inference.domain.values import NONE, Array, External, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given, reject
from shardlint.inference.overlays.jax.shard_map.collectives import REJECTED
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place


def share_statistics(call: Call, x: Array, axis: Value | None, groups: Value | None) -> Value:
    """Return the statistics of ``x``, averaged over the axes if there are any. Stops if JAX refuses."""
    statistics = Array(None, x.dtype).vary(x.variation)
    if axis is None or not given(axis):
        return statistics
    if isinstance(axis, Unknown):
        return axis
    named: dict[int | str, Place] = {1: getattr(axis, "origin", None) or call.place}
    found = call.interpreter.call(
        External("jax.lax.pmean"),
        [statistics, axis],
        {"axis_index_groups": groups or NONE},
        call.place,
        places=named,
    )
    if isinstance(found, Unknown) and found.reason == REJECTED.reason:
        reject("its statistics cannot be taken over the axes")
    return found
