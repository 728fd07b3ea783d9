"""Orbax: restored arrays have the structure, dtypes and shardings of a target.

From Orbax 0.12.8. A leaf of the target is an array or a `jax.ShapeDtypeStruct`; without a sharding, that of
the file counts. `PyTreeCheckpointer` takes the structure of its ``item``, and the rest from ``restore_args``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
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
from shardlint.inference.overlays.jax.sharding.placement_check import place_array
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Api
from shardlint.model.spans import Place

_RESTORER, _ARGS, _COMPOSITE, _RESTORE_ARGS = (
    f"orbax.checkpoint.{name}" for name in ("Checkpointer", "args", "args.Composite", "RestoreArgs")
)


def _restored(call: Call, target: Value | None, place: Place) -> Value:
    """Return the tree that a target describes, as it is restored; its shardings are judged."""
    if target is None or is_none(target):
        return Unknown("what a checkpoint holds")

    def restore(array: Array, path: str) -> Value:
        if array.numpy:
            return array
        home = array.sharding if array.struct else array.committed
        plain = Array(array.shape, array.dtype, name=array.name)
        if not isinstance(home, ShardingValue):
            return plain
        subject = f"`{array.name or 'target'}{path}`"
        return place_array(call.interpreter, (Api.CALLBACK,), plain, home, place, subject)

    return map_arrays(target, restore)


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
        target = call.kwargs[key] if key else call.args[2] if len(call.args) > 2 else None
        return _restored(call, target, call.place_of(None, key) if key else call.place_of(2, ""))
    if name == "PyTreeCheckpointer" and (rules := call.kwargs.get("restore_args")):
        return _restored(call, _target_of(rules), call.place_of(None, "restore_args"))
    return Unknown("what a checkpoint holds")


def _target_of(rules: Value) -> Value | None:
    return rules.fields.get("target") if isinstance(rules, LibraryObject) else None


def _attribute(interpreter: Evaluator, value: Value, name: str, place: Place) -> Value:
    """Read an attribute of a checkpointer: all methods but one leave their arguments as they are."""
    if name == "restore":
        return Bound(Native("restore", _restore), value)
    return Reader(f"`{name}` of a checkpointer")


def _restorer(call: Call) -> Value:
    return LibraryObject(_RESTORER, {"class": External(call.name)}, call.place)


def _standard(call: Call) -> Value:
    """``StandardRestore(item, strict=, support_layout=)``."""
    target = call.argument(0, "item")
    return LibraryObject(_ARGS, {} if target is None or call.opaque else {"target": target}, call.place)


def _pytree(call: Call) -> Value:
    """``PyTreeRestore(item, restore_args=)``."""
    target = _target_of(call.argument(1, "restore_args") or NONE)
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
    return replace(array, struct=True, numpy=False, sharding=kept, committed=None)


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
    "orbax.checkpoint.args.StandardRestore": _standard,
    "orbax.checkpoint.args.PyTreeRestore": _pytree,
    "orbax.checkpoint.args.Composite": _composite,
    "orbax.checkpoint.checkpoint_utils.construct_restore_args": _restore_args,
    "orbax.checkpoint.utils.to_shape_dtype_struct": _struct,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {(_COMPOSITE, "__getitem__"): _item}
READERS = {_RESTORER: _attribute}
