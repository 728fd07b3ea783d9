"""Analysis of files: running their modules, then every function that nothing reached."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import libcst as cst

from shardlint.files.sources import Source
from shardlint.inference.classes import entry_instance
from shardlint.inference.context import Context, Frame
from shardlint.inference.definitions import define_class, define_function
from shardlint.inference.functions import Code, parameters
from shardlint.inference.interpreter import Exhausted, Interpreter, unknown_argument
from shardlint.inference.project import ModuleRun, Project
from shardlint.inference.settings import InferenceSettings
from shardlint.inference.statements import execute
from shardlint.inference.syntax import BrokenText, ClassPart, FunctionPart, Parsed, Part, split
from shardlint.inference.values import Function, MeshValue, Native, Value
from shardlint.laws.values import Unknown
from shardlint.spans import Span
from shardlint.uses import FileProblem, Use

_RECURSION_LIMIT = 20_000


def analyze(sources: Sequence[Source], settings: InferenceSettings) -> list[Use | FileProblem]:
    """Evaluate files and return the uses of sharding in them, and what was wrong with the files.

    A file's uses do not depend on the other files of the sequence.
    """
    found: list[Use | FileProblem] = []
    with _deep_recursion():
        for source in sources:
            found.extend(source.problems)
            found.extend(analyze_source(source, settings))
    return found


def analyze_source(source: Source, settings: InferenceSettings) -> list[Use | FileProblem]:
    """Evaluate one file as a program: its top level, then the functions it never reaches."""
    project = Project(settings.roots)
    interpreter = Interpreter(settings, project)
    if source.devices is not None:
        interpreter.device_count = source.devices
    run = ModuleRun("__main__", source)
    project.modules[Path(source.path)] = run
    problems = run_module(interpreter, run)
    run_entries(interpreter, run)
    return [*problems, *interpreter.uses]


def run_module(interpreter: Interpreter, run: ModuleRun) -> list[FileProblem]:
    """Execute a module's top level, cell by cell."""
    problems: list[FileProblem] = []
    interpreter.project.running.append(run)
    try:
        for cell in run.source.cells:
            parsed = split(run.source.path, cell.index, cell.text)
            problems += [_problem(run.source.path, cell.index, error) for error in parsed.errors]
            _run_cell(interpreter, run, parsed, cell.index)
    finally:
        interpreter.project.running.pop()
    run.done = True
    return problems


def _run_cell(interpreter: Interpreter, run: ModuleRun, parsed: Parsed, cell: int | None) -> None:
    """Execute one cell. Where control cannot go on (`sys.exit`, `raise`), a notebook's next cell still runs."""
    for name in parsed.rebound:
        run.scope.variables[name] = Unknown("bound by text that cannot be read")
    interpreter.steps = 0
    for part in parsed.parts:
        if not _guarded(interpreter, lambda part=part: _run_part(interpreter, run, part)):  # type: ignore[misc]
            break


def _run_part(interpreter: Interpreter, run: ModuleRun, part: Part) -> bool:
    """Execute one part of a module or class body; return whether control may go on."""
    if isinstance(part, FunctionPart):
        _in_frame(interpreter, run, part.header, lambda: define_function(interpreter, Code.of_part(part), part.plain))
    elif isinstance(part, ClassPart):
        _in_frame(interpreter, run, part.header, lambda: _run_class(interpreter, run, part))
    else:
        results: list[bool] = []
        _in_frame(
            interpreter,
            run,
            part.unit,
            lambda: results.append(all(execute(interpreter, node) for node in part.unit.body)),
        )
        return results[0]
    return True


def _in_frame(interpreter: Interpreter, run: ModuleRun, unit: object, action: Callable[[], None]) -> None:
    """Run an action in the innermost frame of this module, making one when there is none."""
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


def _run_class(interpreter: Interpreter, run: ModuleRun, part: ClassPart) -> None:
    node = part.header.body[0]
    assert isinstance(node, cst.ClassDef)
    define_class(
        interpreter, node, part.header, lambda: all(_run_part(interpreter, run, inner) for inner in part.body)
    )


def _guarded(interpreter: Interpreter, action: Callable[[], bool]) -> bool:
    """Run an action; text that cannot be read after all, or no budget left, ends just that action."""
    frames = len(interpreter.frames)
    try:
        return action()
    except (Exhausted, BrokenText, RecursionError):
        del interpreter.frames[frames:]
        interpreter.steps = 0
        interpreter.path, interpreter.muted, interpreter.variants = (), 0, (0, 1)
        return True


def run_entries(interpreter: Interpreter, run: ModuleRun) -> None:
    """Evaluate what nothing called: wrappers (`jit(f)`) first, then functions, with unknown arguments."""
    done: set[object] = set()
    while True:
        wrapper = next(((k, v) for k, v in interpreter.wrappers.items() if k not in done), None)
        if wrapper is not None:
            key, (native, context) = wrapper
            done.add(key)
            interpreter.wrappers.pop(key)
            _run_entry(interpreter, run, context, lambda native=native: _call_wrapper(interpreter, native))  # type: ignore[misc]
            continue
        waiting = next(
            (k for k in interpreter.defined if k not in done and k not in interpreter.reached), None
        )
        if waiting is None:
            return
        done.add(waiting)
        function, context = interpreter.defined[waiting]
        _run_entry(interpreter, run, context, lambda function=function: _call_unknown(interpreter, function))  # type: ignore[misc]


def _run_entry(interpreter: Interpreter, run: ModuleRun, context: Context, action: Callable[[], object]) -> None:
    interpreter.steps = 0
    known = context.mesh if isinstance(context.mesh, MeshValue) else None
    given = interpreter.settings.mesh
    mesh: MeshValue | Unknown = known or (
        MeshValue(given) if given is not None else Unknown("the caller may have set a mesh")
    )
    interpreter.context = Context(
        mesh=mesh, legacy_mesh=Unknown("the caller's"), in_jit=None, bound_axes=Unknown("the caller's")
    )
    interpreter.frames.append(Frame(run.scope, None))
    try:
        _guarded(interpreter, lambda: bool(action()) or True)
    finally:
        interpreter.frames.clear()
        interpreter.context = Context()


def _call_wrapper(interpreter: Interpreter, native: Native) -> Value:
    wrapped = native.wraps
    place = native.origin or Span("", 1, 1, 1, 1)
    args: list[Value] = []
    if isinstance(wrapped, Function):
        args = list(unknown_arguments(interpreter, wrapped).values())
    return interpreter.call(native, args, {}, place)


def _call_unknown(interpreter: Interpreter, function: Function) -> Value:
    from shardlint.inference.functions import run_function

    interpreter.reached.add(function.code.key)
    bound = unknown_arguments(interpreter, function, starred=True)
    return run_function(interpreter, function, bound)


def unknown_arguments(interpreter: Interpreter, function: Function, starred: bool = False) -> dict[str, Value]:
    """Arguments of a caller that is not known; ``self`` is an instance of the method's class."""
    params = parameters(function.code)
    names = [p.name.value for p in (*params.posonly_params, *params.params)]
    bound: dict[str, Value] = {name: unknown_argument(name) for name in names}
    if function.owner is not None and names:
        bound[names[0]] = entry_instance(interpreter, function.owner)
    if starred:
        bound |= {p.name.value: unknown_argument(p.name.value) for p in params.kwonly_params}
        if isinstance(params.star_arg, cst.Param):
            bound[params.star_arg.name.value] = Unknown("starred arguments")
        if params.star_kwarg is not None:
            bound[params.star_kwarg.name.value] = Unknown("starred arguments")
    return bound


def _problem(path: str, cell: int | None, error: BrokenText) -> FileProblem:
    place = Span(path, error.line, error.column, error.line, error.column, cell)
    return FileProblem("syntax", error.message, place)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Allow the recursion that nested expressions need; CPython 3.11 keeps it off the C stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


