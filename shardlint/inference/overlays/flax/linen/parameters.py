"""Parameters and other variables of linen modules: made by `init`, found by `apply`, unboxed when read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import Array, Const, DictValue, LibraryObject, Value, shape_value
from shardlint.inference.overlays.flax.common.layer_shapes import initialized as from_initializer
from shardlint.inference.overlays.flax.common.layer_shapes import parameter_sharding, refuse_array
from shardlint.inference.overlays.flax.common.metadata import (
    LOGICALLY_PARTITIONED,
    PARTITIONED,
    Names,
    is_box,
    mesh_of,
    names_of,
    unboxed,
    with_value,
)
from shardlint.inference.overlays.flax.common.parameter_uses import (
    INERT,
    NameCheck,
    Owner,
    held_by,
    record_parameter,
    shape_known,
)
from shardlint.inference.overlays.flax.linen.module_runs import (
    Binding,
    Mode,
    Path,
    Run,
    Tree,
    as_drawn,
    for_parameters,
    may_not_happen,
)  # fmt: skip
from shardlint.inference.overlays.flax.logical.constraints import (
    as_written,
    foresee,
    record_axis,
    resolved,
)
from shardlint.inference.overlays.flax.logical.rules import effective_rules, rules_of
from shardlint.inference.overlays.flax.logical.uses import Setting
from shardlint.inference.overlays.jax.explicit.type_conversion import replicated_here
from shardlint.inference.overlays.jax.sharding.placement_check import shape_text
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import Shape, equal
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.flax.logical_axes import Resolved, given, mesh_spec
from shardlint.model.spans import Place
from shardlint.model.uses import Fact
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.call import Call
    from shardlint.inference.evaluation.evaluator import Evaluator

#: Parameters that layers draw by default; others are zeros or ones.
_DRAWN = frozenset({"kernel", "embedding"})


def initialized(
    call: Call, name: str, init: Value | None, shape: Shape, dtype: str | None, flat: Shape | None
) -> Value:
    """Return an initializer's result for a layer that requires ``shape``: an array or a box around one.

    A layer fails on any other shape, so the shape is known even if the initializer is not.
    """
    array, key = Array(shape, dtype, origin=call.place), for_parameters(call.interpreter)
    if init is None:
        array = replace(array, typed=replicated_here(call.interpreter, shape))
        return as_drawn(array, key) if name in _DRAWN else array
    wanted_shape = shape_value(shape if flat is None else flat)
    value: Value = Unknown("no initializer")
    if not refuse_array(call, "the layer", init):
        kind = Const(dtype) if dtype else Unknown("dtype")
        value = from_initializer(call, init, [key, wanted_shape, kind], {})
    array = as_drawn(replace(array, typed=parameter_sharding(unboxed(value), shape)), unboxed(value))
    if isinstance(value, LibraryObject) and is_box(value):
        return with_value(value, array)
    if isinstance(value, Array):
        return array
    return LibraryObject(PARTITIONED, {"value": array, "names": Unknown("the initializer is not known")})


def make_variable(
    interpreter: Evaluator,
    binding: Binding,
    collection: str,
    name: str,
    owner: Owner,
    initial: Callable[[], Value],
    flat: Shape | None = None,
) -> Value:
    """Create a variable, or find the existing one, and return it without its box.

    A new parameter is recorded; names that JAX rejects leave its value unknown. ``flat`` is the shape in
    which a general dense layer initializes and unboxes it, before it is reshaped.
    """
    run, path = binding.run, (*binding.path, name)
    variable = None if binding.path in run.uncertain else find_variable(run, collection, path)
    if variable is not None and not isinstance(variable, dict):
        return unboxed(variable)
    if run.mode is Mode.APPLY and (there := _variable_in(run.given, collection, path)) is not None:
        if collection == "params" and _has_other_shape(interpreter, run, there, initial, owner, name):
            return Unknown("a parameter of another shape")
        value = unbox(interpreter, there, owner.subject(name), owner.place)
        if flat is None or is_box(there):
            return value
        return _value(name, value, _flat_verdict(interpreter, initial(), owner, name, flat, run.mode))
    box = initial()
    if isinstance(box, LibraryObject) and is_box(box):
        box = LibraryObject(box.kind, {**box.fields, "subject": Const(owner.subject(name))}, box.origin)
    verdict = _flat_verdict(interpreter, box, owner, name, flat, run.mode)
    names, mesh = box_names(box), box_name_check(interpreter, box).mesh
    if run.mode is Mode.INIT and isinstance(box, LibraryObject) and not isinstance(verdict, Rejected):
        read = unbox_now(interpreter, box)
        names, verdict = read.names, read.verdict
    if collection == "params":
        axes, named, logical, variable = None, None, False, unboxed(box)
        if isinstance(box, LibraryObject):
            named, logical = box.origin, box.kind == LOGICALLY_PARTITIONED
            axes = foresee(interpreter, box_setting(interpreter, box), mesh) if logical else None
        record_parameter(interpreter, owner, name, variable, names, mesh, verdict, axes, path, named, logical)
    if not interpreter.muted:
        _store(run, collection, path, box)
        if may_not_happen(interpreter, run):
            run.uncertain.add(binding.path)
    return _value(name, box, verdict)


def _has_other_shape(
    interpreter: Evaluator, run: Run, given: Value, initial: Callable[[], Value], owner: Owner, name: str
) -> bool:
    """Record a parameter that has another shape than its initializer makes; return whether it has.

    `Scope.param` compares them in each `apply` (ScopeParamShapeError, Flax 0.12.8).
    """
    shape = shape_known(unboxed(given))
    if isinstance(shape, Unknown):
        return False
    interpreter.muted += 1
    try:
        made = shape_known(unboxed(initial()))
    finally:
        interpreter.muted -= 1
    if isinstance(made, Unknown):
        return False
    if len(made) == len(shape) and not any(equal(x, y) is False for x, y in zip(made, shape, strict=True)):
        return False
    stack = f"; it is a stack of {shape[0]} of these" if shape[1:] == made else ""
    detail = (
        f"{owner.subject(name)} of shape {shape_text(shape)} is given to a layer that makes it of shape "
        f"{shape_text(made)}{stack}"
    )
    verdict = Rejected(Cause.MISUSE, "ScopeParamShapeError", "apply", detail=detail)
    record_of_value(interpreter, "module.apply", verdict, run.place or owner.place)
    return True


def _value(name: str, box: Value, verdict: Verdict) -> Value:
    return Unknown(f"rejected: the names of `{name}`") if isinstance(verdict, Rejected) else unboxed(box)


def _flat_verdict(
    interpreter: Evaluator, box: Value, owner: Owner, name: str, flat: Shape | None, mode: Mode
) -> Verdict:
    """Judge the box of the matrix that a general dense layer makes before it is reshaped.

    `init` unboxes the matrix; `apply` does too, to compare shapes, under `jax.eval_shape`.
    """
    if mode is Mode.LOOSE:
        return Undecided("who initializes it is not known")
    if flat is None or not isinstance(box, LibraryObject) or not is_box(box):
        return INERT if mode is Mode.INIT else Undecided("the variables are the caller's")
    read = unbox_now(interpreter, with_value(box, _flattened(box, flat)), traced=mode is Mode.APPLY)
    if isinstance(read.verdict, Rejected):
        text = ", ".join(map(str, flat))
        note = Fact(
            f"{owner.name} initializes `{name}` as an array of shape ({text}), with the same names",
            owner.place,
        )
        read.record(interpreter, Array(flat), owner.subject(name), owner.place, (note,))
    return read.verdict


def _flattened(box: LibraryObject, flat: Shape) -> Array:
    """Return the matrix that a general dense layer makes first, with the array's dtype and sharding."""
    value = unboxed(box)
    return replace(value, shape=flat) if isinstance(value, Array) else Array(flat)


def unbox(interpreter: Evaluator, box: Value, subject: str, place: Place) -> Value:
    """Unbox an existing value, as linen reads it: under a mesh its names constrain it."""
    if not isinstance(box, LibraryObject) or not is_box(box):
        return box
    # Outside jit JAX first requires the value to be on the mesh of `jax.set_mesh` (else TypeError), so only
    # earlier checks are certain.
    loose = box_name_check(interpreter, box).raw and interpreter.context.in_jit is not True
    read = unbox_now(interpreter, box, traced=loose)
    if loose and isinstance(read.verdict, Accepted) and read.verdict is not INERT:
        read = replace(read, verdict=Undecided("where the value is placed"))
    if read.verdict is not INERT:
        read.record(interpreter, unboxed(box), subject, box.origin or place)
    return _value(subject, box, read.verdict)


@dataclass(frozen=True, slots=True)
class Unboxing:
    """The unboxing of a box: the mesh axes of its names, and JAX's verdict on them."""

    name_check: NameCheck
    names: Names
    verdict: Verdict

    def record(
        self,
        interpreter: Evaluator,
        value: Value,
        subject: str,
        place: Place,
        facts: tuple[Fact, ...] = (),
    ) -> None:
        """Record the names on the mesh."""
        self.name_check.record(interpreter, self.names, value, subject, place, self.verdict, facts)


def unbox_now(interpreter: Evaluator, box: LibraryObject, traced: bool = False) -> Unboxing:
    """Return the unboxing of a box that is read now, or ``traced``."""
    name_check = box_name_check(interpreter, box)
    if traced:
        name_check = replace(name_check, in_jit=True)
    if name_check.mesh is None:
        return Unboxing(name_check, box_names(box), INERT)
    value = unboxed(box)
    shape, held = shape_known(value), held_by(interpreter, value, name_check.mesh)
    if box.kind != LOGICALLY_PARTITIONED:
        names = box_names(box)
        return Unboxing(name_check, names, name_check.judge(names, shape, held))
    setting = box_setting(interpreter, box)
    if not given(setting.rules):
        # Without rules linen does not look at the names.
        return Unboxing(name_check, setting.names, INERT)
    found = resolved(interpreter, setting, constrains=True)
    if not isinstance(found, Resolved):
        return Unboxing(name_check, setting.names, found)
    names = replace(setting.names, spec=found.spec)
    verdict = name_check.judge(names, shape, held)
    record_axis(interpreter, setting, found.spec, verdict, name_check.mesh)
    return Unboxing(name_check, names, verdict)


def box_setting(interpreter: Evaluator, box: LibraryObject) -> Setting:
    """Return the logical names of a box, and the rules that apply to them."""
    names, written = as_written(box_names(box)), effective_rules(interpreter, box.fields.get("rules"))
    if isinstance(names.spec, Spec):
        names = replace(names, spec=mesh_spec(names.spec))
    return Setting("linen", names, rules_of(written), box.origin, written)


def box_name_check(interpreter: Evaluator, box: Value) -> NameCheck:
    """Return the mesh for the names of a box: its own, or that of `jax.set_mesh`."""
    return NameCheck.linen(
        interpreter, mesh_of(box.fields.get("mesh")) if isinstance(box, LibraryObject) else None
    )


def box_names(box: Value) -> Names:
    """Return the names of a box; no names for a plain array, unknown ones for an unknown value."""
    if isinstance(box, LibraryObject) and is_box(box):
        return names_of(box.fields.get("names"))
    return Names(None if isinstance(box, Array) else Unknown("the initializer is not known"))


def find_variable(run: Run, collection: str, path: Path) -> Tree | Value | None:
    """Return the variable, or tree of variables, that a run has made under a path."""
    tree: Tree | Value | None = run.made.get(collection)
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _variable_in(given: Value | None, collection: str, path: Path) -> Value | None:
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


def merge_variables(interpreter: Evaluator, run: Run, collection: str, tree: Tree | Value) -> None:
    """Merge the variables that a part of a run made by itself into the run."""
    if interpreter.muted:
        return
    for path, value in _leaves(tree, ()):
        _store(run, collection, path, value)


def _leaves(tree: Tree | Value, path: Path) -> Iterator[tuple[Path, Value]]:
    if not isinstance(tree, dict):
        yield path, tree
        return
    for name, below in tree.items():
        yield from _leaves(below, (*path, name))
