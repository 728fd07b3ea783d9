"""How code was reached, besides its arguments: what little depends on that asks here, so that it is noted.

A run of a function is the same on whatever path it runs, recorded or not, unless something in it asked.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.lattice import is_supposed
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.store.effect_log import EFFECTS

#: Whether uses are not recorded, whether a test that is not decided led here, and whether it is one of the
#: program; whether one did that may never come out so (see `choices`); whether it is not known of any of
#: several values that it is met.
_ANSWERS: dict[str, Callable[[Evaluator], bool]] = {
    "muted": lambda interpreter: bool(interpreter.muted),
    "forked": lambda interpreter: bool(interpreter.path),
    "guarded": lambda interpreter: any(fork > 0 for fork in interpreter.path),
    "doubted": lambda interpreter: not interpreter.doubtful.isdisjoint(interpreter.path),
    "supposed": lambda interpreter: is_supposed(interpreter.assumed),
}
#: Answers, by what was asked.
Circumstances = dict[str, bool]


def ask(interpreter: Evaluator, name: str) -> bool:
    """How what runs was reached: `_ANSWERS`."""
    EFFECTS.asked.add(name)
    return _ANSWERS[name](interpreter)


def of_run(interpreter: Evaluator) -> Circumstances:
    """All that was asked in a run, as it is around it."""
    return {name: _ANSWERS[name](interpreter) for name in EFFECTS.asked}


def hold(interpreter: Evaluator, circumstances: Circumstances) -> bool:
    """Whether what was asked in another run is so here."""
    return all(_ANSWERS[name](interpreter) == answer for name, answer in circumstances.items())
