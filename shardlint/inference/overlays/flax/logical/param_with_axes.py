"""`flax.linen.partitioning.param_with_axes` and `variable_with_axes`: parameters of the running module.

Their logical axes constrain the value; for checkpoints they are also stored in a collection of their own
(``params_axes``), as metadata without arrays.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import LibraryObject, Value, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.linen.module import linen_param, linen_variable, owner_of
from shardlint.inference.overlays.flax.linen.module_runs import current, flax_state, is_module
from shardlint.inference.overlays.flax.linen.parameters import make_variable
from shardlint.inference.overlays.flax.logical.constraints import with_logical_constraint
from shardlint.model.spans import Place

_OWN = ("axes", "module", "fallback")


def _param_with_axes(call: Call) -> Value:
    """``param_with_axes(name, init_fn, *init_args, axes=None, module=None, **init_kwargs)``."""
    return _with_axes(call, linen_param, "params", call.argument(0, "name"))


def _variable_with_axes(call: Call) -> Value:
    """``variable_with_axes(collection, name, init_fn, *init_args, axes=None, module=None, fallback=...)``."""
    collection = as_str(call.argument(0, "collection"))
    return _with_axes(call, linen_variable, collection, call.argument(1, "name"))


def _with_axes(
    call: Call, make: Callable[[Call], Value], collection: str | None, name: Value | None
) -> Value:
    stack = flax_state(call.interpreter).stack
    module = call.kwargs.get("module")
    if module is None or is_none(module):
        if not stack:
            return call.unknown("no module is known to run")
        module = stack[-1].module
    if not is_module(module):
        return call.unknown("the module is not known")
    kwargs = {key: value for key, value in call.kwargs.items() if key not in _OWN}
    if "collection" in kwargs:
        kwargs["col"] = kwargs.pop("collection")
    places = {key + 1 if isinstance(key, int) else key: place for key, place in call.arg_places.items()}
    made = make(
        Call(call.interpreter, call.name, [module, *call.args], kwargs, call.place, call.opaque, places)
    )
    axes, known = call.kwargs.get("axes"), as_str(name)
    if axes is None or is_none(axes):
        return made
    if collection is not None and known is not None:
        binding, owner = current(call.interpreter, module), owner_of(module, call)
        make_variable(
            call.interpreter,
            binding,
            f"{collection}_axes",
            f"{known}_axes",
            owner,
            lambda: call.unknown("metadata of axes"),
        )
    if isinstance(made, LibraryObject) and make is linen_variable:
        return LibraryObject(
            made.kind, {**made.fields, "value": _constrained(call, made.fields["value"], axes)}
        )
    return _constrained(call, made, axes)


def _constrained(call: Call, value: Value, axes: Value) -> Value:
    given = {"fallback": call.kwargs["fallback"]} if "fallback" in call.kwargs else {}
    where: dict[int | str, Place] = {1: call.place_of(None, "axes")}
    inner = Call(call.interpreter, call.name, [value, axes], given, call.place, False, where)
    return with_logical_constraint(inner)


TABLE: dict[str, Callable[[Call], Value]] = {
    "flax.linen.partitioning.param_with_axes": _param_with_axes,
    "flax.linen.partitioning.variable_with_axes": _variable_with_axes,
}
