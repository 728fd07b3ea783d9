"""Parameters and other variables of linen modules: made by `init`, found by `apply`, unboxed when read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.overlays.flax_metadata import (
    LOGICALLY_PARTITIONED,
    Names,
    is_box,
    mesh_of,
    names_of,
    unboxed,
    with_value,
)
from shardlint.inference.overlays.flax_modules import Binding, Mode, Path, Run, Tree, may_not_happen
from shardlint.inference.overlays.flax_uses import INERT, Meeting, Owner, record_parameter, shape_known
from shardlint.inference.values import Array, Const, DictValue, LibraryObject, Value
from shardlint.laws.dims import Shape
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Accepted, Rejected, Undecided, Verdict
from shardlint.spans import Place
from shardlint.uses import Fact

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator


def make_variable(
    interpreter: Evaluator,
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
    made = None if binding.path in run.uncertain else _find_made(run, collection, path)
    if made is not None:
        return unboxed(made)
    if run.mode is Mode.APPLY and (there := _find_given(run.given, collection, path)) is not None:
        value = unbox(interpreter, there, owner.subject(name), owner.place)
        if flat is None or is_box(there):
            return value
        return _value(name, value, _flat_verdict(interpreter, initial(), owner, name, flat, run.mode))
    box = initial()
    if isinstance(box, LibraryObject) and is_box(box):
        box = LibraryObject(box.kind, {**box.fields, "subject": Const(owner.subject(name))}, box.origin)
    verdict = _flat_verdict(interpreter, box, owner, name, flat, run.mode)
    if run.mode is Mode.INIT and isinstance(box, LibraryObject) and not isinstance(verdict, Rejected):
        verdict = unbox_verdict(interpreter, box)[1]
    if collection == "params":
        mesh = box_meeting(interpreter, box).mesh
        record_parameter(interpreter, owner, name, unboxed(box), box_names(box), mesh, verdict)
    if not interpreter.muted:
        _store(run, collection, path, box)
        if may_not_happen(interpreter, run):
            run.uncertain.add(binding.path)
    return _value(name, box, verdict)


def _value(name: str, box: Value, verdict: Verdict) -> Value:
    return Unknown(f"rejected: the names of `{name}`") if isinstance(verdict, Rejected) else unboxed(box)


def _flat_verdict(
    interpreter: Evaluator, box: Value, owner: Owner, name: str, flat: Shape | None, mode: Mode
) -> Verdict:
    """Judge the box that a general dense layer makes of a matrix, before it gives it its own shape.

    `init` unboxes the matrix; `apply` does too, to compare shapes, under `jax.eval_shape`.
    """
    if mode is Mode.LOOSE:
        return Undecided("who initializes it is not known")
    if flat is None or not isinstance(box, LibraryObject) or not is_box(box):
        return INERT if mode is Mode.INIT else Undecided("the variables are the caller's")
    meeting, verdict = unbox_verdict(interpreter, with_value(box, Array(flat)), traced=mode is Mode.APPLY)
    if isinstance(verdict, Rejected):
        text = ", ".join(map(str, flat))
        note = Fact(
            f"{owner.name} initializes `{name}` as an array of shape ({text}), with the same names",
            owner.place,
        )
        names, subject = box_names(box), owner.subject(name)
        meeting.record(interpreter, names, Array(flat), subject, owner.place, verdict, (note,))
    return verdict


def unbox(interpreter: Evaluator, box: Value, subject: str, place: Place) -> Value:
    """Unbox a value that was made before, as linen reads it: under a mesh its names constrain it."""
    if not isinstance(box, LibraryObject) or not is_box(box):
        return box
    # Outside jit JAX first wants the value to be on the mesh of `jax.set_mesh` (else TypeError), so
    # only what is checked before that is sure.
    loose = box_meeting(interpreter, box).raw and interpreter.context.in_jit is not True
    meeting, verdict = unbox_verdict(interpreter, box, traced=loose)
    if loose and isinstance(verdict, Accepted) and verdict is not INERT:
        verdict = Undecided("where the value is placed")
    if verdict is not INERT:
        meeting.record(interpreter, box_names(box), unboxed(box), subject, box.origin or place, verdict)
    return _value(subject, box, verdict)


def unbox_verdict(
    interpreter: Evaluator, box: LibraryObject, traced: bool = False
) -> tuple[Meeting, Verdict]:
    """What JAX says when a box is read now, or ``traced``."""
    meeting = box_meeting(interpreter, box)
    if traced:
        meeting = replace(meeting, in_jit=True)
    if box.kind == LOGICALLY_PARTITIONED:
        return meeting, Undecided("logical axis rules decide")
    if meeting.mesh is None:
        return meeting, INERT
    return meeting, meeting.judge(box_names(box), shape_known(unboxed(box)))


def box_meeting(interpreter: Evaluator, box: Value) -> Meeting:
    """The mesh that the names of a box meet: its own, or that of `jax.set_mesh`."""
    return Meeting.linen(
        interpreter, mesh_of(box.fields.get("mesh")) if isinstance(box, LibraryObject) else None
    )


def box_names(box: Value) -> Names:
    """The names of a box; no names for a plain array, unknown ones for an unknown value."""
    if isinstance(box, LibraryObject) and is_box(box):
        return names_of(box.fields.get("names"))
    return Names(None if isinstance(box, Array) else Unknown("the initializer is not known"))


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
