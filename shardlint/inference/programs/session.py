"""Programs that stay, and are evaluated again after an edit: only what the edit can have changed.

An edit inside a function's body leaves the top level as it ran, unless that calls the function. The entries
that never met the function give what they gave before; the others are evaluated, and calls in them that do
not lead to the function are answered from the memory of calls.
"""

from __future__ import annotations

from copy import copy

from libcst import CSTNode

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.values import ClassValue
from shardlint.inference.evaluation.settings import InferenceSettings, Noticed
from shardlint.inference.interpreter.call_dispatch import name_alike
from shardlint.inference.machine.code import LookedAt, generators_in, texts_of
from shardlint.inference.overlays.registry import load_mentioned
from shardlint.inference.programs.program import Program, while_evaluating
from shardlint.inference.programs.reachability import reach_alike
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.summaries.receiver_summary import outdate, said_otherwise, says_alike, sets_of_self
from shardlint.inference.syntax.diff import edit_between, says_the_same
from shardlint.inference.syntax.file_parts import FunctionPart, units_of
from shardlint.inference.syntax.typos import Meant
from shardlint.model.uses import FileProblem, Use
from shardlint.source.comments.facts import read_notes
from shardlint.source.sources import Cell, Source
from shardlint.support.frame_memory import roomy

#: Evaluations after which a program is made anew: what the old ones leave behind takes room.
_MOST = 500
#: What entries change of an interpreter, by its names there.
_CHANGED = (
    "asks_mesh", "assumed", "called_wrappers", "context", "defined", "handed", "notes", "problems", "ran",
    "reached", "replaced", "switches", "turns", "uses", "wrappers",
)  # fmt: skip


class Resumable:
    """A program that stays. ``stands`` tells whether it can be used after an exception."""

    @roomy
    def __init__(self, source: Source, settings: InferenceSettings) -> None:
        self._settings = settings
        self.stands = False
        self._begin(source)

    def _begin(self, source: Source) -> None:
        self.stands = False
        self._source, self._program, self._times = source, Program(source, self._settings), 0
        interpreter = self._program.interpreter
        interpreter.settle()
        self._before = {name: copy(getattr(interpreter, name)) for name in _CHANGED}
        self._names, self._epoch = copy(self._program.names), EFFECTS.epoch
        self.stands = True
        sound = not source.problems and not self._program.problems and self._program.main.complete
        self._whole = sound and not any(map(_has_notes, source.cells))

    @roomy
    def uses(self, source: Source, noticed: Noticed) -> list[Use | FileProblem]:
        """What a source holds now; what it imports must be as it was."""
        with while_evaluating():
            if source != self._source and not self._resume(source):
                self._begin(source)
            found = self._evaluated(noticed)
            entries = self._program.entries
            undone = entries.may_stay or entries.gave_all_again
            if self._times > 1 and not (entries.is_consistent and undone):
                self._begin(source)
                found = self._evaluated(noticed)
        return [*source.problems, *found]

    def _evaluated(self, noticed: Noticed) -> list[Use | FileProblem]:
        for name, value in self._before.items():
            setattr(self._program.interpreter, name, copy(value))
        self._program.names, EFFECTS.epoch = copy(self._names), self._epoch
        self._times += 1
        self.stands = False
        try:
            return self._program.uses(noticed)
        finally:
            # An entry that was broken off may have changed what others read.
            self.stands = not EFFECTS.leaks
            # The next time entries find what they found now.
            self._program.entries.undo()

    def _resume(self, source: Source) -> bool:
        """Take over an edit; False if the program must be made anew."""
        number = self._edited_cell(source)
        if number is None or self._times > _MOST:
            return False
        if load_mentioned(source.cells[number].text):
            # What was known to reach no use may now.
            return False
        cell, parts = self._source.cells[number], self._program.main.parts
        own = [part for part in parts if next(units_of([part])).cell == cell.index]
        errors = self._program.main.errors
        sound = cell.index not in errors
        edit = edit_between(source.path, cell.index, own, sound, cell.text, source.cells[number].text)
        if edit is None:
            return False
        changed = [one for one in edit.functions if not _says_the_same(*one)]
        spoken = [one for one in edit.functions if not says_alike(one[0].whole.text, one[1].text)]
        if (changed or spoken) and not self._program.entries.may_stay:
            return False
        if not all(self._may_say(*one) for one in spoken) or not all(self._take(*one) for one in changed):
            return False
        for part, meant in edit.functions:
            # Others have other comments, which nothing depends on.
            part.whole.say(meant)
        for unit, line in zip(units_of(own), edit.lines, strict=True):
            unit.stand_at(line)
        self._source = self._program.main.source = source
        if spoken:
            self._program.entries.changed(said_otherwise(self._program.interpreter), reaches_alike=True)
        errors.pop(cell.index, None)
        if edit.errors:
            errors[cell.index] = edit.errors
        return True

    def _edited_cell(self, source: Source) -> int | None:
        """The one cell that is another, where that is all."""
        old = self._source
        if not self._whole or source.problems or len(source.cells) != len(old.cells):
            return None
        if (source.path, source.devices) != (old.path, old.devices):
            return None
        pairs = enumerate(zip(old.cells, source.cells, strict=True))
        changed = [number for number, (before, after) in pairs if before != after]
        if len(changed) != 1 or old.cells[changed[0]].index != source.cells[changed[0]].index:
            return None
        return None if _has_notes(source.cells[changed[0]]) else changed[0]

    def _may_say(self, part: FunctionPart, meant: Meant) -> bool:
        """Whether no more than entries depends on what the text of a function says of objects."""
        known = self._before["defined"].get(id(part.whole))
        if known is None:
            return False
        # What a derived class sets was noted where that was defined.
        owner = known[0].owner
        derived = owner is not None and any(isinstance(base, ClassValue) for base in lineage(owner)[1:])
        return not derived or sets_of_self(part.whole.text) == sets_of_self(meant.text)

    def _take(self, part: FunctionPart, meant: Meant) -> bool:
        """Let a function have another body; False if more than entries depends on what is another in it."""
        before, unit, text = part.whole.text, part.whole, meant.text
        if id(unit) not in self._before["defined"]:
            return False
        yields = "yield" in before or "yield" in text
        generators = generators_in(unit) if yields else {}
        others = unit.rewrite(*meant)
        # Who calls a generator, and takes no items, does not tell that it ran.
        if yields and not _agree(generators, generators_in(unit)):
            return False
        matters = others | texts_of(id(unit))
        if not (matters.isdisjoint(self._before["ran"]) and others.isdisjoint(self._before["reached"])):
            return False
        scope = self._before["defined"][id(unit)][0].scope
        if name_alike(scope, before, text):
            matters -= {LookedAt(id(unit), names=True)}
        self._program.interpreter.forget(matters)
        outdate(self._program.interpreter, matters)
        self._program.entries.changed(matters, reach_alike(self._settings, before, text))
        return True


def _agree(generators: dict[CSTNode, bool], others: dict[CSTNode, bool]) -> bool:
    """Whether functions that were there before are still generators, or are still none."""
    return bool(generators and others) and all(
        others[one] == yields for one, yields in generators.items() if one in others
    )


def _says_the_same(part: FunctionPart, meant: Meant) -> bool:
    return says_the_same(part.whole.text, meant.text, part.whole.indented)


def _has_notes(cell: Cell) -> bool:
    return bool(read_notes(cell.text))
