"""Orbax: restored arrays have the structure, dtypes and shardings of a target.

From Orbax 0.12.8. A leaf of the target is an array or a `jax.ShapeDtypeStruct`; without a sharding, that of
the file counts. An array that is on one device has one: what is restored is on that device, too.
`PyTreeCheckpointer` takes the structure of its ``item``, and the rest from ``restore_args``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
    Devices,
    External,
    LibraryObject,
    Native,
    Reader,
    ShardingValue,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.flax.common.metadata import map_tree
from shardlint.inference.overlays.jax.sharding.made_arrays import is_alone
from shardlint.inference.overlays.jax.sharding.movement import certain_layout, layout, split_by
from shardlint.inference.overlays.jax.sharding.placement_check import place_array
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_arrays
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.model.memory_uses import SAVED_ALONE, SAVED_SPLIT, RestoreUse
from shardlint.model.spans import Place

_RESTORER, _ARGS, _COMPOSITE, _RESTORE_ARGS, _LEAF_ARGS = (
    f"orbax.checkpoint.{name}"
    for name in ("Checkpointer", "args", "args.Composite", "restore_args", "RestoreArgs")
)


def _restored(call: Call, target: Value | None, place: Place) -> Value:
    """Return the tree that a target describes, as it is restored; its shardings are judged. None: it is not
    known whether there is a target."""
    if target is None or is_none(target):
        if target is not None:
            _note_restored(call, place, [])
        return Unknown("what a checkpoint holds")
    homeless: list[tuple[Array, str]] = []

    def restore(array: Array, path: str) -> Value:
        if array.numpy:
            return replace(array, made=place)
        home = array.sharding if array.struct else array.committed
        plain = Array(array.shape, array.dtype, name=array.name)
        subject = f"`{array.name or 'target'}{path}`"
        if isinstance(home, ShardingValue):
            return place_array(call.interpreter, (Api.CALLBACK,), plain, home, place, subject)
        if home is None and array.shape and is_alone(array):
            homeless.append((array, subject))
            return replace(plain, made=place)
        return plain

    restored = map_arrays(target, restore)
    if homeless:
        _note_restored(call, place, homeless)
    return restored


def _note_restored(call: Call, place: Place, arrays: Sequence[tuple[Array, str]]) -> None:
    """Record arrays of a target that have no sharding, or that there is no target, if it is known which of
    both layouts they are restored in."""
    alone = {not array.struct or array.committed is not None for array, _ in arrays}
    if call.interpreter.context.in_jit is not False or alone == {True, False}:
        return
    if alone == {True} and call.interpreter.context.mesh is not None:
        return
    sizes = [(array_bytes(array.shape or (), array.dtype) or 0, subject) for array, subject in arrays]
    call.interpreter.record(
        RestoreUse(
            place=place,
            environment=call.interpreter.environment(),
            verdict=Accepted(),
            subject=max(sizes)[1] if sizes else None,
            total=sum(size for size, _ in sizes),
            number=len(sizes),
            alone=alone == {True},
            shapes=tuple({array.shape for array, _ in arrays if array.shape and array.shape[1:]}),
        )
    )


def _of_args(call: Call, args: Value | None, place: Place) -> Value:
    """Return what ``args=`` restores."""
    if not isinstance(args, LibraryObject):
        return Unknown("what a checkpoint holds")
    if args.kind == _COMPOSITE:
        return LibraryObject(
            _COMPOSITE, {name: _of_args(call, one, place) for name, one in args.fields.items()}, call.place
        )
    return _restored(call, args.fields.get("target"), place)


def _restore(call: Call) -> Value:
    """``checkpointer.restore(directory, target)``, ``manager.restore(step, args=)``."""
    if call.opaque:
        return Unknown("what a checkpoint holds")
    receiver = call.args[0]
    made = receiver.fields["class"] if isinstance(receiver, LibraryObject) else NONE
    name = made.name.rpartition(".")[2] if isinstance(made, External) else ""
    if given := call.kwargs.get("args"):
        return _of_args(call, given, call.place_of(None, "args"))
    if name == "StandardCheckpointer":
        key = next((key for key in ("target", "item") if key in call.kwargs), None)
        target = call.kwargs[key] if key else call.args[2] if len(call.args) > 2 else NONE
        at = call.place_of(2, "") if len(call.args) > 2 else call.place
        return _restored(call, target, call.place_of(None, key) if key else at)
    if name == "PyTreeCheckpointer" and (rules := call.kwargs.get("restore_args")):
        return _restored(call, _target_of(rules), call.place_of(None, "restore_args"))
    if name == "PyTreeCheckpointer" and len(call.args) <= 3 and set(call.kwargs) <= {"item"}:
        return _restored(call, NONE, call.place)
    return Unknown("what a checkpoint holds")


def _save(call: Call) -> Value:
    """``checkpointer.save(directory, state)``, ``manager.save(step, args=)``: record that some array that is
    saved lies on one device, or is split."""
    args = call.kwargs.get("args")
    saved = _saved(args) if args is not None else [*call.args[2:3], *call.kwargs.values()]
    arrays = [array for tree in saved for array in arrays_in(tree)]
    alone = any(one.shape and one.made is not None and one.committed is None for one in arrays)
    if alone and call.interpreter.context.in_jit is False and call.interpreter.context.mesh is None:
        record_of_value(call.interpreter, SAVED_ALONE, Accepted(), call.place)
    if any(_is_split(array) for array in arrays):
        record_of_value(call.interpreter, SAVED_SPLIT, Accepted(), call.place)
    return Unknown("whether it was saved")


def _is_split(array: Array) -> bool:
    home = array.committed
    known = layout(home) if isinstance(home, ShardingValue) else certain_layout(array)
    return known is not None and bool(split_by(*known))


def _saved(args: Value) -> list[Value]:
    """Return the trees that ``args=`` saves."""
    if not isinstance(args, LibraryObject):
        return []
    if args.kind == _COMPOSITE:
        return [tree for one in args.fields.values() for tree in _saved(one)]
    return [args.fields["saved"]] if "saved" in args.fields else []


def _save_args(call: Call) -> Value:
    """``StandardSave(item)``, ``PyTreeSave(item)``."""
    item = call.argument(0, "item")
    return LibraryObject(_ARGS, {} if item is None or call.opaque else {"saved": item}, call.place)


def _target_of(rules: Value) -> Value | None:
    """Return the tree that ``restore_args=`` describe: made by `construct_restore_args`, or one by one."""
    if isinstance(rules, LibraryObject) and rules.kind == _RESTORE_ARGS:
        return rules.fields.get("target")
    return map_tree(_described, rules)


def _described(leaf: Value) -> Value:
    """Return the array that the restore arguments of a leaf describe; its shape is in the file."""
    if not isinstance(leaf, LibraryObject) or leaf.kind != _LEAF_ARGS:
        return Unknown("restored as arguments say that are not followed")
    kind, sharding = leaf.fields["restore_type"], leaf.fields["sharding"]
    if isinstance(kind, External) and kind.name == "numpy.ndarray":
        return Array(None, numpy=True)
    if isinstance(sharding, ShardingValue):
        return Array(None, struct=True, sharding=sharding)
    return Unknown("restored as arguments say that are not followed")


def _leaf_args(call: Call) -> Value:
    """``RestoreArgs(restore_type=None, dtype=None)``, ``ArrayRestoreArgs(sharding=…)``."""
    kind = call.argument(0, "restore_type") or NONE
    if call.opaque or len(call.args) > 1 or not set(call.kwargs) <= {"restore_type", "dtype", "sharding"}:
        return call.unknown("restored as arguments say that are not followed")
    sharding = call.kwargs.get("sharding", NONE)
    return LibraryObject(_LEAF_ARGS, {"restore_type": kind, "sharding": sharding}, call.place)


def _attribute(interpreter: Evaluator, value: Value, name: str, place: Place) -> Value:
    """Read an attribute of a checkpointer: all methods but one leave their arguments as they are."""
    if name in ("restore", "save"):
        return Bound(Native(name, _restore if name == "restore" else _save), value)
    return Reader(f"`{name}` of a checkpointer")


def _restorer(call: Call) -> Value:
    return LibraryObject(_RESTORER, {"class": External(call.name)}, call.place)


def _standard(call: Call) -> Value:
    """``StandardRestore(item, strict=, support_layout=)``."""
    target = call.argument(0, "item") or NONE
    return LibraryObject(_ARGS, {} if call.opaque else {"target": target}, call.place)


def _pytree(call: Call) -> Value:
    """``PyTreeRestore(item, restore_args=)``."""
    rules = call.argument(1, "restore_args") or NONE
    target = NONE if is_none(rules) else _target_of(rules)
    return LibraryObject(_ARGS, {} if target is None or call.opaque else {"target": target}, call.place)


def _composite(call: Call) -> Value:
    """``Composite(state=StandardRestore(target))``."""
    if call.opaque or call.args:
        return call.unknown("items that are not known")
    return LibraryObject(_COMPOSITE, dict(call.kwargs.items()), call.place)


def _restore_args(call: Call) -> Value:
    """``construct_restore_args(target, sharding_tree=None)``."""
    target, shardings = call.argument(0, "target"), call.argument(1, "sharding_tree")
    if target is None or call.opaque or not (shardings is None or is_none(shardings)):
        return call.unknown("restored as arguments say that are not followed")
    return LibraryObject(_RESTORE_ARGS, {"target": target}, call.place)


def _struct(call: Call) -> Value:
    """``to_shape_dtype_struct(x, dtype=None)``: with the sharding of an array."""
    array = call.argument(0, "x")
    if not isinstance(array, Array) or len(call.args) + len(call.kwargs) > 1:
        return call.unknown("a struct that is not followed")
    home = array.committed if not array.struct else array.sharding
    kept = home if isinstance(home, ShardingValue) else None
    alone = not array.struct and not array.numpy and home is None and array.made is not None
    eager = call.interpreter.context.in_jit is False and call.interpreter.context.mesh is None
    device = Devices(()) if alone and eager else None
    return replace(array, struct=True, numpy=False, sharding=kept, committed=device)


def _item(call: Call) -> Value:
    receiver, key = call.args
    text = getattr(key, "value", None)
    found = receiver.fields.get(text) if isinstance(receiver, LibraryObject) and text is not None else None
    return Unknown("an item of a checkpoint") if found is None else found


TABLE: dict[str, Callable[[Call], Value]] = {
    **{
        f"orbax.checkpoint.{name}": _restorer
        for name in ("StandardCheckpointer", "PyTreeCheckpointer", "Checkpointer", "AsyncCheckpointer")
    },
    "orbax.checkpoint.CheckpointManager": _restorer,
    **{f"orbax.checkpoint.args.{name}": _save_args for name in ("StandardSave", "PyTreeSave")},
    "orbax.checkpoint.args.StandardRestore": _standard,
    "orbax.checkpoint.args.PyTreeRestore": _pytree,
    "orbax.checkpoint.args.Composite": _composite,
    "orbax.checkpoint.RestoreArgs": _leaf_args,
    "orbax.checkpoint.ArrayRestoreArgs": _leaf_args,
    "orbax.checkpoint.checkpoint_utils.construct_restore_args": _restore_args,
    "orbax.checkpoint.utils.to_shape_dtype_struct": _struct,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {(_COMPOSITE, "__getitem__"): _item}
READERS = {_RESTORER: _attribute}
