"""Other methods of linen's modules: copies with changed fields, and branches that call modules.

From `flax.linen.module` and `flax.linen.transforms` 0.12.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.classes import all_fields
from shardlint.inference.domain.values import (
    Array,
    External,
    LibraryObject,
    Partial,
    Tuple,
    Value,
    as_items,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.common.derived_classes import DEFAULT
from shardlint.inference.overlays.flax.linen.lifted import LIFTED
from shardlint.inference.overlays.flax.linen.module_runs import KEY, current, in_module, is_module, key_of


def clone(call: Call) -> Value:
    """``module.clone(**changes)``, ``module.copy(**changes)``: a module with the same fields, without a
    parent."""
    module = call.args[0]
    others = ("_deepclone", "_reset_names", "parent")
    if len(call.args) > 1 or call.opaque or any(name in call.kwargs for name in others):
        return call.unknown("the arguments are not followed")
    if in_module(call.interpreter) or not is_module(module):
        return call.unknown("a module of another is not followed")
    if isinstance(module, LibraryObject):
        fields = dict(module.fields)
    elif module.opaque or module.forgotten:
        return call.unknown("the module is not known")
    else:
        held = {name: module.attributes.get(name, DEFAULT) for name in all_fields(module.cls)}
        fields = {name: value for name, value in held.items() if value != DEFAULT}
    if any(map(is_module, fields.values())) or getattr(module, "kind", None) == LIFTED:
        return call.unknown("modules of a module are not followed")
    if isinstance(module, LibraryObject):
        # What is said of its parameters is said where it was written.
        return LibraryObject(module.kind, {**fields, **call.kwargs}, module.origin or call.place)
    return call.interpreter.call(module.cls, [], {**fields, **call.kwargs}, call.place)


def make_rng(call: Call) -> Value:
    """``module.make_rng(name="params")``: a key of that name."""
    module, name = call.args[0], as_str(call.argument(1, "name")) or "params"
    key = key_of(current(call.interpreter, module).run, name) if is_module(module) else None
    return replace(KEY, origin=call.place).vary(key.variation) if isinstance(key, Array) else KEY


def _branches(call: Call) -> Value:
    """``nn.cond(pred, f, g, module, *operands)`` and ``nn.switch(index, branches, module, *operands)``.

    They are JAX's branches, of functions on the module.
    """
    count = 3 if call.name.endswith("cond") else 2
    if call.kwargs or call.opaque or len(call.args) <= count:
        return call.unknown("the branches are not known")
    chosen, *given = call.args[:count]
    functions = given if count == 3 else as_items(given[0])
    if functions is None:
        return call.unknown("the branches are not known")
    module, *operands = call.args[count:]
    parts = [Partial(function, (module,), ()) for function in functions]
    branches = parts if count == 3 else [Tuple(tuple(parts))]
    same = External(call.name.replace("flax.linen", "jax.lax"))
    return call.interpreter.call(same, [chosen, *branches, *operands], {}, call.place)


TABLE: dict[str, Callable[[Call], Value]] = {f"flax.linen.{name}": _branches for name in ("cond", "switch")}
