"""What training makes of parameters: states of optax's Adam, and `flax.training.train_state.TrainState`.

From optax 0.2 and `flax.training.train_state` 0.12.8. The moments are trees like the parameters, boxes and
all; a `TrainState` is a pytree of its step, parameters and optimizer state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.overlays.flax_metadata import TRAIN_STATE, TRAINED, is_box, map_tree, with_value
from shardlint.inference.values import (
    Array,
    Const,
    LibraryObject,
    Tuple,
    Value,
    is_none,
)
from shardlint.laws.values import Unknown

_TRANSFORMATION = "optax.GradientTransformation"
_MOMENTS = ("count", "mu", "nu")
_COUNT = Array((), "int32")
_ADAM = ("optax.adam", "optax.adamw")


def _like(tree: Value) -> Value:
    """A tree of new arrays with the shapes and boxes of another."""

    def fresh(value: Value) -> Value:
        if isinstance(value, LibraryObject) and is_box(value):
            return with_value(value, fresh(value.fields["value"]))
        if isinstance(value, Array):
            return replace(value, sharding=None, committed=None, struct=False, name=None)
        return Unknown("a leaf that is not known")

    return map_tree(fresh, tree)


def _init(call: Call) -> Value:
    """``tx.init(params)``."""
    tx, params = call.args[0], call.argument(1, "params")
    made = tx.fields.get("makes") if isinstance(tx, LibraryObject) else None
    if params is None or not isinstance(made, Const) or made.value not in _ADAM:
        return call.unknown("what state it has is not known")
    assert isinstance(tx, LibraryObject)
    last = Tuple(()) if "rate" in tx.fields else call.unknown("whether the rate has a schedule")
    if any(name in tx.fields for name in ("mu_dtype", "mask")):
        return call.unknown("moments of another kind")
    moments = Tuple((_COUNT, _like(params), _like(params)), call.place, _MOMENTS)
    decay = (Tuple(()),) if made.value == "optax.adamw" else ()
    return Tuple((moments, *decay, last), call.place)


def _update(call: Call) -> Value:
    """``tx.update(grads, state, params)``: updates like the gradients, and a state like the one given."""
    grads, state = call.argument(1, "updates"), call.argument(2, "state")
    if grads is None or state is None:
        return call.unknown("no gradients")
    return Tuple((_like(grads), state))


def _apply_updates(call: Call) -> Value:
    """``optax.apply_updates(params, updates)``: new parameters like the old ones."""
    params = call.argument(0, "params")
    return call.unknown("no parameters") if params is None else _like(params)


def _create(call: Call) -> Value:
    """``TrainState.create(*, apply_fn, params, tx, **kwargs)``."""
    params, tx = call.kwargs.get("params"), call.kwargs.get("tx")
    if call.opaque or call.args or params is None or tx is None:
        return call.unknown("the parameters are not known")
    interpreter, place = call.interpreter, call.place
    state: Value = call.unknown("what state it has is not known")
    if isinstance(tx, LibraryObject):
        # Another optimizer does nothing to the parameters either.
        state = interpreter.call(interpreter.attribute(tx, "init", place), [params], {}, place)
    return LibraryObject(TRAIN_STATE, {"step": Const(0), **call.kwargs, "opt_state": state}, place)


def _apply_gradients(call: Call) -> Value:
    """``state.apply_gradients(grads=...)``: a state like this one."""
    state = call.args[0]
    if not isinstance(state, LibraryObject):
        return call.unknown("the state is not known")
    changed = {name: value for name, value in call.kwargs.items() if name != "grads"}
    changed = {"params": _like(state.fields["params"]), "step": Unknown("how many steps it took"), **changed}
    return LibraryObject(TRAIN_STATE, {**state.fields, **changed}, state.origin)


def _replace(call: Call) -> Value:
    """``state.replace(**changes)``."""
    state = call.args[0]
    if not isinstance(state, LibraryObject) or call.opaque:
        return call.unknown("the state is not known")
    return LibraryObject(TRAIN_STATE, {**state.fields, **call.kwargs}, state.origin)


def adam(call: Call) -> Value:
    """``optax.adam(learning_rate, ...)``, ``optax.adamw(...)``."""
    fields: dict[str, Value] = {"makes": Const(call.name)}
    rate = call.argument(0, "learning_rate")
    if isinstance(rate, Const) and not is_none(rate):
        fields["rate"] = rate
    given = {name: call.kwargs[name] for name in ("mu_dtype", "mask") if name in call.kwargs}
    if call.opaque or len(call.args) > 1:
        given["mask"] = call.unknown("arguments by position")
    return LibraryObject(_TRANSFORMATION, fields | given, call.place)


TABLE: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(_ADAM, adam),
    "optax.apply_updates": _apply_updates,
    f"{TRAIN_STATE}.create": _create,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (_TRANSFORMATION, "init"): _init,
    (_TRANSFORMATION, "update"): _update,
    (TRAIN_STATE, "apply_gradients"): _apply_gradients,
    (TRAIN_STATE, "replace"): _replace,
}
CHILDREN: dict[str, tuple[str, ...]] = {TRAIN_STATE: TRAINED}
