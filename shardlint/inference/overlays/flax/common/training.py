"""`flax.training.train_state.TrainState`.

From `flax.training.train_state` 0.12.8. It is a dataclass from which programs derive their own: a node with
its step, its parameters and its optimizer's state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    Native,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.optax.states import (
    TRANSFORMATION,
    added,
    like,
    state_after,
    stepped,
)
from shardlint.inference.overlays.pytrees.nodes import with_parts
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import UNKNOWN

TRAIN_STATE = "flax.training.train_state.TrainState"
#: Parameters under this key are replaced by their gradients.
_OVERWRITTEN = "_overwrite_with_gradient"
_STATIC = LibraryObject("dataclasses.field", {"pytree_node": Const(False)})


def train_state_class() -> ClassValue:
    """Return `TrainState` as a base class."""
    create = LibraryObject("builtins.classmethod", {"function": Native("TrainState.create", _create)})
    apply = Native("TrainState.apply_gradients", _apply_gradients, External(TRAIN_STATE))
    fields = {"step": None, "apply_fn": _STATIC, "params": None, "tx": _STATIC, "opt_state": None}
    bases = (External(TRAIN_STATE), External("flax.struct.PyTreeNode"))
    return ClassValue("TrainState", bases, {"create": create, "apply_gradients": apply}, dict(fields))


def _construct(call: Call) -> Value:
    """``TrainState(step=, apply_fn=, params=, tx=, opt_state=)``."""
    return call.interpreter.call(
        train_state_class(), list(call.args), dict(call.kwargs), call.place, call.opaque
    )


def _create_plain(call: Call) -> Value:
    return _create(replace(call, args=[train_state_class(), *call.args]))


def _create(call: Call) -> Value:
    """``TrainState.create(*, apply_fn, params, tx, **kwargs)`` of a class."""
    cls, *others = call.args
    params, tx = call.kwargs.get("params"), call.kwargs.get("tx")
    if call.opaque or others or params is None or tx is None:
        return call.unknown("the parameters are not known")
    interpreter, place = call.interpreter, call.place
    state: Value = call.unknown("what state it has is not known")
    known = isinstance(tx, LibraryObject) and tx.kind == TRANSFORMATION
    if known and not (isinstance(params, DictValue) and _OVERWRITTEN in (params.items or ())):
        # An optimizer of another library does not change the parameters either.
        state = interpreter.call(interpreter.attribute(tx, "init", place), [params], {}, place)
    return interpreter.call(cls, [], {"step": Const(0), **call.kwargs, "opt_state": state}, place)


def _apply_gradients(call: Call) -> Value:
    """``state.apply_gradients(grads=...)``: a state like this one, with the passed fields replaced."""
    state = call.args[0]
    if not isinstance(state, Instance) or call.opaque:
        return call.unknown("the state is not known")
    attributes, changes = (
        state.attributes,
        {name: value for name, value in call.kwargs.items() if name != "grads"},
    )
    step = attributes.get("step")
    params = attributes.get("params", Unknown("the parameters are not known"))
    grads, held = call.kwargs.get("grads"), attributes.get("opt_state", Unknown("not known"))
    updates: Value = Unknown("no gradients")
    varies = UNKNOWN
    if grads is not None:
        updates, varies = stepped(call.interpreter, grads, (held, params), attributes.get("tx"))
    made: dict[str, Value] = {
        "params": added(call.interpreter, params, updates),
        "opt_state": state_after(call.interpreter, held, varies),
        "step": like(step) if isinstance(step, Array) else Unknown("how many steps it took"),
    }
    return with_parts(state, {**made, **changes})


BASES: dict[str, Callable[[], ClassValue]] = {TRAIN_STATE: train_state_class}
TABLE: dict[str, Callable[[Call], Value]] = {
    TRAIN_STATE: _construct,
    f"{TRAIN_STATE}.create": _create_plain,
}
