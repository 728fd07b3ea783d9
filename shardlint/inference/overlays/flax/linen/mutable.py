"""The changed variables that ``module.apply(variables, ..., mutable=...)`` returns beside the output.

From `flax.core.scope.apply` 0.12.8: all variables of each mutable collection. Layers of Flax preserve the
shapes of variables; the program itself may write anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    SetValue,
    Value,
    as_bool,
    as_items,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.linen.module_runs import Mode, Run, current, is_module
from shardlint.inference.overlays.optax.states import like
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import UNKNOWN

#: In `Run.written`: collections of unknown names.
ANY = "*"
_UNKNOWN = Unknown("changed variables")


def note_written(call: Call, collection: Value | None) -> None:
    """Record that the running module may write variables of a collection in a way that is not modelled."""
    module = call.args[0] if call.args else None
    if module is not None and is_module(module):
        current(call.interpreter, module).run.written.add(as_str(collection) or ANY)


def makes_params(mode: Mode, mutable: Value | None) -> bool | None:
    """Return whether a run with this ``mutable=`` may write parameters; None if it is not known.

    Without one, `init` may write all but intermediates, and `apply` nothing.
    """
    if mutable is None or as_bool(mutable) is False:
        return mode is Mode.INIT if mutable is None else False
    names = _names(mutable)
    return None if names is None else "params" in names


def is_mutable_collection(call: Call) -> Value:
    """``module.is_mutable_collection(col)``: known of parameters."""
    module, name = call.args[0], as_str(call.argument(1, "col"))
    known = current(call.interpreter, module).run.makes_params if is_module(module) else None
    return Const(known) if name == "params" and known is not None else call.unknown("the caller decides")


def changed_variables(run: Run | None, mutable: Value | None, captured: Value | None) -> Value:
    """Return the variables of the collections in ``mutable`` that an `apply` returns.

    ``captured``, its ``capture_intermediates``, adds unknown variables.
    """
    names = None if mutable is None or captured is not None else _names(mutable)
    given = run.given.items if run is not None and isinstance(run.given, DictValue) else None
    if run is None or names is None or given is None or ANY in run.written or run.written & set(names):
        return _UNKNOWN
    if run.uncertain or any(name not in given or name in run.made for name in names):
        # A new collection has only variables of known layers of Flax.
        return _UNKNOWN
    return DictValue({name: _changed(given[name], run.changed.get(name, {})) for name in names})


def _changed(collection: Value, changed: Mapping[str, Value]) -> Value:
    """Return a collection after the call: inside shard_map its variables vary as what they are computed
    from."""

    def vary(array: Array, path: str) -> Array:
        after = changed.get(path)
        return array.vary(after.variation if isinstance(after, Array) else UNKNOWN)

    return map_arrays(like(collection), vary)


def _names(mutable: Value) -> tuple[str, ...] | None:
    """Return the collections of a ``mutable=``; None if they are unknown or all."""
    if (one := as_str(mutable)) is not None:
        return (one,)
    if isinstance(mutable, SetValue) and mutable.items is not None:
        return tuple(map(str, mutable.items))
    names = [as_str(item) for item in as_items(mutable) or ()]
    return tuple(name for name in names if name is not None) if names and None not in names else None
