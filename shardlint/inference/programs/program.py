"""Analysis of files: running their modules, then every function that nothing reached."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import libcst as cst

from shardlint.inference.domain import name_links
from shardlint.inference.evaluation.budget import MAX_FILE_STEPS, Ceiling
from shardlint.inference.evaluation.context import Frame
from shardlint.inference.evaluation.monkeypatches import is_set
from shardlint.inference.evaluation.settings import InferenceSettings, Noticed
from shardlint.inference.facts.comment_facts import take_notes, unanswered
from shardlint.inference.interpreter.definitions import define_class, define_function
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.interpreter.statements import Statement, execute
from shardlint.inference.machine.code import Code
from shardlint.inference.machine.machine import Machine
from shardlint.inference.machine.module_run import ModuleRun
from shardlint.inference.overlays.command_lines.defaults import ASKED
from shardlint.inference.overlays.registry import load_mentioned
from shardlint.inference.programs.entry_points import Entries, guarded
from shardlint.inference.programs.environment_reads import noting_environment
from shardlint.inference.programs.module_loader import Project, drop_touched
from shardlint.inference.programs.name_references import references_in
from shardlint.inference.programs.testing.conftests import run_conftests
from shardlint.inference.programs.testing.runner import Tests
from shardlint.inference.recording.axis_mentions import with_mentions
from shardlint.inference.recording.place_resolution import Settling
from shardlint.inference.recording.unread_variables import without_read
from shardlint.inference.store.effect_log import EFFECTS, drop_related
from shardlint.inference.syntax.file_parts import ClassPart, FunctionPart, Parsed, Part, split, units_of
from shardlint.inference.syntax.node_offsets import RECURSION_LIMIT
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions.era import assuming
from shardlint.model.spans import Span
from shardlint.model.uses import Environment, FileProblem, NameUse, Use
from shardlint.source.sources import Source
from shardlint.support.cancellation import NOW
from shardlint.support.frame_memory import roomy
from shardlint.support.gc_policy import collecting_seldom


@roomy
def analyze(
    sources: Sequence[Source], settings: InferenceSettings, noticed: Noticed | None = None
) -> list[Use | FileProblem]:
    """Evaluate files and return their uses of sharding and their file problems.

    A file's uses do not depend on the other files of the sequence. Other dependencies are added to
    ``noticed``.
    """
    found: list[Use | FileProblem] = []
    with while_evaluating():
        for source in sources:
            found.extend(source.problems)
            found.extend(analyze_source(source, settings, noticed))
    return found


def analyze_source(
    source: Source, settings: InferenceSettings, noticed: Noticed | None = None
) -> list[Use | FileProblem]:
    """Evaluate one file as a program: its top level, then the functions it never reaches."""
    return Program(source, settings).uses(noticed)


class Program:
    """One file, evaluated as a program."""

    def __init__(self, source: Source, settings: InferenceSettings) -> None:
        self.project = Project(settings.roots, run_module)
        #: The objects that others may be (see `Effects`).
        self._related: dict[int, list[Any]] = {}
        self.enter()
        self.interpreter = Interpreter(settings, self.project)
        weakref.finalize(self, _release, self.interpreter, self.project).atexit = False
        self.main = ModuleRun("__main__", source)
        #: The literals that write the same name, if an editor asks.
        self.names: name_links.Pairs | None = {} if settings.editing else None
        with assuming(self.interpreter), name_links.collecting(self.names):
            conftests = run_conftests(self.interpreter, self.project, source.path)
            if source.devices is not None:
                self.interpreter.device_count = source.devices
            self.problems = run_module(self.interpreter, self.main)
        tests = Tests(self.interpreter, self.main, conftests)
        self.entries = Entries(self.interpreter, self.main, self.project, tests)
        self._settling = Settling()

    def enter(self) -> None:
        """Let the modules that programs share be as this program has changed them."""
        self.project.world.enter()
        drop_touched()
        EFFECTS.related = self._related

    def uses(self, noticed: Noticed | None = None) -> list[Use | FileProblem]:
        """Evaluate the entry points too, and return all uses and problems."""
        with assuming(self.interpreter), name_links.collecting(self.names):
            drop_related(self.entries.first)
            self.entries.evaluate()
        i, source = self.interpreter, self.main.source
        sound = self.main.complete and not self.main.errors
        unreached, asked = references_in(
            source, i.settings.release, i.uses, partial(is_set, i), self.main.parts if sound else ()
        )
        if noticed is not None:
            noticed.turns |= i.turns | asked
            noticed.asks_mesh |= i.asks_mesh
            noticed.asks_defaults |= ASKED in i.switches
            noticed.questions |= i.questions
        modules = (self.main, *self.project.modules.values())
        parts = (module.parts for module in modules)
        found = with_mentions(i.uses, None if any(module.errors for module in modules) else parts)
        names = _equated(source, self.names or {})
        facts = [
            *_syntax_errors(self.main),
            *self.problems,
            *i.problems,
            *unanswered(i, source),
            *_cut_short(i.budget.ceiling),
            *without_read(found, source.path, [cell.text for cell in source.cells]),
            *unreached,
            *names,
        ]
        return self._settling.settled(facts)


def _release(interpreter: Interpreter, project: Project) -> None:
    """Drop what a program that is done with holds: wrappers in shared modules hold their interpreter."""
    project.release()
    interpreter.reset()


def _cut_short(ceiling: Ceiling) -> Iterator[FileProblem]:
    """Report where the evaluation of a file ended for good."""
    if ceiling.where is not None:
        why = "as the check was stopped" if NOW.stop.asked else f"after {MAX_FILE_STEPS:,} steps"
        message = f"evaluation ended here {why}: of what follows nothing is known"
        yield FileProblem("cut-short", message, ceiling.where)


def _equated(source: Source, names: name_links.Pairs) -> list[Use | FileProblem]:
    """Return the literals that write the same name, as uses at the place of the first."""
    start = Span(source.path, 1, 1, 1, 1, source.cells[0].index if source.cells else None)
    return [
        NameUse(place=one or other or start, environment=Environment(), names=(a, b), logical=logical)
        for (one, other), (a, b, logical) in names.items()
    ]


def run_module(interpreter: Machine, run: ModuleRun) -> list[FileProblem]:
    """Execute a module's top level, cell by cell; return the problems of its comments."""
    problems: list[FileProblem] = []
    interpreter.project.running.append(run)
    try:
        for cell in run.source.cells:
            load_mentioned(cell.text)
            parsed = split(run.source.path, cell.index, cell.text)
            run.complete = run.complete and parsed.complete
            if parsed.errors:
                run.errors[cell.index] = parsed.errors
            problems += take_notes(interpreter, run.source.path, cell, parsed.parts)
            _run_cell(interpreter, run, parsed)
    finally:
        interpreter.project.running.pop()
    return problems


def _run_cell(interpreter: Machine, run: ModuleRun, parsed: Parsed) -> None:
    """Execute one cell. After a `raise`, a notebook's next cell still runs."""
    run.parts.extend(parsed.parts)
    for name in parsed.rebound:
        run.scope.variables[name] = Unknown("bound by text that cannot be read")
    for part in parsed.parts:
        interpreter.budget.begin()
        goes_on = guarded(interpreter, lambda part=part: _run_part(interpreter, run, part))  # type: ignore[misc]
        if interpreter.budget.ceiling.reached:
            unit = next(units_of([part]))
            interpreter.budget.ceiling.note(
                Span(unit.path, unit.first_line, 1, unit.first_line, 1, unit.cell)
            )
            break
        if not goes_on:
            break


def _run_part(interpreter: Machine, run: ModuleRun, part: Part) -> bool:
    """Execute one part of a module or class body; return whether control may continue."""
    if isinstance(part, FunctionPart):
        with noting_environment(interpreter, run):
            _in_frame(
                interpreter,
                run,
                part.header,
                lambda: define_function(interpreter, Code.of_part(part), part),
            )
    elif isinstance(part, ClassPart):
        with noting_environment(interpreter, run):
            _in_frame(interpreter, run, part.header, lambda: _run_class(interpreter, run, part))
    else:
        results: list[bool] = []
        _in_frame(
            interpreter,
            run,
            part.unit,
            lambda: results.append(all(_statement(interpreter, run, node) for node in part.unit.body)),
        )
        return results[0]
    return True


def _statement(interpreter: Machine, run: ModuleRun, node: Statement) -> bool:
    interpreter.tick()
    with noting_environment(interpreter, run):
        return execute(interpreter, node)


def _in_frame(interpreter: Machine, run: ModuleRun, unit: object, action: Callable[[], None]) -> None:
    """Run an action in the innermost frame of this module, or in a new one."""
    running = interpreter.frames and interpreter.frames[-1].scope.root is run.scope
    if running and interpreter.frames[-1].scope.is_class:
        with interpreter.in_unit(unit):  # type: ignore[arg-type]
            action()
        return
    interpreter.frames.append(Frame(run.scope, unit))
    try:
        action()
    finally:
        interpreter.frames.pop()


def _run_class(interpreter: Machine, run: ModuleRun, part: ClassPart) -> None:
    node = part.header.body[0]
    assert isinstance(node, cst.ClassDef)
    define_class(
        interpreter, node, part.header, lambda: all(_run_part(interpreter, run, inner) for inner in part.body)
    )


def _syntax_errors(run: ModuleRun) -> Iterator[FileProblem]:
    for cell, errors in run.errors.items():
        for error in errors:
            place = Span(run.source.path, error.line, error.column, error.line, error.column, cell)
            yield FileProblem("syntax", error.message, place)


@contextmanager
def while_evaluating() -> Iterator[None]:
    """Allow the recursion that nested expressions need; CPython 3.11 keeps it off the C stack.

    Collecting garbage during an evaluation costs a seventh of the time and frees little. Under
    `collecting_seldom` it runs between programs, when much was allocated.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        with collecting_seldom():
            yield
    finally:
        sys.setrecursionlimit(before)
