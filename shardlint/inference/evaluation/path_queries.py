"""Queries about the current path: is recording off, is this an undecided branch, and so on.

Each query is recorded as a dependency of the running call, so that its summary is reused only where the
answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.lattice import is_supposed
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.store.effect_log import EFFECTS

#: The queries: whether recording is off, whether an undecided test led here, and whether it is one of the
#: program; whether one that may never have this outcome did (see `choices`); whether no single alternative is
#: certain to reach this point.
_ANSWERS: dict[str, Callable[[Evaluator], bool]] = {
    "muted": lambda interpreter: bool(interpreter.muted),
    "forked": lambda interpreter: bool(interpreter.path),
    "guarded": lambda interpreter: any(fork > 0 for fork in interpreter.path),
    "doubted": lambda interpreter: not interpreter.doubtful.isdisjoint(interpreter.path),
    "supposed": lambda interpreter: is_supposed(interpreter.assumed),
}
#: Answers by query.
Circumstances = dict[str, bool]


def ask(interpreter: Evaluator, name: str) -> bool:
    """Return the answer to a query of `_ANSWERS`, and record it."""
    EFFECTS.asked.add(name)
    return _ANSWERS[name](interpreter)


def of_run(interpreter: Evaluator) -> Circumstances:
    """Return the queries made in a call, with the answers around it."""
    return {name: _ANSWERS[name](interpreter) for name in EFFECTS.asked}


def have_same_answers(interpreter: Evaluator, circumstances: Circumstances) -> bool:
    """Return whether the queries of another call have the same answers here."""
    return all(_ANSWERS[name](interpreter) == answer for name, answer in circumstances.items())
