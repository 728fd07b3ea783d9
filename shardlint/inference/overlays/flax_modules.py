"""linen modules at work: which module runs, under which name, and the variables it makes.

`init` and `apply` start a `Run`. In it every module has a `Binding`: its path, the names it gave,
whether ``setup`` ran. As in `flax.linen.module`, a module made while another's method runs is
its child ``Dense_0`` (or ``name=``); one made in ``setup`` or held as a field is named after the
attribute when its holder is first used; one that has a name already keeps it. A module that runs
without `init` or `apply` (a method whose caller is not known) has a run of its own that makes
parameters but no claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeGuard
from weakref import WeakKeyDictionary

from shardlint.inference.interpreter import Interpreter
from shardlint.inference.overlays.arrays import given
from shardlint.inference.overlays.flax_metadata import (
    LOGICALLY_PARTITIONED,
    Names,
    is_box,
    mesh_of,
    names_of,
    unboxed,
    with_value,
)
from shardlint.inference.overlays.flax_uses import (
    INERT,
    Meeting,
    Owner,
    record_parameter,
    record_placement,
    shape_known,
)
from shardlint.inference.values import (
    Array,
    Bound,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.laws.dims import Shape
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Rejected, Undecided, Verdict
from shardlint.spans import Place
from shardlint.uses import Fact

Module = Instance | LibraryObject
Path = tuple[str, ...]
Tree = dict[str, "Tree | Value"]


class Mode(StrEnum):
    """How modules run: by `init`, by `apply`, or for a caller that is not known."""

    INIT = "init"
    APPLY = "apply"
    LOOSE = "loose"


@dataclass(eq=False, slots=True)
class Run:
    """One `init` or `apply`: the variables given to it, those it made, and the modules in it."""

    mode: Mode
    #: The branches around the start (`Interpreter.path`).
    branches: tuple[int, ...] = ()
    given: Value | None = None
    made: Tree = field(default_factory=dict)
    bindings: dict[int, Binding] = field(default_factory=dict)
    #: Module paths under which names depend on a branch or loop that was not followed.
    uncertain: set[Path] = field(default_factory=set)

    def variables(self) -> DictValue:
        """What `init` returns."""
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


@dataclass(eq=False, slots=True)
class FlaxState:
    """What Flax remembers between calls: running modules, innermost last, and its global switches.

    ``rules`` is true while logical axis rules are in force; ``eager_sharding`` is None when not known.
    """

    stack: list[Binding] = field(default_factory=list)
    rules: bool = False
    eager_sharding: bool | None = True


_STATES: WeakKeyDictionary[Interpreter, FlaxState] = WeakKeyDictionary()


def flax_state(interpreter: Interpreter) -> FlaxState:
    """Flax's state in one analysis."""
    return _STATES.setdefault(interpreter, FlaxState())


# -- modules ----------------------------------------------------------------------------------


def module_created(
    interpreter: Interpreter, module: Module, class_name: str, name: Value | None, parent: Value | None
) -> None:
    """Name a module that was just made. ``name`` and ``parent`` are the arguments of these names."""
    stack = flax_state(interpreter).stack
    if not stack or stack[-1].setting_up or is_none(parent):
        return
    holder = stack[-1]
    own = as_str(name)
    if own is None:
        own = f"{class_name}_{holder.counts[class_name]}"
        holder.counts[class_name] += 1
        if _may_not_happen(interpreter, holder.run) or given(name):
            holder.run.uncertain.add(holder.path)
    _bind(holder, module, own)


def _may_not_happen(interpreter: Interpreter, run: Run) -> bool:
    """Whether this is one of several paths through the run."""
    return bool(interpreter.muted) or not interpreter.certain(run.branches)


def _bind(holder: Binding, module: Module, name: str) -> None:
    run = holder.run
    if id(module) not in run.bindings:
        run.bindings[id(module)] = Binding(run, module, (*holder.path, name))


@contextmanager
def running(interpreter: Interpreter, module: Module, place: Place) -> Iterator[Binding]:
    """Evaluate a method of a module: the evaluator wraps every call of a linen method in this."""
    state = flax_state(interpreter)
    run = state.stack[-1].run if state.stack else Run(Mode.LOOSE, interpreter.path)
    binding = run.bindings.get(id(module))
    if binding is None:
        binding = run.bindings[id(module)] = Binding(Run(Mode.LOOSE, interpreter.path), module, ())
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
def fresh_run(interpreter: Interpreter, module: Module, mode: Mode, given: Value | None) -> Iterator[Run]:
    """Start `init` or `apply` of a module, which is the root of the new run."""
    state = flax_state(interpreter)
    outer, state.stack = state.stack, []
    run = Run(mode, interpreter.path, given)
    run.bindings[id(module)] = root = Binding(run, module, ())
    state.stack.append(root)
    try:
        yield run
    finally:
        state.stack = outer


def current(interpreter: Interpreter, module: Module) -> Binding:
    """The binding of a module whose method runs; a loose one when it runs outside any."""
    for binding in reversed(flax_state(interpreter).stack):
        if binding.module is module:
            return binding
    return Binding(Run(Mode.LOOSE, interpreter.path), module, ())


def _prepare(interpreter: Interpreter, binding: Binding, place: Place) -> None:
    """Name the modules held in fields, then run ``setup`` once and name what it made."""
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
    held = module.attributes if isinstance(module, Instance) else module.fields
    for attribute, value in list(held.items()):
        for suffix, child in _modules_in(value):
            _bind(binding, child, as_str(_given_name(child)) or attribute + suffix)


def _given_name(module: Module) -> Value | None:
    return (module.attributes if isinstance(module, Instance) else module.fields).get("name")


def _modules_in(value: Value) -> Iterator[tuple[str, Module]]:
    """The modules in an attribute, with what linen appends to the attribute's name for each."""
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
    """Whether a value is a linen module: a layer of linen, or an object of a class derived from Module."""
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


# -- variables --------------------------------------------------------------------------------


def make_variable(
    interpreter: Interpreter,
    binding: Binding,
    collection: str,
    name: str,
    owner: Owner,
    initial: Callable[[], Value],
    flat: Shape | None = None,
) -> Value:
    """Make a variable, or find the one that is there, and return it without its box.

    A parameter that is made is recorded; names that JAX rejects leave its value unknown. ``flat``
    is the shape a general dense layer initializes, and unboxes, before it takes its own.
    """
    run, path = binding.run, (*binding.path, name)
    known = None if binding.path in run.uncertain else _find_made(run, collection, path)
    if known is not None:
        return unboxed(known)
    if run.mode is Mode.APPLY and (known := _find_given(run.given, collection, path)) is not None:
        return unbox(interpreter, known, owner.subject(name), owner.place)
    box = initial()
    if isinstance(box, LibraryObject) and is_box(box):
        box = LibraryObject(box.kind, {**box.fields, "subject": Const(owner.subject(name))}, box.origin)
    verdict = INERT if run.mode is Mode.INIT else Undecided("where it is initialized is not known")
    if run.mode is Mode.INIT and isinstance(box, LibraryObject):
        verdict = _flat_verdict(interpreter, box, owner, name, flat)
        if not isinstance(verdict, Rejected):
            verdict = unbox_verdict(interpreter, box)[1]
    if collection == "params":
        mesh = box_meeting(interpreter, box).mesh
        record_parameter(interpreter, owner, name, unboxed(box), box_names(box), mesh, verdict)
    if not interpreter.muted:
        _store(run, collection, path, box)
        if _may_not_happen(interpreter, run):
            run.uncertain.add(binding.path)
    return Unknown(f"rejected: the names of `{name}`") if isinstance(verdict, Rejected) else unboxed(box)


def _flat_verdict(
    interpreter: Interpreter, box: LibraryObject, owner: Owner, name: str, flat: Shape | None
) -> Verdict:
    """Unbox what a general dense layer initializes before it gives it its own shape."""
    if flat is None:
        return INERT
    array = Array(flat)
    meeting, verdict = unbox_verdict(interpreter, with_value(box, array))
    if isinstance(verdict, Rejected):
        note = (
            f"{owner.name} initializes `{name}` as an array of shape {_shape_text(flat)}, with the same names"
        )
        api, names, facts = meeting.api(interpreter), box_names(box), (Fact(note, owner.place),)
        record_placement(
            interpreter,
            api,
            meeting.mesh,
            names,
            array,
            owner.subject(name),
            owner.place,
            verdict,
            meeting.raw,
            facts,
        )
    return verdict


def unbox(interpreter: Interpreter, box: Value, subject: str, place: Place) -> Value:
    """Unbox a value that was made before, as linen reads it: under a mesh its names constrain it."""
    if not isinstance(box, LibraryObject) or not is_box(box):
        return box
    meeting, verdict = unbox_verdict(interpreter, box)
    if verdict is not INERT:
        names, inner = box_names(box), unboxed(box)
        api = meeting.api(interpreter)
        record_placement(
            interpreter, api, meeting.mesh, names, inner, subject, box.origin or place, verdict, meeting.raw
        )
    return Unknown(f"rejected: the names of {subject}") if isinstance(verdict, Rejected) else unboxed(box)


def unbox_verdict(interpreter: Interpreter, box: LibraryObject) -> tuple[Meeting, Verdict]:
    """What JAX says when a box is read now."""
    meeting = box_meeting(interpreter, box)
    if box.kind == LOGICALLY_PARTITIONED:
        return meeting, Undecided("logical axis rules decide")
    if meeting.mesh is None:
        return meeting, INERT
    return meeting, meeting.judge(interpreter, box_names(box), shape_known(unboxed(box)))


def box_meeting(interpreter: Interpreter, box: Value) -> Meeting:
    """The mesh that the names of a box meet: its own, or that of `jax.set_mesh`."""
    return Meeting.linen(
        interpreter, mesh_of(box.fields.get("mesh")) if isinstance(box, LibraryObject) else None
    )


def box_names(box: Value) -> Names:
    """The names of a box; no names for a plain array, unknown ones for an unknown value."""
    if isinstance(box, LibraryObject) and is_box(box):
        return names_of(box.fields.get("names"))
    return Names(None if isinstance(box, Array) else Unknown("the initializer is not known"))


def _shape_text(shape: Shape) -> str:
    """A shape as Python writes it."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _find_made(run: Run, collection: str, path: Path) -> Value | None:
    tree: Tree | Value | None = run.made.get(collection)
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return None if tree is None or isinstance(tree, dict) else tree


def _find_given(given: Value | None, collection: str, path: Path) -> Value | None:
    value = given
    for name in (collection, *path):
        if not isinstance(value, DictValue) or value.items is None:
            return None
        value = value.items.get(name)
    return value if isinstance(value, (Array, LibraryObject)) else None


def _store(run: Run, collection: str, path: Path, value: Value) -> None:
    tree = run.made
    for name in (collection, *path[:-1]):
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[path[-1]] = value


def _tree_value(tree: Tree | Value, path: Path, uncertain: set[Path]) -> Value:
    if not isinstance(tree, dict):
        return tree
    if path in uncertain:
        return DictValue(None)
    return DictValue({name: _tree_value(below, (*path, name), uncertain) for name, below in tree.items()})
