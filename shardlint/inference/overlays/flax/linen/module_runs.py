"""Runs of linen modules: the running module, its name, and the variables it makes.

`init` and `apply` start a `Run`. In it every module has a `Binding`: its path, the names it has assigned,
whether ``setup`` ran. As in `flax.linen.module`, a module made while another's method runs is its child
``Dense_0`` (or ``name=``); one made in ``setup`` or held in a field gets the attribute's name when its holder
is first used; an existing name stays. A module that runs without `init` or `apply` (a method of an unknown
caller) has a run of its own that makes parameters but no claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeGuard
from weakref import WeakKeyDictionary

from shardlint.inference.domain.values import (
    Array,
    Bound,
    ClassValue,
    DictValue,
    External,
    Instance,
    LibraryObject,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.path_queries import ask
from shardlint.inference.overlays.arrays.operands import given
from shardlint.inference.overlays.flax.common.metadata import (
    is_box,
)
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.inference.store.effect_log import born, changed
from shardlint.laws.transforms.traits import Trait
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

Module = Instance | LibraryObject
Path = tuple[str, ...]
Tree = dict[str, "Tree | Value"]


#: The key that initializers receive.
KEY = Array((), "key<fry>")


class Mode(StrEnum):
    """The way modules run: in `init`, in `apply`, or for an unknown caller."""

    INIT = "init"
    APPLY = "apply"
    LOOSE = "loose"


@dataclass(eq=False, slots=True)
class Run:
    """One `init` or `apply`: the variables passed to it, those it made, and the modules in it."""

    mode: Mode
    #: The branches around the start (`Evaluator.path`).
    branches: tuple[int, ...] = ()
    given: Value | None = None
    #: The keys passed to it, and where.
    rngs: Value | None = None
    place: Place | None = None
    made: Tree = field(default_factory=dict)
    bindings: dict[int, Binding] = field(default_factory=dict)
    #: Module paths under which names depend on a branch or loop that was not followed.
    uncertain: set[Path] = field(default_factory=set)
    #: Collections that the program writes in ways that are not modelled (`mutable`).
    written: set[str] = field(default_factory=set)
    #: What variables of a collection hold after layers of Flax have changed them, by their paths in it.
    changed: dict[str, dict[str, Value]] = field(default_factory=dict)
    #: Whether the collection of parameters may be written; None if it is not known.
    makes_params: bool | None = None
    born: int = field(default_factory=born)

    def variables(self) -> DictValue:
        """Return the variables that `init` returns."""
        return DictValue({name: _tree_value(tree, (), self.uncertain) for name, tree in self.made.items()})


@dataclass(eq=False, slots=True)
class Binding:
    """One module in a run."""

    run: Run
    module: Module
    path: Path
    counts: Counter[str] = field(default_factory=Counter)
    active: int = 0
    setting_up: bool = False
    ready: bool = False

    def change(self, interpreter: Evaluator, collection: str, name: str, operands: Iterable[Value]) -> None:
        """Note that a layer of Flax computes what a variable of the module holds from here on from these
        values, once more perhaps."""
        path = "".join(f"[{part!r}]" for part in (*self.path, name))
        changed = self.run.changed.setdefault(collection, {})
        held = [changed[path]] if path in changed else []
        changed[path] = computed(interpreter, Array(None), (*operands, *held))


@dataclass(eq=False, slots=True)
class FlaxState:
    """Flax's state between calls: the running modules, innermost last."""

    stack: list[Binding] = field(default_factory=list)


#: A switch: eager sharding of nnx may be off.
NOT_EAGER = "flax.not_eager"

_STATES: WeakKeyDictionary[Evaluator, FlaxState] = WeakKeyDictionary()


def flax_state(interpreter: Evaluator) -> FlaxState:
    """Return Flax's state in one analysis."""
    state = _STATES.setdefault(interpreter, FlaxState())
    ask(interpreter, "muted")
    if state.stack:
        changed(state.stack[0].run.born)
    return state


def in_module(interpreter: Evaluator) -> bool:
    """Return whether a method of a module runs."""
    state = _STATES.get(interpreter)
    return state is not None and bool(state.stack)


@contextmanager
def as_in_module(interpreter: Evaluator, inside: bool) -> Iterator[None]:
    """Evaluate as if a method of some module ran, or none did.

    A call that asks for more than that depends on the module, and cannot be cached.
    """
    state = _STATES.setdefault(interpreter, FlaxState())
    outer = state.stack
    state.stack = [Binding(Run(Mode.LOOSE), LibraryObject("flax.linen.Module", {}), ())] if inside else []
    try:
        yield
    finally:
        state.stack = outer


# -- modules ----------------------------------------------------------------------------------


def module_created(
    interpreter: Evaluator, module: Module, class_name: str, name: Value | None, parent: Value | None
) -> None:
    """Name a new module. ``name`` and ``parent`` are the arguments of these names."""
    stack = flax_state(interpreter).stack
    if not stack or stack[-1].setting_up or is_none(parent):
        return
    holder = stack[-1]
    own = as_str(name)
    if own is None:
        own = f"{class_name}_{holder.counts[class_name]}"
        holder.counts[class_name] += 1
        if may_not_happen(interpreter, holder.run) or given(name):
            holder.run.uncertain.add(holder.path)
    _bind(holder, module, own)


def may_not_happen(interpreter: Evaluator, run: Run) -> bool:
    """Return whether this is one of several paths through the run."""
    return bool(interpreter.muted) or not interpreter.certain(run.branches)


def _bind(holder: Binding, module: Module, name: str) -> None:
    run = holder.run
    if id(module) not in run.bindings:
        run.bindings[id(module)] = Binding(run, module, (*holder.path, name))


@contextmanager
def running(interpreter: Evaluator, module: Module, place: Place) -> Iterator[Binding]:
    """Run a method of a module; the evaluator wraps every call of a linen method in this context."""
    state = flax_state(interpreter)
    run = state.stack[-1].run if state.stack else Run(Mode.LOOSE, interpreter.path)
    binding = run.bindings.get(id(module))
    if binding is None:
        binding = Binding(Run(Mode.LOOSE, interpreter.path), module, ())
        # Also recorded in its own run, so that methods that call each other find it again.
        run.bindings[id(module)] = binding.run.bindings[id(module)] = binding
    if binding.active == 0:
        binding.counts.clear()
    binding.active += 1
    state.stack.append(binding)
    try:
        _prepare(interpreter, binding, place)
        yield binding
    finally:
        state.stack.pop()
        binding.active -= 1


@contextmanager
def fresh_run(
    interpreter: Evaluator, module: Module, mode: Mode, given: Value | None, rngs: Value | None, place: Place
) -> Iterator[Run]:
    """Start `init` or `apply` of a module, which is the root of the new run."""
    state = flax_state(interpreter)
    outer, state.stack = state.stack, []
    run = Run(mode, interpreter.path, given, rngs, place)
    run.bindings[id(module)] = root = Binding(run, module, ())
    state.stack.append(root)
    try:
        yield run
    finally:
        state.stack = outer


def key_of(run: Run, name: str) -> Value | None:
    """Return the key that a run was given under a name; a single key is for all names."""
    if isinstance(run.rngs, DictValue):
        return (run.rngs.items or {}).get(name)
    return run.rngs


def for_parameters(interpreter: Evaluator) -> Array:
    """Return the key that initializers receive: where a run was given another one on each device, one that
    differs so."""
    stack = flax_state(interpreter).stack
    held = key_of(stack[-1].run, "params") if stack else None
    if not isinstance(held, Array) or not _differs(held):
        return KEY
    return replace(KEY.vary(held.variation), drawn_at=held.drawn_at)


def as_drawn(parameter: Array, drawn: Value) -> Array:
    """Return a parameter, which differs from device to device if what its initializer drew does."""
    if not isinstance(drawn, Array) or not _differs(drawn):
        return parameter
    return replace(parameter.vary(drawn.variation), drawn_at=drawn.drawn_at)


def _differs(array: Array) -> bool:
    """Return whether an array certainly differs from device to device."""
    return bool(array.variation.surely or array.variation.axes_of(Trait.KEYED))


def current(interpreter: Evaluator, module: Module) -> Binding:
    """Return the binding of a module whose method runs; a loose one outside any method."""
    for binding in reversed(flax_state(interpreter).stack):
        if binding.module is module:
            return binding
    return Binding(Run(Mode.LOOSE, interpreter.path), module, ())


def _prepare(interpreter: Evaluator, binding: Binding, place: Place) -> None:
    """Name the modules held in fields, then run ``setup`` once and name the modules it made."""
    if binding.ready:
        return
    binding.ready = True
    _adopt(binding)
    if not isinstance(binding.module, Instance):
        return
    setup = interpreter.attribute(binding.module, "setup", place)
    if isinstance(setup, Bound):
        binding.setting_up = True
        try:
            interpreter.call(setup, [], {}, place)
        finally:
            binding.setting_up = False
        _adopt(binding)


def _adopt(binding: Binding) -> None:
    module = binding.module
    fields = module.attributes if isinstance(module, Instance) else module.fields
    for attribute, value in list(fields.items()):
        for suffix, child in _modules_in(value):
            _bind(binding, child, as_str(_given_name(child)) or attribute + suffix)


def _given_name(module: Module) -> Value | None:
    return (module.attributes if isinstance(module, Instance) else module.fields).get("name")


def _modules_in(value: Value) -> Iterator[tuple[str, Module]]:
    """Yield the modules in an attribute, with the suffix that linen adds to the attribute's name for each."""
    if is_module(value):
        yield "", value
    elif (items := as_items(value)) is not None:
        for i, item in enumerate(items):
            for suffix, module in _modules_in(item):
                yield f"_{i}{suffix}", module
    elif isinstance(value, DictValue) and value.items is not None:
        for key, item in value.items.items():
            for suffix, module in _modules_in(item):
                yield f"_{key}{suffix}", module


def is_module(value: Value) -> TypeGuard[Module]:
    """Return whether a value is a linen module: a layer of linen, or an object of a class derived from
    Module."""
    if isinstance(value, LibraryObject):
        return value.kind.startswith("flax.linen.") and not is_box(value)
    pending: list[Value] = [value.cls] if isinstance(value, Instance) else []
    while pending:
        cls = pending.pop()
        if isinstance(cls, External) and cls.name.startswith("flax.linen."):
            return True
        if isinstance(cls, ClassValue):
            pending.extend(cls.bases)
    return False


def _tree_value(tree: Tree | Value, path: Path, uncertain: set[Path]) -> Value:
    if not isinstance(tree, dict):
        return tree
    if path in uncertain:
        return DictValue(None)
    return DictValue({name: _tree_value(below, (*path, name), uncertain) for name, below in tree.items()})
