"""The lowering of a compiled function: one under `jax.jit`, or under `jax.shard_map` outside of jit.

JAX drops computations without a used result before it lowers a program, so an operation that is refused only
then is refused only if its result is used. Such a use is recorded with a doubt (`CollectiveUse.silent`),
which the outermost of these functions removes if one of its results depends on it.
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

#: The condition under which an operation is refused when it is lowered.
DOUBT = "where a result is computed from it"


def lowered(interpreter: Evaluator, evaluate: Callable[[], Value]) -> Value:
    """Return the result of ``evaluate``, which runs a function that is compiled here unless it is inside
    another.

    It is evaluated once more for each use in doubt.
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
    """Return a use, without its doubt if the result of ``evaluate`` depends on it."""
    if not isinstance(use, CollectiveUse) or use.silent != DOUBT or not isinstance(use.verdict, Rejected):
        return use
    with following(interpreter, marking=use.place):
        used = holds_marked(evaluate())
    return replace(use, silent=None) if used else use
