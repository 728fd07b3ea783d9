"""The evaluator: one class that ties statements, expressions, calls and overlays together.

Nothing here runs the program. `Interpreter` holds the state of one analysis: the dynamic context,
the frames, the uses recorded, and the budget that makes everything terminate.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import libcst as cst

from shardlint.inference.conditions.mocked_modules import verdict_where_replaced
from shardlint.inference.conditions.narrowing import learn_shape, names_in
from shardlint.inference.domain.lattice import combined
from shardlint.inference.domain.values import (
    ClassValue,
    Function,
    Instance,
    MeshValue,
    ModuleValue,
    Native,
    Tag,
    Value,
)
from shardlint.inference.evaluation.budget import MAX_DEPTH, Budget
from shardlint.inference.evaluation.context import Context, Frame, LoopState, Scope, known_call, meant
from shardlint.inference.evaluation.deployment_mesh import verdict_if_meant
from shardlint.inference.evaluation.evaluator import Donation, FedBack
from shardlint.inference.evaluation.path_queries import ask
from shardlint.inference.evaluation.release_queries import verdict_at
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.facts.descriptions import sized
from shardlint.inference.interpreter import functions
from shardlint.inference.interpreter.call_dispatch import call_value
from shardlint.inference.interpreter.expressions import evaluate
from shardlint.inference.interpreter.import_statements import data_file
from shardlint.inference.interpreter.statements import execute_block
from shardlint.inference.interpreter.unseen_code import Unseen
from shardlint.inference.interpreter.with_statements import enter, entered
from shardlint.inference.machine.condition_ids import Tests
from shardlint.inference.machine.trace import CachedCall, Handed, Note
from shardlint.inference.machine.variable_reads import Reads, note_attribute, note_variable
from shardlint.inference.recording.caught_exceptions import note_raised
from shardlint.inference.semantics.arrays_in_place import change_in_place
from shardlint.inference.semantics.attributes import get_attribute, plain_attribute
from shardlint.inference.semantics.builtin_names import built_in
from shardlint.inference.semantics.escaped_code import EscapedCode
from shardlint.inference.semantics.operators import binary_operation, compare
from shardlint.inference.semantics.subscripts import get_item
from shardlint.inference.semantics.variables import write
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.store.identity_set import Once
from shardlint.inference.summaries.call_cache import CallCache
from shardlint.inference.syntax.units import NodePlace, Unit, is_computed, text_at, texts_at
from shardlint.laws.core import dims
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions import Release
from shardlint.model.origins import origins_in
from shardlint.model.spans import Place, Span
from shardlint.model.uses import ArrayUse, Environment, FileProblem, Use
from shardlint.support.lazy_dataclass import replace
from shardlint.support.temporarily import Meanwhile

if TYPE_CHECKING:
    from shardlint.inference.machine.class_summaries import ConstructorSummary, TextWrites
    from shardlint.inference.machine.code import Code
    from shardlint.inference.machine.generator_body import GeneratorBody
    from shardlint.inference.machine.machine import Modules
    from shardlint.inference.machine.stated_facts import StatedFacts


class Interpreter:
    """Evaluates the modules of one project and collects uses."""

    def __init__(self, settings: InferenceSettings, project: Modules) -> None:
        self.settings = settings
        self.project = project
        EFFECTS.lost = []
        self.reset()

    def reset(self) -> None:
        """Drop everything that was learnt."""
        self.unseen = Unseen(self)
        self.code = EscapedCode(self)
        self.uses: Once[Use] = Once()
        self.memory = CallCache()  # of calls
        #: What the innermost cacheable run read of objects and variables older than itself.
        self.reads: Reads | None = None
        #: A new object with no other reference yet, whose constructor is called next (see `call_cache`).
        self.making: Instance | None = None
        self.donations: list[Donation] = []
        self.fed_back = FedBack()
        #: The allocation number at which that run began, and the depth of suspended recording then.
        self.start = 0
        self.mute_base = 0
        #: Functions defined and wrappers created (settled later into entry points).
        self.notes: Once[Note] = Once()
        #: The depth of nested calls, and whether one was too deep to be followed.
        self.deepest = 0
        self.cut = False
        #: The codes that ran or were read (see `look_at`), those outside of cached runs, and the cached runs.
        self.ran: set[Hashable] = set()
        self.ran_uncached: set[Hashable] = set()
        self.cached_calls: Once[CachedCall] = Once()
        #: Global settings of libraries that the program has changed, under the overlays' names for them.
        self.switches: set[str] = set()
        #: The arrays that numpy may view on the host (see `host_views`), and those of the current trace.
        self.viewed: set[str] = set()
        self.views: set[str] = set()
        #: The releases at which JAX's answer to a question changed (see `release_queries`).
        self.turns: set[Release] = set()
        self.versions_read = 0
        #: Whether a mesh that the program does not define matters (see `deployment_mesh`).
        self.asks_mesh = False
        #: The questions to a JAX about functions that no overlay knows (see `asked_functions`).
        self.questions: set[str] = set()
        self.context = Context()
        self.frames: list[Frame] = []
        self.budget = Budget()
        self.muted = 0
        #: The undecided branches and loops around the current statement, by number, and how many there were.
        self.path: tuple[int, ...] = ()
        self.forks = 0
        #: The paths that may be taken many times.
        self._repeating: dict[int, LoopState | None] = {}
        #: Paths that may never be taken: their test is unknown, and is no choice (see `choices`).
        self.doubtful: set[int] = set()
        #: The assumed outcomes of undecided tests on the current path.
        self.assumed: Tag = frozenset()
        self.tests = Tests()
        self.variants: tuple[int, int] = (0, 1)
        #: The loops, by id, of whose items an undecided test selects the current ones.
        self.picked: frozenset[int] = frozenset()
        self.device_count: Dim = (
            dims.symbol("device_count", 1) if (known := self.settings.devices) is None else known
        )
        #: Functions that were called or wrapped, and so are no entry points.
        self.reached: set[Hashable] = set()
        #: Every function defined so far, by the key of its code, and the context around it.
        self.defined: dict[Hashable, tuple[Function, Context]] = {}
        #: Functions passed to code that is not followed, with the time of that.
        self.handed: Handed = {}
        #: Functions and classes out of sight, and what they may change (see `escaped_code`).
        self.escaped: dict[Hashable, Value] = {}
        self.unseen_changes: set[Any] = set()
        #: The attributes that only the constructors of classes set (see `receiver_summary`).
        self.constructed: dict[ClassValue, ConstructorSummary] = {}
        #: The ones from before an edit, by class number, until entry points have been evaluated.
        self.outdated: dict[int, tuple[ClassValue, ConstructorSummary]] = {}
        #: Writes to ``self`` in method texts, of the classes that entry points asked for.
        self.text_writes: dict[ClassValue, TextWrites] = {}
        self._names: dict[cst.BaseExpression, tuple[str, ...]] = {}
        #: The bodies of generators that have begun, by the number of the generator (see `generators`).
        self.generator_bodies: dict[int, GeneratorBody] = {}
        self.bodies: set[int] = set()
        #: Names annotated in a class body, with the text of the annotation, by the number of its scope.
        self.annotated: dict[int, dict[str, str]] = {}
        #: Facts stated in comments (see `facts`), their problems, the requests answered, and sizes by scope.
        self.stated_facts: dict[cst.CSTNode, StatedFacts] = {}
        self.problems: Once[FileProblem] = Once()
        self.revealed: set[Span] = set()
        self.sizes: dict[int, dict[str, Dim]] = {}
        #: Wrapped functions (`jit(f)`, `shard_map(f)`) that have not been called yet.
        self.wrappers: dict[int, tuple[Native, Context]] = {}
        #: By class number, the attributes that derived classes redefine; and, by scope number, the modules
        #: whose classes are included.
        self.replaced: dict[int, frozenset[str]] = {}
        self._wrapped: dict[int, Native] = {}
        self.called_wrappers: set[int] = set()

    # -- uses ---------------------------------------------------------------------------------

    def record(self, use: Use) -> None:
        """Record a use, unless this pass only determines what a loop changes."""
        if not self.is_silent or self.context.caught:
            for judge in (verdict_at, verdict_if_meant, verdict_where_replaced):
                verdict = judge(self, use)
                use = use if verdict is use.verdict else replace(use, verdict=verdict)
            note_raised(self, use)
        if not self.is_silent:
            variant, variants = self.variants
            if variants > 1:
                use = replace(use, variant=variant, variants=variants, supposed=self.supposes)
            if ask(self, "doubted"):
                use = replace(use, doubted=True)
            reached = known_call(self.frames)
            facts = [] if reached is None else [reached]
            if self.settings.defaults or self.settings.answers is not None:
                facts += [origin.fact for origin in origins_in(use.verdict) or origins_in(use)]
            self.uses.append(replace(use, facts=(*use.facts, *facts)) if facts else use)
        if not isinstance(use, ArrayUse):
            self.budget.meet(use, self.is_silent)

    @property
    def supposes(self) -> bool:
        """Return whether no single one of the alternatives is certain to reach this point."""
        return bool(self.picked) or ask(self, "supposed")

    @property
    def is_called(self) -> bool:
        """Return whether module-level code led here, rather than an entry point."""
        outermost = next((f for f in self.frames if f.function is not None), None)
        return outermost is None or outermost.called_at is not None

    def sees(self, place: Place, other: Place) -> bool:
        """Return whether the code at one place can see the other: they share a function, or the module."""
        if self.frame.function is None:
            return place.path == other.path
        return isinstance(place, NodePlace) and isinstance(other, NodePlace) and place.unit is other.unit

    @property
    def release(self) -> Release:
        """Return the release of JAX that is assumed."""
        return self.settings.release

    def environment(self) -> Environment:
        """Return the environment of a use recorded now."""
        return self.context.environment

    # -- state --------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """Return the innermost running frame."""
        return self.frames[-1]

    def note_query(self, overlooked: MeshValue | None) -> None:
        """Record that the running function asked for the mesh in force (see `Evaluator`)."""
        if self.frames:
            self.frame.overlooked, self.frame.answered = overlooked, len(self.frame.returns)

    @property
    def scope(self) -> Scope:
        """Return the scope of the running code."""
        return self.frames[-1].scope

    def place(self, node: cst.CSTNode) -> NodePlace:
        """Return the place of a node of the running code."""
        return NodePlace(self.frames[-1].unit, node)

    @contextmanager
    def within(self, **changes: Any) -> Iterator[None]:
        """Evaluate under a changed context, and restore the changed fields afterwards.

        What is in jit is staged, unless told otherwise.
        """
        if "in_jit" in changes:
            changes.setdefault("staged", changes["in_jit"])
        before = self.context
        self.context = inside = replace(before, **changes)
        try:
            yield
        finally:
            if self.context is inside:
                self.context = before
            else:
                self.context = replace(self.context, **{name: getattr(before, name) for name in changes})

    def silent(self) -> Meanwhile[None]:
        """Evaluate without recording uses."""
        return Meanwhile(self, "muted", self.muted + 1, None)

    def assuming(self, tag: Tag) -> Meanwhile[Tag | None]:
        """Evaluate a branch of an undecided test; yields None if it cannot be taken.

        A test is identified by its text and the values it reads: written twice, it has the same outcome,
        unless it calls a function that may answer differently each time.
        """
        possible = combined(self.assumed, tag)
        if possible is None:
            return Meanwhile(self, "assumed", self.assumed, None)
        return Meanwhile(self, "assumed", possible, tag)

    def forked(
        self, repeats: bool | LoopState = False, guards: bool = True, doubtful: bool = False
    ) -> Meanwhile[None]:
        """Evaluate a path that may not be taken, as `Evaluator.forked`."""
        fork = self._fork(guards, doubtful)
        if repeats:
            self._repeating[fork] = None if repeats is True else repeats
        return Meanwhile(self, "path", (*self.path, fork), None)

    def diverge(self, doubtful: bool, guards: bool = False) -> None:
        """Mark the rest of this path as undecided, because another one has left the function or loop."""
        self.path = (*self.path, self._fork(guards, doubtful))

    def _fork(self, guards: bool, doubtful: bool) -> int:
        """Return a number for a path; it is positive if a test of the program decides whether it is taken."""
        self.forks += 1
        fork = self.forks if guards else -self.forks
        if doubtful:
            self.doubtful.add(fork)
            self.frames[-1].doubts += 1
        return fork

    @property
    def guarded(self) -> bool:
        """Return whether a test of the program decides if the current statement runs."""
        return ask(self, "guarded")

    def loops_among(self, forks: tuple[int, ...]) -> list[LoopState | None]:
        """Return the loops of unknown length among these paths; None for what repeats a path otherwise."""
        return [self._repeating[fork] for fork in forks if fork in self._repeating]

    def path_since(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the undecided paths between a path and the current one."""
        together = zip(path, self.path, strict=False)
        common = next((i for i, (a, b) in enumerate(together) if a != b), min(len(path), len(self.path)))
        return self.path[common:]

    def certain(self, path: tuple[int, ...]) -> bool:
        """Return whether an object created on this path certainly undergoes the current event."""
        return path[: len(self.path)] == self.path

    @property
    def limit(self) -> int:
        """Return the maximal depth of calls here."""
        return MAX_DEPTH + len(self.project.running)

    def tick(self) -> None:
        """Spend a step. Raises Exhausted."""
        self.budget.tick()

    # -- the ways in: see `Machine` and `Evaluator` -------------------------------------------

    evaluate = evaluate
    execute_block = execute_block
    run_function = functions.run_function
    call = call_value
    attribute = get_attribute
    plain_attribute = plain_attribute
    item = get_item
    operation = binary_operation
    comparison = compare
    set_variable = write
    change_in_place = change_in_place
    only_reads = functions.only_reads
    jits_anew = functions.jits_anew
    enter = enter
    entered = entered
    parameter_names = staticmethod(functions.names_by_position)
    returns_fixed_item = staticmethod(functions.returns_fixed_item)
    first_annotation = staticmethod(functions.first_annotation)
    data_file = data_file

    def note_contents(self, value: Value) -> None:
        """Record a read of the contents of an evaluator's own object."""
        note_attribute(self, value)

    @property
    def running_module(self) -> ModuleValue:
        """Return the module whose code runs."""
        run = self.scope.root.module
        return ModuleValue(run.name, run)

    @property
    def local_names(self) -> ModuleValue | ClassValue | None:
        """Return the module or class whose variables are the locals of the running code; None in a
        function."""
        made = self.scope.variables.get("__class__") if self.scope.is_class else None
        if self.scope.parent is None:
            return self.running_module
        return made if isinstance(made, ClassValue) else None

    def import_module(self, name: str, place: Place) -> Value:
        """Import a module by its full dotted name, as the statement does."""
        if name == self.running_module.name:
            return self.running_module
        self.project.reference(self, name, place, "ModuleNotFoundError")
        return self.project.import_module(self, name)

    def written(self, place: Place) -> str | None:
        """Return the text at a place, if it is a name, an attribute or an item: ``params["kernel"]``."""
        return text_at(place)

    def written_items(self, place: Place, functions: Set[str]) -> tuple[str | None, ...]:
        """Return such texts of a tuple's or list's items at a place, or of a call's arguments."""
        return texts_at(place, functions)

    def computes(self, place: Place | None) -> bool:
        """Return whether the expression at a place is not a literal."""
        return is_computed(place)

    def running_method(self) -> tuple[ClassValue, Value] | None:
        """Return the class whose method runs and the method's first argument, or None elsewhere."""
        variables = self.scope.variables
        cls = variables.get("__class__")
        if self.frame.function is None or not isinstance(cls, ClassValue):
            return None
        return cls, next(iter(variables.values()))

    def set_environment(self, key: Value, value: Value) -> None:
        """Apply ``os.environ[key] = value``."""
        self.project.set_environment(self, key, value)

    def learn(self, place: Place, shape: Shape) -> None:
        """Narrow the variable at a place in the running code to an array of this shape."""
        if isinstance(place, NodePlace) and place.unit is self.frames[-1].unit:
            node = place.node.value if isinstance(place.node, cst.Arg) else place.node
            if isinstance(node, cst.Name):
                learn_shape(self, node.value, shape, place)

    def wrapped(self, native: Native) -> Native:
        """Record a wrapper of a program's function: if it is never called, it is an entry point."""
        self._wrapped[id(native)] = native
        if not self.is_silent:
            self.notes.append((native, self.context))
        return native

    def called(self, native: Native) -> None:
        """Record that a wrapper is called."""
        if id(native) in self._wrapped:
            self.called_wrappers.add(id(native))

    def settle(self) -> None:
        """Settle which functions were defined, and which wrappers were never called."""
        for made, context in self.notes:
            if isinstance(made, Native):
                self.wrappers[id(made)] = (made, context)
            else:
                self.defined.setdefault(made.code.key, (made, context))
        self.notes.clear()
        for number in self.called_wrappers & self.wrappers.keys():
            del self.wrappers[number]

    def lookup(self, name: str) -> Value:
        """Return the value of a variable: every look-up of a name goes through here."""
        if EFFECTS.lost:
            self.code.settle()
        if name[:2] == "__":
            name = meant(self.scope, name)
        holder = self.find(name)
        if holder is None:
            value = built_in(self, name)
        elif (holder.volatile or holder.left_open) and holder.may_change(name):
            value = Unknown(f"`{name}` may change")
        else:
            value = holder.variables[name]
        return sized(self, name, value) if self.settings.dims else value

    def define(self, function: Function) -> None:
        """Record a function of the program: if nothing reaches it, it is an entry point."""
        if not self.is_silent:
            self.notes.append((function, self.context))

    @property
    def is_silent(self) -> bool:
        """Return whether recording is suspended in the innermost cacheable run."""
        return self.muted > self.mute_base

    def find(self, name: str) -> Scope | None:
        """Return the scope that holds a name: every read of a variable goes through here."""
        scope = self.frames[-1].scope
        holder = scope.find(name)
        if self.reads is not None and (holder is None or holder.born < self.start):
            note_variable(self, scope, name, holder)
        return holder

    def names_in(self, test: cst.BaseExpression) -> tuple[str, ...]:
        """Return the names that a test reads, cached by test."""
        found = self._names.get(test)
        if found is None:
            scope = self.scope
            found = self._names[test] = tuple([meant(scope, name) for name in names_in(test)])
        return found

    def in_unit(self, unit: Unit) -> Meanwhile[None]:
        """Evaluate nodes of another unit in the running scope."""
        return Meanwhile(self.frames[-1], "unit", unit, None)

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Evaluate another module with its own branches and context, independent of the importer's.

        A mesh and logical axis rules that it sets globally stay set.
        """
        path, context, self.path, self.context = self.path, self.context, (), Context()
        try:
            yield
        finally:
            saved = {
                name: value
                for name in ("mesh", "logical_rules")
                if (value := getattr(self.context, name)) != getattr(Context(), name)
            }
            self.path, self.context = path, replace(context, **saved)

    def forget(self, codes: Set[Hashable]) -> None:
        """Drop what is cached for nodes, and the runs that ran any of these, whose text has changed."""
        self.memory.forget(codes)
        self.tests.forget_nodes()
        self._names.clear()

    def running(self, code: Code) -> int:
        """Return how often a function is on the stack."""
        return sum(frame.function is code for frame in self.frames)
