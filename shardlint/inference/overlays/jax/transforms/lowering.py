"""What is compiled as a whole: a jitted function, or one under `jax.shard_map` outside of jit.

JAX drops what no result is computed from before it lowers a program, and what would be refused only then is
refused only where its result is used. Such a use is recorded with a doubt (`CollectiveUse.silent`), which the
outermost of these functions takes away if one of its results is computed from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.transforms.taint import following, holds_marked
from shardlint.inference.store.identity_set import Once
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import CollectiveUse, Use

#: Why what is refused as it is lowered may run.
DOUBT = "where a result is computed from it"


def lowered(interpreter: Evaluator, evaluate: Callable[[], Value]) -> Value:
    """What ``evaluate`` gives, which runs a function that is compiled here unless it is inside another.

    For each use in doubt it is evaluated once more.
    """
    if interpreter.context.in_jit is True:
        return evaluate()
    outer, interpreter.uses = interpreter.uses, Once()
    finished = False
    try:
        result = evaluate()
        finished = True
    finally:
        uses, interpreter.uses = interpreter.uses, outer
        outer.extend(_without_doubt(interpreter, use, evaluate) if finished else use for use in uses)
    return result


def _without_doubt(interpreter: Evaluator, use: Use, evaluate: Callable[[], Value]) -> Use:
    """Return a use, without its doubt if what ``evaluate`` gives is computed from it."""
    if not isinstance(use, CollectiveUse) or use.silent != DOUBT or not isinstance(use.verdict, Rejected):
        return use
    with following(interpreter, marking=use.place):
        used = holds_marked(evaluate())
    return replace(use, silent=None) if used else use
