"""Programs that stay resident and are evaluated again after an edit, as far as it can have an effect.

After an edit inside a function's body, the results of the top level stay valid unless it calls the function.
Entry points that never ran the function reuse their results. The others are evaluated again, and their calls
that do not lead to the function come from the call cache.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path

from libcst import CSTNode

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.values import ClassValue
from shardlint.inference.evaluation.settings import InferenceSettings, Noticed
from shardlint.inference.interpreter.call_dispatch import name_same_variables
from shardlint.inference.machine.code import LookedAt, generators_in, texts_of
from shardlint.inference.overlays.registry import load_mentioned
from shardlint.inference.programs.program import Program, while_evaluating
from shardlint.inference.programs.reachability import reach_same
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.summaries.receiver_summary import (
    changed_texts,
    have_equal_writes,
    outdate,
    sets_of_self,
)
from shardlint.inference.syntax.diff import differ_in_comments_only, edit_between
from shardlint.inference.syntax.file_parts import FunctionPart, units_of
from shardlint.inference.syntax.typos import ReadText
from shardlint.laws.versions.era import assuming
from shardlint.model.uses import FileProblem, Use
from shardlint.source.comments.facts import read_notes
from shardlint.source.sources import Cell, Source
from shardlint.support.frame_memory import roomy

#: Evaluations after which a program is created anew, to free the memory that old ones hold.
_MOST = 500
#: The attributes of an interpreter that entry points change.
_CHANGED = (
    "asks_mesh", "assumed", "called_wrappers", "context", "defined", "handed", "notes", "problems",
    "questions", "ran", "reached", "replaced", "switches", "turns", "uses", "viewed",
    "views", "wrappers",
)  # fmt: skip


class Outdated(Exception):
    """Raised where a program would have to be made anew, and its modules with it."""


class Resumable:
    """A resident program. ``stands`` is whether it can still be used after an exception."""

    @roomy
    def __init__(self, source: Source, settings: InferenceSettings) -> None:
        self._settings = settings
        self.stands = False
        self._begin(source)

    def keep_apart(self) -> None:
        """Share no more modules with other programs: those that it has imported have changed since."""
        self._program.project.shares = False

    def module_text(self, path: str) -> str | None:
        """Return the text with which a module ran."""
        run = self._program.project.modules.get(Path(path))
        whole = run is not None and len(run.source.cells) == 1 and not run.source.problems
        return run.source.cells[0].text if run is not None and whole else None

    def _begin(self, source: Source) -> None:
        self.stands = False
        self._source, self._program, self._times = source, Program(source, self._settings), 0
        interpreter = self._program.interpreter
        interpreter.settle()
        self._before = {name: copy(getattr(interpreter, name)) for name in _CHANGED}
        self._names = copy(self._program.names)
        self.stands = True
        sound = not source.problems and not self._program.problems and self._program.main.complete
        self._whole = sound and not any(map(_has_notes, source.cells))

    @roomy
    def uses(self, source: Source, noticed: Noticed) -> list[Use | FileProblem]:
        """Return the uses and problems of a source's present text.

        What it asks for in its imports must be unchanged. Raises Outdated, if it is kept apart.
        """
        self._program.enter()
        with while_evaluating(), assuming(self._program.interpreter):
            if source != self._source and not self._resume(source):
                self._begin_again(source)
            found = self._evaluated(noticed)
            entries = self._program.entries
            undone = entries.may_stay or entries.reused_all
            if self._times > 1 and not (entries.is_consistent and undone):
                self._begin_again(source)
                found = self._evaluated(noticed)
        return [*source.problems, *found]

    def _begin_again(self, source: Source) -> None:
        if not self._program.project.shares:
            raise Outdated
        self._begin(source)

    def _evaluated(self, noticed: Noticed) -> list[Use | FileProblem]:
        for name, value in self._before.items():
            setattr(self._program.interpreter, name, copy(value))
        self._program.names = copy(self._names)
        self._times += 1
        self.stands = False
        try:
            return self._program.uses(noticed)
        finally:
            # An entry point that was broken off may have changed shared state.
            self.stands = not EFFECTS.leaks
            # The next evaluation begins from the same state.
            self._program.entries.undo()

    def _resume(self, source: Source) -> bool:
        """Apply an edit; return False if the program must be created anew."""
        number = self._edited_cell(source)
        if number is None or self._times > _MOST:
            return False
        if load_mentioned(source.cells[number].text):
            # Code known to reach no use may reach one now.
            return False
        cell, parts = self._source.cells[number], self._program.main.parts
        own = [part for part in parts if next(units_of([part])).cell == cell.index]
        errors = self._program.main.errors
        sound = cell.index not in errors
        edit = edit_between(source.path, cell.index, own, sound, cell.text, source.cells[number].text)
        if edit is None:
            return False
        changed = [one for one in edit.functions if not _has_same_text(*one)]
        rewritten = [one for one in edit.functions if not have_equal_writes(one[0].whole.text, one[1].text)]
        if (changed or rewritten) and not self._program.entries.may_stay:
            return False
        if not all(self._may_take(*one) for one in rewritten) or not all(self._take(*one) for one in changed):
            return False
        for part, read in edit.functions:
            # The other functions differ in comments only, on which nothing depends.
            part.whole.replace_text(read)
        for unit, line in zip(units_of(own), edit.lines, strict=True):
            unit.move_to(line)
        self._source = self._program.main.source = source
        if rewritten:
            self._program.entries.changed(changed_texts(self._program.interpreter), reaches_alike=True)
        errors.pop(cell.index, None)
        if edit.errors:
            errors[cell.index] = edit.errors
        return True

    def _edited_cell(self, source: Source) -> int | None:
        """Return the number of the only cell that was edited; None if there are other changes."""
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

    def _may_take(self, part: FunctionPart, read: ReadText) -> bool:
        """Return whether only entry points depend on the writes to objects in a function's text."""
        known = self._before["defined"].get(id(part.whole))
        if known is None:
            return False
        # The attributes that a derived class sets were recorded when it was defined.
        owner = known[0].owner
        derived = owner is not None and any(isinstance(base, ClassValue) for base in lineage(owner)[1:])
        return not derived or sets_of_self(part.whole.text) == sets_of_self(read.text)

    def _take(self, part: FunctionPart, read: ReadText) -> bool:
        """Replace a function's body; return False if more than entry points depends on the difference."""
        before, unit, text = part.whole.text, part.whole, read.text
        if id(unit) not in self._before["defined"]:
            return False
        yields = "yield" in before or "yield" in text
        generators = generators_in(unit) if yields else {}
        function, code = self._before["defined"][id(unit)][0], self._program.interpreter.code
        may_change = code.may_change(function)
        others = unit.rewrite(*read)
        if may_change is not None and code.may_change(function) != may_change:
            return False
        # A caller of a generator that takes no items does not record that it ran.
        if yields and not _agree(generators, generators_in(unit)):
            return False
        matters = others | texts_of(id(unit))
        if not (matters.isdisjoint(self._before["ran"]) and others.isdisjoint(self._before["reached"])):
            return False
        scope = function.scope
        if name_same_variables(scope, before, text):
            matters -= {LookedAt(id(unit), names=True)}
        self._program.interpreter.forget(matters)
        outdate(self._program.interpreter, matters)
        self._program.entries.changed(matters, reach_same(self._settings, before, text))
        return True


def _agree(generators: dict[CSTNode, bool], others: dict[CSTNode, bool]) -> bool:
    """Return whether existing functions are still generators, or still none."""
    return bool(generators and others) and all(
        others[one] == yields for one, yields in generators.items() if one in others
    )


def _has_same_text(part: FunctionPart, read: ReadText) -> bool:
    return differ_in_comments_only(part.whole.text, read.text, part.whole.indented)


def _has_notes(cell: Cell) -> bool:
    return bool(read_notes(cell.text))
