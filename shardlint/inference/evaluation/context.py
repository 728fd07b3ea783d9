"""Scopes of variables, frames, and the dynamic context of calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from functools import cache
from typing import Any

from shardlint.inference.domain.values import Const, MeshValue, Tag, Tuple, Value
from shardlint.inference.evaluation.name_mangling import mangled
from shardlint.inference.evaluation.settings import InferenceSettings, LogicalRules
from shardlint.inference.store.effect_log import When, born
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Configured, Place
from shardlint.model.uses import Environment, Fact
from shardlint.support.lazy_dataclass import dataclass

#: The logical axis rules of a program that sets none.
NO_RULES = Tuple(())


def assumed_rules(settings: InferenceSettings, unknown: Unknown) -> Value:
    """Return the logical axis rules to assume if a program's are unknown: the configured ones, if any."""
    return unknown if settings.logical_rules is None else _as_written(settings.logical_rules)


@cache
def _as_written(rules: LogicalRules) -> Value:
    """Return rules as a program would write them; cached, so that the value keeps its identity."""
    return Tuple(tuple(Tuple((Const(name), _axes(axes))) for name, axes in rules))


def _axes(axes: str | tuple[str, ...] | None) -> Value:
    if isinstance(axes, tuple):
        return Tuple(tuple(Const(Configured(axis)) for axis in axes))
    return Const(None if axes is None else Configured(axes))


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of a split array on each device of a shard_map: its shape, and that of the whole."""

    name: str | None
    shape: Shape
    whole: Shape


@dataclass(frozen=True, slots=True)
class Context:
    """The dynamic context: it follows calls, not text.

    ``mesh`` is what `jax.set_mesh` set, ``legacy_mesh`` what ``with mesh:`` did; ``in_jit`` is None
    where the caller decides; ``staged`` tells the same of calls without traced operands: under `vmap` JAX
    makes these at once, in the body of `checkpoint` it traces them; ``compiles`` is false where a program is
    only traced (`jax.eval_shape`);
    ``bound_axes`` are the axis names collectives may use; ``mapped`` is true where arrays are examples, or
    layers, of larger ones: under `vmap` and Flax's lifted transforms. ``logical_rules`` is
    what Flax's `logical_axis_rules` set, as the program wrote it.
    ``check_vma`` is what the enclosing shard_map was given, None outside or where it is not known.
    ``shards`` are the arguments of the enclosing shard_map's body, ``orders`` the axes in entries of its
    specs that name several; ``body`` is the key of its code where an
    editor asks.
    ``watched`` keeps the constraints that `overlays.spmd_axes` looks for in a body it follows once more,
    ``marking`` is the call whose result `overlays.lowering` follows, ``captured`` the kind of arrays from
    outside that `overlays.captured_arrays` follows.
    ``caught`` names the exceptions that enclosing handlers catch. ``deprecation_known`` is true where
    deprecated names are meant: where what a missing name raises is handled, or the warning is ignored.
    ``program`` is false in a function whose caller is not known, who may have set up anything. ``replaced``
    are the files of modules of which a test replaced something. ``test`` tells that a framework runs this
    as a test. ``forbidden`` are the axes of `jax.sharding.no_collectives`. ``device_axes`` are the names of
    the devices of enclosing `pmap`s, and ``examples`` is true in a `vmap` on these. ``looping`` is true in
    the first round of a loop whose carry `overlays.jax.lax.loop_sums` follows. ``options`` are those of
    JAX's configuration that a block sets (see `overlays.jax.configuration`). ``deriving`` is true where a
    taint goes only as far as derivatives do, None in the rules of a custom derivative.
    """

    mesh: MeshValue | Unknown | None = None
    legacy_mesh: MeshValue | Unknown | None = None
    in_jit: bool | None = False
    staged: bool | None = False
    compiles: bool = True
    bound_axes: tuple[tuple[str, Dim], ...] | Unknown = ()
    mapped: bool = False
    check_vma: bool | None = None
    shards: tuple[Shard, ...] = ()
    orders: frozenset[tuple[str, ...]] = frozenset()
    body: Hashable = None
    watched: list[Any] | None = None
    marking: Place | None = None
    captured: Any = None
    caught: frozenset[str] = frozenset()
    deprecation_known: bool = False
    expected: bool = False
    entry: str | None = None
    test: bool = False
    program: bool = True
    logical_rules: Value = NO_RULES
    replaced: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    device_axes: frozenset[str] = frozenset()
    examples: bool = False
    looping: bool = False
    options: frozenset[str] = frozenset()
    deriving: bool | None = False

    @property
    def environment(self) -> Environment:
        """Return the environment that a use records of it."""
        return Environment(
            context_mesh=self.mesh.mesh if isinstance(self.mesh, MeshValue) else self.mesh,
            in_jit=bool(self.in_jit),
            bound_axes=self.bound_axes,
            mapped=self.mapped,
            caught=self.caught,
            expected=self.expected,
            entry=self.entry,
            forbidden=self.forbidden,
            test=self.test,
        )


class Scope:
    """Variables of a module, function, class or comprehension, and the scope around it.

    ``born`` identifies it, and ``path`` is the branch it was made in. ``narrowed`` are variables of
    outer scopes of which a test told more, ``volatile`` ones that may change unseen, ``left_open`` those that
    may have for what runs now; ``exposed`` are those whose objects unseen code may change; ``awaited`` are
    names that functions out of sight read, and that may still be bound here. ``rebound_code`` tells when a
    module's variable last got another function or class. ``watchers`` are told of every write. ``rebound``
    are a module's variables that got another value, by when they did, ``environmental`` those that depend on
    variables of the environment (see `environment_reads`).
    ``within`` is the name of the innermost class around its code. ``aliases`` are pairs of variables of which
    one was assigned to the other: they are the same array as long as they hold the same value object.
    """

    __slots__ = (
        "aliases", "awaited", "born", "declared_global", "declared_nonlocal", "environmental", "exposed",
        "is_class", "is_comprehension", "left_open", "module", "narrowed", "parent", "path", "rebound",
        "rebound_code", "variables", "volatile", "watchers", "within",
    )  # fmt: skip

    def __init__(
        self,
        module: Any,
        parent: Scope | None = None,
        is_class: bool = False,
        path: tuple[int, ...] = (),
        is_comprehension: bool = False,
    ) -> None:
        self.born = born()
        self.aliases: set[frozenset[str]] = set()
        self.module = module
        self.parent = parent
        self.is_class = is_class
        self.is_comprehension = is_comprehension
        self.path = path
        self.within: str = "" if parent is None else parent.within
        self.narrowed: set[str] = set()
        self.volatile: set[str] = set()
        self.left_open: frozenset[str] = frozenset()
        self.exposed: set[str] = set()
        self.awaited: dict[Hashable, tuple[Set[str], Any]] = {}
        self.rebound_code = 0
        self.rebound: dict[str, When] = {}
        self.environmental: set[str] = set()
        self.watchers: list[dict[str, list[Value]]] = []
        self.variables: dict[str, Value] = {}
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()

    def renewed(self, path: tuple[int, ...]) -> Scope:
        """Return an empty scope of the same kind on another path, without a parent."""
        copy = Scope(self.module, None, self.is_class, path, self.is_comprehension)
        copy.within = self.within
        for name in ("narrowed", "volatile", "exposed", "declared_global", "declared_nonlocal"):
            setattr(copy, name, set(getattr(self, name)))
        return copy

    @property
    def root(self) -> Scope:
        """Return the module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def chain(self) -> Iterator[Scope]:
        """Yield the scope and its enclosing scopes, inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def of_functions(self) -> Scope:
        """Return the scope visible to functions defined here: names of a class body are not."""
        scope = self
        while scope.is_class and scope.parent is not None:
            scope = scope.parent
        return scope

    def may_change(self, name: str) -> bool:
        """Return whether a variable may change unseen."""
        # Most scopes have neither.
        return bool(self.volatile or self.left_open) and (name in self.volatile or name in self.left_open)

    def find(self, name: str) -> Scope | None:
        """Return the scope that holds a name as Python would look it up, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.declared_global:
                return scope.root if name in scope.root.variables else None
            if name in scope.variables and (scope is self or not scope.is_class):
                return scope
            scope = scope.parent
        return None

    def find_all(self, names: Set[str]) -> Iterator[tuple[str, Scope]]:
        """Yield each of these names that any scope holds, with that scope."""
        scope: Scope | None = self
        while scope is not None:
            if scope.declared_global:
                for name in names & scope.declared_global:
                    if name in scope.root.variables:
                        yield name, scope.root
                names -= scope.declared_global
            outer = scope.parent
            if scope is self or not scope.is_class:
                here = names & scope.variables.keys()
                for name in here:
                    yield name, scope
                if outer is not None:
                    names -= here
            scope = outer

    def seen(self) -> dict[str, Value]:
        """Return all variables that code in this scope sees, by name."""
        found: dict[str, Value] = {}
        around = [self]
        while (outer := around[-1].parent) is not None:
            around.append(outer)
        root = around[-1].variables
        for scope in reversed(around):
            if scope is self or not scope.is_class:
                found |= scope.variables
            for name in scope.declared_global:
                found.pop(name, None)
                if name in root:
                    found[name] = root[name]
        return found

    @property
    def binding(self) -> Scope:
        """Return the scope in which ``:=`` binds: the one around comprehensions."""
        scope = self
        while scope.is_comprehension and scope.parent is not None:
            scope = scope.parent
        return scope

    def target(self, name: str) -> Scope:
        """Return the scope that an assignment to a name changes."""
        if name in self.declared_global:
            return self.root
        if name in self.declared_nonlocal:
            outer = self.parent
            while outer is not None and (outer.is_class or name not in outer.variables):
                outer = outer.parent
            return outer or self
        return self


def meant(scope: Scope, name: str) -> str:
    """Return the name that one written in the code of this scope stands for."""
    return mangled(name, scope.within) if name[:2] == "__" else name


@dataclass(slots=True)
class Frame:
    """One running function, class body, comprehension or module: its scope, and what it returned so far.

    ``path`` are the undecided branches it was entered in, ``conditions`` those of each return, ``exits`` its
    variables there; ``called_at`` is where a known caller calls it. ``yields`` are what a generator gave,
    with the contexts and how many uses there were; ``unsure`` tells that it may give them otherwise.
    ``inside`` are the path and the number of passes without recording around its body. ``doubts`` counts the
    doubtful paths in it. ``overlooked`` is a mesh that is set, but not the answer to its last question
    (`Evaluator.note_query`), which came after ``answered`` of its returns. ``bound`` are the arguments by
    parameter, ``held`` what stands for them since, ``given`` the donations of those of them that it gave to
    jitted functions. ``raised`` is the path on which the last statement raised an exception that a handler
    catches.
    """

    scope: Scope
    unit: Any
    returns: list[Value] = field(default_factory=list)
    loops: list[LoopState] = field(default_factory=list)
    path: tuple[int, ...] = ()
    conditions: list[Tag] = field(default_factory=list)
    exits: list[dict[str, Value]] = field(default_factory=list)
    generator: bool = False
    function: Any = None
    called_at: Place | None = None
    yields: list[tuple[Value, Context, int]] = field(default_factory=list)
    unsure: bool = False
    inside: tuple[tuple[int, ...], int] = ((), 0)
    doubts: int = 0
    overlooked: MeshValue | None = None
    answered: int = 0
    bound: Mapping[str, Value] = field(default_factory=dict)
    held: dict[str, Value] = field(default_factory=dict)
    given: list[Any] = field(default_factory=list)
    raised: tuple[int, ...] | None = None

    @property
    def is_decorated(self) -> bool:
        """Return whether the function has decorators, one of which may keep what it returned."""
        return self.function is not None and bool(getattr(self.function.header, "decorators", ()))

    def departures(self) -> tuple[int, ...]:
        """Return how many exits from the function, and from its innermost loop, were recorded."""
        return tuple(map(len, self._departures()))

    def stay(self, since: tuple[int, ...], until: tuple[int, ...]) -> None:
        """Take back the exits that were recorded between two times: a `finally` went elsewhere."""
        for exits, first, last in zip(self._departures(), since, until, strict=True):
            del exits[first:last]

    def _departures(self) -> list[list[Any]]:
        jumps = self.loops[-1] if self.loops else None
        return [
            self.returns,
            self.conditions,
            self.exits,
            *((jumps.breaks, jumps.continues) if jumps else ()),
        ]


def known_call(frames: Sequence[Frame]) -> Fact | None:
    """Return the call by which the running function was reached, if its caller is known."""
    frame = next((frame for frame in reversed(frames) if frame.function is not None), None)
    if frame is None or frame.function is None or frame.called_at is None:
        return None
    name = frame.function.name
    text = f"{f'`{name}`' if name.isidentifier() else 'it'} is called here"
    return Fact(text, frame.called_at, kind="call")


@dataclass(slots=True)
class LoopState:
    """Variable states at the ``break`` and ``continue`` statements of a running loop.

    ``ended`` tells that the last pass surely left the loop. ``at`` is which of how many known items this pass
    is for, and ``written`` are the variables that it has set so far. ``items`` are those to come. ``changes``
    tells that a pass changed what an object holds; in an ``unstable`` loop nothing is known of that.
    ``earlier`` are the variables that earlier passes set. ``first`` is true in the first of passes that are
    followed one by one: later ones may begin with other values. ``static`` are the numbers that calls of
    compiled functions in them got as static arguments, ``counters`` returns the variables that count passes
    which are not followed one by one.
    """

    breaks: list[dict[str, Value]] = field(default_factory=list)
    continues: list[dict[str, Value]] = field(default_factory=list)
    ended: bool = False
    at: tuple[int, int] = (0, 1)
    written: Mapping[str, object] = field(default_factory=dict)
    items: Value | None = None
    changes: bool = False
    unstable: bool = False
    earlier: frozenset[str] = frozenset()
    first: bool = False
    static: dict[tuple[Place, int | str], list[int | float]] = field(default_factory=dict)
    counters: Callable[[], frozenset[str]] = frozenset

    def sets(self, name: str) -> bool:
        """Return whether this pass has set a variable before, or an earlier one has."""
        return name in self.written or name in self.earlier
