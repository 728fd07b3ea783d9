"""What the evaluation of one entry gave, so that it can be given again when nothing it met has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardlint.inference.effects import EFFECTS, NOTHING, Lost, born
from shardlint.inference.functions import LookedAt
from shardlint.inference.memory import Note
from shardlint.laws.versions import Release
from shardlint.uses import FileProblem, Use

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class EntryRun:
    """What one evaluation of ``made``, a function or a wrapper, added to an analysis.

    ``ran`` are the codes that ran or were looked at. ``lost`` are the containers that others may read whose
    items are not known any more; ``alone`` tells that it changed nothing else that others may read.
    """

    made: object
    uses: list[Use]
    problems: list[FileProblem]
    notes: list[Note]
    ran: frozenset[Hashable]
    reached: set[Hashable]
    called: set[int]
    turns: set[Release]
    asks_mesh: bool
    lost: tuple[Lost, ...]
    alone: bool

    def depends_on(self, code: Hashable) -> bool:
        """Whether it could be another if this code were."""
        return code in self.ran or LookedAt(code) in self.ran

    def give(self, interpreter: Interpreter) -> None:
        """Add all this to an analysis."""
        i = interpreter
        i.uses += self.uses
        i.problems += self.problems
        i.notes += self.notes
        i.ran |= self.ran
        i.reached |= self.reached
        i.called_wrappers |= self.called
        i.turns |= self.turns
        i.asks_mesh = i.asks_mesh or self.asks_mesh
        for container, _ in self.lost:
            container.items = None


def recorded(interpreter: Interpreter, made: object, evaluate: Callable[[], object]) -> EntryRun:
    """Evaluate an entry, and return what that gave; it is added to the analysis."""
    i = interpreter
    before = (i.uses, i.problems, i.notes, i.ran, i.reached, i.called_wrappers, i.turns, i.asks_mesh)
    switches, devices = frozenset(i.switches), i.device_count
    oldest, EFFECTS.oldest, EFFECTS.entered, EFFECTS.leaks = EFFECTS.oldest, NOTHING, born(), False
    i.uses, i.problems, i.notes, i.ran, i.reached, i.called_wrappers = [], [], [], set(), set(), set()
    i.turns, i.asks_mesh, EFFECTS.lost = set(), False, []
    try:
        evaluate()
    finally:
        run = EntryRun(
            made=made,
            uses=i.uses,
            problems=i.problems,
            notes=i.notes,
            ran=frozenset(i.ran),
            reached=i.reached,
            called=i.called_wrappers,
            turns=i.turns,
            asks_mesh=i.asks_mesh,
            lost=tuple(EFFECTS.lost),
            alone=not EFFECTS.leaks and i.device_count == devices and switches == i.switches,
        )
        i.uses, i.problems, i.notes, i.ran, i.reached, i.called_wrappers, i.turns, i.asks_mesh = before
        EFFECTS.oldest, EFFECTS.entered = min(oldest, EFFECTS.oldest), 0
    run.give(i)
    return run
