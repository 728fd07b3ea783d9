"""Queries about the current path, as whether it is undecided, and about the arrays that numpy may view.

Each query is recorded as a dependency of the running call, so that its summary is reused only where the
answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.inference.domain.lattice import is_supposed
from shardlint.inference.evaluation.context import Frame, LoopState
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.store.effect_log import EFFECTS

#: The queries: whether recording is off, whether an undecided test led here, and whether it is one of the
#: program; whether one that may never have this outcome did (see `choices`); whether no single alternative is
#: certain to reach this point; whether what is called here is called in a loop again.
_ANSWERS: dict[str, Callable[[Evaluator], bool]] = {
    "muted": lambda interpreter: bool(interpreter.muted),
    "forked": lambda interpreter: bool(interpreter.path),
    "guarded": lambda interpreter: any(fork > 0 for fork in interpreter.path),
    "doubted": lambda interpreter: not interpreter.doubtful.isdisjoint(interpreter.path),
    "supposed": lambda interpreter: is_supposed(interpreter.assumed),
    "repeated": lambda interpreter: _is_repeated(interpreter.frames),
}
#: Answers by query.
Circumstances = dict[str, bool]


def ask(interpreter: Evaluator, name: str) -> bool:
    """Return the answer to a query, and record it.

    ``name`` is one of `_ANSWERS`, or describes arrays that may be viewed (see `Evaluator.viewed`).
    """
    EFFECTS.asked.add(name)
    return _answer(interpreter, name)


def is_called_again(interpreter: Evaluator) -> bool:
    """Return whether the running function is certainly called in a loop, in a later pass, and not only
    once by a decorator that keeps its result; and record the query."""
    EFFECTS.asked.add("repeated")
    *outer, frame = [one for one in interpreter.frames if not one.scope.is_comprehension]
    return not frame.is_decorated and _is_repeated(outer)


def loop_around(interpreter: Evaluator) -> LoopState | None:
    """Return the loop that surely runs what runs now in each of its passes, if one is known; and record the
    query."""
    EFFECTS.asked.add("repeated")
    for frame in reversed(interpreter.frames):
        if frame.loops:
            return frame.loops[-1]
        if frame.is_decorated:
            break
    return None


def _is_repeated(frames: Sequence[Frame]) -> bool:
    for frame in reversed(frames):
        if frame.loops and not any(loop.first for loop in frame.loops):
            return True
        if frame.is_decorated:
            break
    return False


def of_run(interpreter: Evaluator) -> Circumstances:
    """Return the queries made in a call, with the answers around it."""
    return {name: _answer(interpreter, name) for name in EFFECTS.asked}


def have_same_answers(interpreter: Evaluator, circumstances: Circumstances) -> bool:
    """Return whether the queries of another call have the same answers here."""
    return all(_answer(interpreter, name) == answer for name, answer in circumstances.items())


def _answer(interpreter: Evaluator, name: str) -> bool:
    answer = _ANSWERS.get(name)
    return name in interpreter.viewed if answer is None else answer(interpreter)
