"""`nnx.Optimizer`: variables for the state that a transformation of optax makes from a model's parameters.

From `flax.nnx.training.optimizer` 0.12.8. Each variable of the state has the metadata of its parameter, and
is sharded again when it is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from shardlint.inference.domain.values import Array, Const, External, LibraryObject, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.common.parameter_uses import Owner
from shardlint.inference.overlays.flax.nnx.lifted import map_variables
from shardlint.inference.overlays.flax.nnx.state import state
from shardlint.inference.overlays.flax.nnx.variables import OPTIMIZER, is_variable, make_variable
from shardlint.inference.overlays.optax.states import init_of, updated
from shardlint.laws.core.values import Unknown

_STEP = Array((), "uint32")
#: The parameter of a variable, while its optimizer is made.
_LIKE = "(like)"


def _optimizer(call: Call) -> Value:
    """``nnx.Optimizer(model, tx, wrt=)``, ``nnx.ModelAndOptimizer(model, tx, wrt=nnx.Param)``."""
    model, tx = call.argument(0, "model"), call.argument(1, "tx")
    if model is None or tx is None or call.opaque:
        return call.unknown("what state it has is not known")
    kinds = call.kwargs.get("wrt") or External("flax.nnx.Param")
    params = state(Call(call.interpreter, "flax.nnx.state", [model, kinds], {}, call.place))
    made = init_of(tx)(call, _marked(params))
    opened = map_variables(made, _remake(call, _copies(made)))
    step = LibraryObject("flax.nnx.OptState", {"value": _STEP}, call.place)
    fields = {"step": step, "tx": tx, "opt_state": opened, "wrt": kinds}
    if call.name.endswith("ModelAndOptimizer"):
        fields["model"] = model
    return LibraryObject(OPTIMIZER, fields, call.place)


def _marked(params: Value) -> Value:
    """Return a copy of the parameters, each with a number."""
    count = 0

    def mark(value: Value) -> Value:
        nonlocal count
        if not isinstance(value, LibraryObject) or not is_variable(value):
            return value
        count += 1
        return LibraryObject(value.kind, {**value.fields, _LIKE: Const(count)}, value.origin)

    return map_variables(params, mark)


def _copies(made: Value) -> Counter[object]:
    """Return how many variables a state has of each parameter and shape."""
    counted: Counter[object] = Counter()

    def count(value: Value) -> Value:
        if isinstance(value, LibraryObject) and is_variable(value):
            counted[_kind_of(value)] += 1
        return value

    map_variables(made, count)
    return counted


def _kind_of(value: LibraryObject) -> object:
    """Return a key that variables of one parameter and one shape share."""
    number, array = value.fields.get(_LIKE), value.fields.get("value")
    shape = (array.shape, array.dtype) if isinstance(array, Array) else None
    return (number.value if isinstance(number, Const) else None, shape)


def _remake(call: Call, copies: Counter[object]) -> Callable[[Value], Value]:
    """Create a variable for each array in a state.

    Variables of one parameter and one shape are rejected together: the first is recorded.
    """
    owner = Owner("nnx", call.name.removeprefix("flax."), call.place)
    first: dict[object, Value] = {}

    def remake(value: Value) -> Value:
        if isinstance(value, Array):
            return LibraryObject("flax.nnx.OptArray", {"value": value}, call.place)
        if not isinstance(value, LibraryObject) or not is_variable(value):
            return value
        metadata = {name: item for name, item in value.fields.items() if name not in ("value", "__class__")}
        metadata.pop(_LIKE, None)
        array, known = value.fields["value"], _kind_of(value)
        if "optimizer_sharding" in metadata:
            metadata["out_sharding"] = metadata.pop("optimizer_sharding")
        if not isinstance(array, Array):
            return Unknown("what a variable holds is not known")
        if known not in first:
            first[known] = make_variable(
                call, "flax.nnx.OptVariable", array, metadata, owner, "value", copies[known]
            )
        copy = first[known]
        if isinstance(copy, LibraryObject):
            return LibraryObject(copy.kind, dict(copy.fields), copy.origin)
        return copy

    return remake


def _update(call: Call) -> Value:
    """``optimizer.update(model, grads)``: returns the updates."""
    grads = call.args[-1] if len(call.args) > 1 else None
    return call.unknown("no gradients") if grads is None else updated(grads)


TABLE: dict[str, Callable[[Call], Value]] = {
    "flax.nnx.Optimizer": _optimizer,
    "flax.nnx.ModelAndOptimizer": _optimizer,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {(OPTIMIZER, "update"): _update}
