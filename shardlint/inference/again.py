"""What the evaluation of one entry gave, so that it can be given again when nothing it met has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardlint.inference.effects import EFFECTS, NOTHING, Lost, born
from shardlint.inference.functions import LookedAt
from shardlint.inference.met import Met

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class EntryRun:
    """What one evaluation of ``made``, a function or a wrapper, met.

    ``replaced`` are the members of classes that classes made in it define anew. ``lost`` are the containers
    that others may read whose items are not known any more, ``shared`` those of them that are no entry's;
    ``alone`` tells that it changed nothing else that others may read, ``apart`` that it did not change what
    entries may read that stand in the same function, either.
    """

    made: object
    met: Met
    replaced: dict[int, frozenset[str]]
    lost: tuple[Lost, ...]
    shared: frozenset[int]
    alone: bool
    apart: bool

    def depends_on(self, code: Hashable) -> bool:
        """Whether it could be another if this code were."""
        return code in self.met.ran or LookedAt(code) in self.met.ran

    @property
    def containers(self) -> set[int]:
        """The identities of those whose items it lost."""
        return {id(container) for container, _ in self.lost}

    def give(self, interpreter: Interpreter) -> None:
        """Add all this to an analysis."""
        interpreter.uses += self.met.uses
        interpreter.notes += self.met.notes
        self.met.tell(interpreter)
        for number, names in self.replaced.items():
            interpreter.replaced[number] = interpreter.replaced.get(number, frozenset()) | names
        for container, _ in self.lost:
            container.items = None


def recorded(interpreter: Interpreter, made: object, evaluate: Callable[[], object], first: int) -> EntryRun:
    """Evaluate an entry, and return what that gave; it is not added to the analysis yet.

    What has a number less than ``first`` was there before any entry.
    """
    i = interpreter
    switches, devices, replaced = frozenset(i.switches), i.device_count, dict(i.replaced)
    oldest, EFFECTS.oldest, EFFECTS.entered, EFFECTS.first = EFFECTS.oldest, NOTHING, born(), first
    EFFECTS.leaks, EFFECTS.leaks_inside, EFFECTS.lost = False, False, []
    before = Met().swap(i)
    try:
        evaluate()
    finally:
        met = before.swap(i)
        alone = not EFFECTS.leaks and i.device_count == devices and switches == i.switches
        lost = tuple(EFFECTS.lost)
        EFFECTS.oldest, EFFECTS.entered, EFFECTS.first = min(oldest, EFFECTS.oldest), 0, 0
    more = {number: names for number, names in i.replaced.items() if names != replaced.get(number)}
    shared = frozenset(id(container) for container, _ in lost if container.born < first)
    return EntryRun(made, met, more, lost, shared, alone, not EFFECTS.leaks_inside)
