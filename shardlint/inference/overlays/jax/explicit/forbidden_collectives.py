"""`jax.sharding.no_collectives`: axes over which a block of code may not communicate (JAX 0.12.0 on)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import LibraryObject, SetValue, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.recording import as_function, record_operation
from shardlint.inference.overlays.jax.explicit.type_conversion import type_of
from shardlint.inference.overlays.jax.sharding.mesh_arguments import as_thing, take
from shardlint.inference.overlays.python.stdlib.environment import decorate
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import call_of
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.propagation.forbidden_collectives import forbidding, reshard

NO_COLLECTIVES = "jax.sharding.no_collectives"


def _no_collectives(call: Call) -> Value:
    """`no_collectives({"model"})`: the axes must be a set (`config._parse_no_collectives`)."""
    (axes,) = take(call, None, ("new_val",))
    if not isinstance(axes, SetValue) and not isinstance(as_thing(axes), Unknown):
        detail = "its axes must be in a set or frozenset"
        verdict = Rejected(Cause.MESH_CONTEXT, "TypeError", "call", detail=detail)
        wrong = call_of(NO_COLLECTIVES, call.args, call.kwargs)
        right = call_of(NO_COLLECTIVES, [SetValue(frozenset({"x"}))], {})
        record_of_value(call.interpreter, NO_COLLECTIVES, verdict, call.place, wrong, right)
        return Unknown("JAX does not take these axes")
    return LibraryObject(NO_COLLECTIVES, {"axes": axes or Unknown("not known")})


def forbidden_axes(manager: LibraryObject) -> frozenset[str]:
    """Return the axes that a `no_collectives` forbids, as far as they are known."""
    axes = manager.fields["axes"]
    items = axes.items if isinstance(axes, SetValue) else None
    return frozenset(item for item in items or () if isinstance(item, str))


def may_reshard(call: Call, tree: Value, result: Value) -> bool:
    """Record arrays that an accepted `reshard` moves over axes where nothing may be; return whether there are
    none.
    """
    if not call.interpreter.context.forbidden:
        return True
    before, after = arrays_in(tree), arrays_in(result)
    if len(before) != len(after):
        return True
    for one, other in zip(before, after, strict=True):
        kind = type_of(one)
        if kind is None or other.typed is None:
            continue
        with forbidding(call.interpreter.context.forbidden):
            verdict = reshard(kind, other.typed)
        if isinstance(verdict, Rejected):
            arguments: list[Value] = [one, SpecValue(other.typed.spec)]
            written = as_function("jax.sharding.reshard")
            record_operation(call.interpreter, call.place, verdict, "reshard", arguments, {}, written)
            return False
    return True


TABLE: dict[str, Callable[[Call], Value]] = {NO_COLLECTIVES: _no_collectives}

CALLS: dict[str, Callable[[Call], Value]] = {NO_COLLECTIVES: decorate}
