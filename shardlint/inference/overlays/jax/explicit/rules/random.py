"""Explicit sharding in `jax.random`: a key is on the context's mesh, and so is data folded into it.

What is drawn is replicated (`results`), but for the draws that take ``out_sharding=``.
"""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.primitives import Trace, first
from shardlint.laws.core.array_types import ArrayType


def keyed(trace: Trace, call: Call) -> Sequence[ArrayType]:
    """Return the types of a draw: its key goes through arithmetic first."""
    trace.nary(trace.operand(first(call)))
    return ()


def fold_in(trace: Trace, call: Call) -> Sequence[ArrayType]:
    """`fold_in(key, data)`: so does the data, before it is combined with the key."""
    trace.nary(trace.operand(*call.bound("data")))
    return keyed(trace, call)
