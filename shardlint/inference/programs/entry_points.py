"""Entry points: functions and wrappers that nothing in the program calls, evaluated on their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.unknown_choices import Choice
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    External,
    Function,
    Instance,
    MeshValue,
    ModuleValue,
    Native,
    Value,
)
from shardlint.inference.evaluation.budget import Exhausted
from shardlint.inference.evaluation.context import Context, Frame, assumed_rules
from shardlint.inference.evaluation.deployment_mesh import assumed_mesh
from shardlint.inference.facts.annotations import describe_fields
from shardlint.inference.incremental.early_cutoff import Cutoff
from shardlint.inference.incremental.entry_result import EntryRun, recorded
from shardlint.inference.interpreter.call_dispatch import around_method, call_value, wrapped_function
from shardlint.inference.interpreter.functions import run_function
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.machine.code import parameters
from shardlint.inference.machine.machine import Machine
from shardlint.inference.machine.variable_reads import noting_reads
from shardlint.inference.overlays.command_lines.defaults import ASKED
from shardlint.inference.programs.environment_reads import is_environmental
from shardlint.inference.programs.reachability import Reach
from shardlint.inference.programs.testing.runner import Tests
from shardlint.inference.store.effect_log import EFFECTS, born
from shardlint.inference.summaries.receiver_summary import ConstructorRead, entry_instance
from shardlint.inference.syntax.units import BrokenText, NodePlace
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place, Span
from shardlint.support.gc_policy import collect_meanwhile

if TYPE_CHECKING:
    from shardlint.inference.machine.module_run import ModuleRun
    from shardlint.inference.programs.module_loader import Project


class Entries:
    """Evaluates the entry points with unknown arguments: wrappers (`jit(f)`) first, then functions.

    An entry point may define or wrap more functions, which then are entry points too. ``runs`` caches the
    result of each, to be reused in the next evaluation. ``tests`` are those of the module, which are run as
    tests.
    """

    def __init__(self, interpreter: Interpreter, run: ModuleRun, project: Project, tests: Tests) -> None:
        self._tests = tests
        self._interpreter, self._run, self._project = interpreter, run, project
        self._top = interpreter.context
        self._reach = self._new_reach()
        self.runs: dict[object, EntryRun] = {}
        #: Objects with numbers from here on are those of entry points.
        self.first = born()
        self._given: set[object] = set()
        #: The entry points in order, each with the number of earlier ones that changed shared state.
        self._order: dict[object, tuple[EntryRun, int]] = {}
        #: Entry points yet to come that changed shared state in the last evaluation; and whether one
        #: differed.
        self._left: deque[tuple[object, EntryRun]] = deque()
        self._last, self._differs, self._changing = self._order, False, 0
        #: The entry points that first asked what the constructors of classes set.
        self._askers: dict[ConstructorRead, object] = {}
        self._sound = True
        self._cutoff = Cutoff(interpreter, interpreter.memory)

    def _new_reach(self) -> Reach:
        settings = self._interpreter.settings
        meshed = settings.mesh is not None or isinstance(self._top.mesh, MeshValue)
        return Reach(self._project, settings, meshed)

    def evaluate(self) -> None:
        """Evaluate all entry points that can reach a use."""
        try:
            self._evaluate_all()
        finally:
            EFFECTS.entry = 0
        self._sound = self._sound and self._cutoff.sound
        # For the others that ran edited functions, the results are no longer known to be valid.
        self.runs = {
            k: run for k, run in self.runs.items() if k in self._order or not self._cutoff.concerns(run)
        }
        self._cutoff = Cutoff(self._interpreter, self._interpreter.memory)
        self._interpreter.outdated.clear()

    def _evaluate_all(self) -> None:
        i, exhaustive = self._interpreter, self._interpreter.settings.exhaustive
        done: set[object] = set()
        self._given = set()
        self._left = deque((key, run) for key, (run, _) in self._order.items() if run.matters)
        self._last, self._order, self._changing = self._order, {}, 0
        self._differs, self._sound = False, True
        i.settle()
        if not exhaustive:
            self._reach.learn(function for function, _ in i.defined.values())
        defined = _with_those_to_come(i.defined, lambda key: self._tests.is_hook(i.defined[key][0]))
        inherited = self._tests.inherited()
        i.budget.ceiling.begin()
        # Otherwise the program is evaluated from scratch.
        while not i.budget.ceiling.reached and (not self._last or (self._sound and self._cutoff.sound)):
            collect_meanwhile()
            i.settle()
            native, context = next(iter(i.wrappers.values()), (None, self._top))
            if native is not None:
                i.wrappers.pop(id(native))
                if native.origin not in done and (exhaustive or self._reach.of_wrapper(native)):
                    done.add(native.origin)
                    self._evaluate(native.origin, native, context)
                continue
            key = next((k for k in defined if k not in done and k not in i.reached), None)
            if key is not None:
                function, context = i.defined[key]
            elif (other := next((f for f in inherited if f.code.key not in done), None)) is not None:
                key, function, context = other.code.key, other, self._top
            else:
                return
            done.add(key)
            if exhaustive or self._reaches(function) or _is_case(function, self._run):
                self._evaluate(key, function, context)

    def _reaches(self, function: Function) -> bool:
        """Return whether a function, or what its tests set up, can reach a use."""
        return self._reach.of_function(function) or any(
            map(self._reach.of_value, self._tests.reached(function))
        )

    @property
    def is_consistent(self) -> bool:
        """Return whether each entry point evaluated last saw the state that it sees in a fresh program."""
        return (
            self._sound
            and (self._differs or not self._left)
            and all(run.alone or key in self._given for key, run in self.runs.items())
        )

    @property
    def reused_all(self) -> bool:
        """Return whether all results of the last evaluation came from the cache."""
        return len(self._given) == len(self._order)

    @property
    def may_stay(self) -> bool:
        """Return whether entry points can be evaluated again: all their changes to shared state can be
        undone."""
        return all(run.alone for run in self.runs.values())

    def undo(self) -> None:
        """Restore the state from before any entry point was evaluated."""
        for run, _ in reversed(self._order.values()):
            for change in run.changes:
                change.undo()

    def changed(self, codes: frozenset[Hashable], reaches_alike: bool) -> None:
        """Register edited code: the next evaluation decides which results stay valid."""
        touched = frozenset(change.thing.born for run in self.runs.values() for change in run.changes)
        self._cutoff = Cutoff(
            self._interpreter, self._interpreter.memory, self._cutoff.codes | codes, touched
        )
        if not reaches_alike:
            self._reach = self._new_reach()

    def _evaluate(self, key: object, made: Function | Native, defined: Context) -> None:
        """Evaluate an entry point, or reuse its cached result."""
        i, known = self._interpreter, self.runs.get(key)
        EFFECTS.entry += 1
        left_open = _left_open(i, made)
        # If an entry point defined it again, it may see other variables than before.
        same = (
            known is not None
            and known.made is made
            and known.left_open == left_open
            and self._last.get(key) == (known, self._changing)
        )
        if known is not None and same and not self._differs and self._cutoff.is_valid(known):
            self._given.add(key)
            self._add_result(key, known)
            return
        context = _unknown_context(i, defined)
        if isinstance(made, Native):
            action = _wrapper_call(i, made)
        elif self._tests.of(made):
            action, context = partial(self._tests.run, made), self._top
        else:
            action = _function_call(i, made)
            context = self._top if _is_case(made, self._run) else context
        modules = len(i.project.modules)
        with _as_when_called(made, left_open):
            run = recorded(i, made, lambda: _run_entry(i, self._run, context, action), self.first)
        run.left_open = left_open
        if i.budget.ceiling.reached:
            i.budget.ceiling.note(_place_of(made, self._run))
        if len(i.project.modules) == modules:
            if isinstance(made, Function) and self._tests.of(made):
                run.isolate()
        else:
            # The contents of a module that an entry point imports are shared by all.
            self.first = born()
        self._note_asker(key, run)
        self._add_result(key, run)

    def _add_result(self, key: object, run: EntryRun) -> None:
        """Add an entry point's result, and compare its effects on shared state with the last ones."""
        before = self._left.popleft()[1] if self._left and self._left[0][0] == key else None
        alike = before.leaves_equal_state(run) if before is not None else not run.matters
        if before is not None and alike:
            run = run.with_changes_of(before)
        self.runs[key], self._order[key] = run, (run, self._changing)
        self._changing += run.matters
        run.apply_to(self._interpreter)
        if self._last and not alike:
            self._differs = True
            # Reads of classes and wrappers are not recorded.
            self._sound = self._sound and not run.epochs and (before is None or not before.epochs)
            self._forget_constructor_reads()

    def _note_asker(self, key: object, run: EntryRun) -> None:
        """Record which constructor attributes an entry point was the first to ask for."""
        for code in run.trace.ran_uncached:
            if isinstance(code, ConstructorRead):
                asker = self._askers.setdefault(code, key)
                # Otherwise they were computed after other entry points had changed what the constructor may
                # read.
                self._sound = self._sound and (asker == key or asker in self._order or not self._left)

    def _forget_constructor_reads(self) -> None:
        """Drop what constructors set, for the entry points to come: they may find something else now."""
        i = self._interpreter
        for cls in list(i.constructed):
            if self._askers.get(ConstructorRead(cls.born)) not in self._order:
                del i.constructed[cls]
                self._askers.pop(ConstructorRead(cls.born), None)


def _place_of(made: Function | Native, run: ModuleRun) -> Place:
    """Return the place at which an entry point is written."""
    if isinstance(made, Function):
        return NodePlace(made.code.unit, made.code.node)
    return made.origin or Span(run.source.path, 1, 1, 1, 1)


def _with_those_to_come(keys: Collection[Hashable], waits: Callable[[Hashable], bool]) -> Iterator[Hashable]:
    """Yield all keys once each, including those that are appended meanwhile; those that wait come last."""
    seen, late = 0, deque[Hashable]()
    while seen < len(keys) or late:
        if seen == len(keys):
            yield late.popleft()
        for key in tuple(islice(keys, seen, None)):
            seen += 1
            if waits(key):
                late.append(key)
            else:
                yield key


def _left_open(interpreter: Interpreter, made: Function | Native) -> frozenset[str]:
    """Return the module variables rebound after code that is not followed could call one of its functions."""
    function = wrapped_function(made)
    since = None if function is None else interpreter.handed.get(function.code.key)
    if function is None or since is None:
        return frozenset()
    return frozenset(name for name, when in function.scope.root.rebound.items() if when > since)


@contextmanager
def _as_when_called(made: Function | Native, left_open: frozenset[str]) -> Iterator[None]:
    """Treat these variables of an entry point's module as open meanwhile."""
    function = wrapped_function(made)
    if function is None or not left_open:
        yield
        return
    scope = function.scope.root
    scope.left_open = left_open
    try:
        yield
    finally:
        scope.left_open = frozenset()


def guarded(interpreter: Machine, action: Callable[[], bool]) -> bool:
    """Run an action and return its result; unreadable text or an exhausted budget ends only this action."""
    frames = len(interpreter.frames)
    outer = interpreter.path, interpreter.muted, interpreter.variants, interpreter.picked
    try:
        return action()
    except (Exhausted, BrokenText, RecursionError):
        for frame in interpreter.frames[frames:]:
            if frame.scope.parent is None:
                # The variables that the remaining statements would have set are unknown.
                for name, value in frame.scope.variables.items():
                    if not isinstance(value, External | ModuleValue | Function | ClassValue):
                        frame.scope.variables[name] = Unknown(f"`{name}` may be set by code that is too long")
        del interpreter.frames[frames:]
        interpreter.path, interpreter.muted, interpreter.variants, interpreter.picked = outer
        return True


def _is_case(function: Function, run: ModuleRun) -> bool:
    """Return whether this is a fixture's ``case_*`` function, which runs by itself after the top level."""
    params = parameters(function.code)
    takes_nothing = not (params.params or params.posonly_params or params.kwonly_params)
    return takes_nothing and function.name.startswith("case_") and function.scope is run.scope


def _unknown_context(interpreter: Interpreter, defined: Context) -> Context:
    """Return the context of an unknown caller; a mesh that was set globally at the definition stays."""
    mesh: MeshValue | Unknown | None = defined.mesh
    if not isinstance(mesh, MeshValue):
        mesh = assumed_mesh(interpreter) or Unknown("the caller may have set a mesh")
    unknown = Unknown("the caller's")
    return Context(
        mesh=mesh,
        legacy_mesh=unknown,
        in_jit=None,
        staged=None,
        bound_axes=unknown,
        program=False,
        logical_rules=assumed_rules(interpreter.settings, unknown),
        replaced=defined.replaced,
    )


def _run_entry(
    interpreter: Interpreter, run: ModuleRun, context: Context, action: Callable[[], object]
) -> None:
    interpreter.budget.begin(caller_unknown=True)
    interpreter.context = context
    interpreter.frames.append(Frame(run.scope, None))

    def act() -> bool:
        action()
        return True

    try:
        with noting_reads(interpreter) as reads:
            guarded(interpreter, act)
    finally:
        interpreter.frames.clear()
        interpreter.context = Context()
    if is_environmental(reads):
        interpreter.switches.add(ASKED)


def _wrapper_call(interpreter: Interpreter, native: Native) -> Callable[[], object]:
    """Return a call of a wrapper with an unknown argument for each required parameter."""
    wrapped = native.wraps
    place = native.origin or Span("", 1, 1, 1, 1)

    def run() -> Value:
        args: list[Value] = []
        open_ended = not isinstance(wrapped, Function)
        if isinstance(wrapped, Function):
            args = list(unknown_arguments(interpreter, wrapped, starred=False).values())
            params = parameters(wrapped.code)
            starred = isinstance(params.star_arg, cst.Param) or params.star_kwarg is not None
            open_ended = bool(wrapped.defaults) or starred
        return call_value(interpreter, native, args, {}, place, opaque=open_ended)

    return run


def _function_call(interpreter: Interpreter, function: Function) -> Callable[[], object]:
    def run() -> None:
        interpreter.reached.add(function.code.key)
        bound = unknown_arguments(interpreter, function, starred=True)
        if function.owner is None or not bound:
            run_function(interpreter, function, bound)
            return
        method = Bound(function, next(iter(bound.values())))
        with around_method(interpreter, method, NodePlace(function.code.unit, function.code.node)):
            run_function(interpreter, function, bound)

    return run


def _construct(interpreter: Interpreter, constructor: Function, instance: Instance) -> None:
    """Run a constructor with unknown arguments; its trace is recorded where it is an entry point itself."""
    reached, called = set(interpreter.reached), set(interpreter.called_wrappers)
    bound = unknown_arguments(interpreter, constructor, starred=True)
    bound[next(iter(bound))] = instance

    def run() -> bool:
        run_function(interpreter, constructor, bound)
        return True

    with interpreter.silent():
        guarded(interpreter, run)
    interpreter.budget.begin(caller_unknown=True)
    interpreter.reached, interpreter.called_wrappers = reached, called


def _unknown_argument(name: str) -> Unknown:
    """Return the value of a parameter whose caller is unknown."""
    return Choice(f"`{name}` is decided by the caller")


def unknown_arguments(interpreter: Interpreter, function: Function, starred: bool) -> dict[str, Value]:
    """Return the arguments of an unknown caller; ``self`` is an instance of the method's class."""
    code = function.code
    params, names, keyword_only = code.parameters
    bound: dict[str, Value] = {name: _unknown_argument(name) for name in names}
    if function.owner is not None and names:
        construct = partial(_construct, interpreter)
        instance = bound[names[0]] = entry_instance(interpreter, function.owner, function, construct)
        describe_fields(interpreter, instance)
    if starred:
        bound |= {name: _unknown_argument(name) for name in keyword_only}
        for param in (params.star_arg, params.star_kwarg):
            if isinstance(param, cst.Param):
                bound[code.parameter_name(param)] = Choice("starred arguments")
    return bound
