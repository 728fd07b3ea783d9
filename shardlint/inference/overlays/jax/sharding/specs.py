"""`PartitionSpec`: construction, attributes and operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.inference.domain.iteration import spec_items
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    Const,
    DictValue,
    External,
    Integer,
    ListValue,
    MeshValue,
    Native,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.release_queries import holds
from shardlint.inference.overlays.jax.sharding.mesh_arguments import as_thing
from shardlint.inference.overlays.jax.sharding.placement_check import junk_of, spec_junk, text_of
from shardlint.inference.overlays.recording import record_call, record_of_value
from shardlint.inference.overlays.witness_values import call_of, data_of
from shardlint.laws.core.values import Entry, Junk, Marker, Name, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Verdict
from shardlint.laws.core.witness_data import NO_SPEC, call_data
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.laws.placement.partition_spec import Axes, Kind, equal_specs, judge_spec, judge_sum
from shardlint.laws.versions.api_changes import SPEC_EQUALS_TUPLE, SPEC_IS_TUPLE
from shardlint.laws.versions.era import since
from shardlint.model.spans import LookedUp, Place
from shardlint.model.uses import LogicalAxesUse, SpecUse

SPEC = "jax.sharding.PartitionSpec"
UNCONSTRAINED = f"{SPEC}.UNCONSTRAINED"
#: The operations by which the devices' parts of an unreduced array make the whole.
_KIND = "jax.sharding.UnreducedKind."
KINDS = {f"{_KIND}{name}": name for name in ("sum", "max", "min")}


# -- making specs -------------------------------------------------------------------------------------


def is_unconstrained(value: Value) -> bool:
    """Return whether a value is the marker `PartitionSpec.UNCONSTRAINED`."""
    return isinstance(value, External) and value.name == UNCONSTRAINED


def entry_of(value: Value) -> Entry:
    """Return one argument of ``P(...)`` as an entry: an axis, axes, None, a marker, or Junk."""
    if isinstance(value, Tuple | ListValue):
        return Unknown("a list that is not known") if value.items is None else tuple(map(_part, value.items))
    return _part(value)


def _part(value: Value) -> Name:
    if isinstance(value, Const):
        if value.value is None or isinstance(value.value, str):
            return value.value
        return junk_of(value)
    if is_unconstrained(value):
        return Marker.UNCONSTRAINED
    if isinstance(value, Tuple | ListValue) and value.items is not None:
        return tuple(map(_part, value.items))
    if isinstance(value, SetValue | DictValue):
        hashable = isinstance(value, SetValue) and value.frozen
        kind = "dict" if isinstance(value, DictValue) else "frozenset" if hashable else "set"
        return Junk(text_of(value), kind, hashable=hashable, data=data_of(value))
    if isinstance(value, SpecValue):
        return spec_junk(value.spec, falsy=not value.spec.entries)
    if isinstance(value, MeshValue | ShardingValue):
        what = "Mesh" if isinstance(value, MeshValue) else "NamedSharding"
        return Junk("a mesh" if what == "Mesh" else "a sharding", what)
    if isinstance(value, Integer):
        return Unknown("a number that is not known")
    return value if isinstance(value, Unknown) else Unknown("an entry that is not known")


def _axes(value: Value | None) -> Axes | None:
    """Return the axes of ``unreduced=`` or ``reduced=``; None if the argument is missing."""
    if value is None:
        return None
    if not isinstance(value, SetValue):
        return as_thing(value)
    strings = value.items is not None and all(item is None or isinstance(item, str) for item in value.items)
    return value.items if strings and value.items is not None else Unknown("axes that are not known")


def _names(axes: Axes | None) -> frozenset[str]:
    return (
        frozenset(axis for axis in axes if isinstance(axis, str))
        if isinstance(axes, frozenset)
        else frozenset()
    )


def _kind(value: Value | None) -> Kind | None:
    """Return the operation of ``unreduced_kind=``; None if the argument is missing."""
    if value is None or is_none(value):
        return None
    return KINDS.get(value.name, Unknown("another kind")) if isinstance(value, External) else as_thing(value)


def partition_spec(call: Call) -> Value:
    """``PartitionSpec(*entries, unreduced=, reduced=)``; since 0.11.0 ``unreduced_kind=`` too."""
    if call.opaque:
        return Unknown("a spec of unknown length")
    unknown = [name for name in call.kwargs if name not in ("unreduced", "reduced", "unreduced_kind")]
    if "unreduced_kind" in call.kwargs and not since("0.11.0"):
        unknown.append("unreduced_kind")
    for keyword in unknown:
        detail = f"it has no argument `{keyword}`"
        record_call(call, Rejected(Cause.BAD_ARGUMENT, "TypeError", "P()", detail=detail), function=SPEC)
        return Unknown("JAX rejects this spec")
    unreduced, reduced = _axes(call.kwargs.get("unreduced")), _axes(call.kwargs.get("reduced"))
    spec = Spec(tuple(map(entry_of, call.args)), _names(unreduced), _names(reduced))
    twice = _looked_up_twice(call.args)
    places = tuple(
        _origin(twice.get(i)) or entry_place(arg, call.arg_places.get(i)) for i, arg in enumerate(call.args)
    )
    kind = _kind(call.kwargs.get("unreduced_kind"))
    verdict = judge_spec(spec, unreduced=unreduced, reduced=reduced, kind=kind)
    if isinstance(verdict, Accepted):
        for name in twice.values():
            _record_repeated_name(call, name, verdict)
    if isinstance(verdict, Rejected) and verdict.cause is Cause.BAD_ARGUMENT:
        keyword = verdict.detail.partition("=")[0]
        mended: dict[int | str, Value] = {
            keyword: NONE if keyword == "unreduced_kind" else SetValue(frozenset())
        }
        record_call(call, verdict, function=SPEC, place=call.place_of(None, keyword), repaired=mended)
        return Unknown("JAX rejects this spec")
    open_sets = isinstance(unreduced, Unknown) or isinstance(reduced, Unknown)
    # The laws are those of sums.
    open_sets = open_sets or kind not in (None, "sum")
    if open_sets and not isinstance(verdict, Rejected):
        return Unknown("a spec with unknown reduced axes")
    computed = tuple(
        i
        for i, entry in enumerate(spec.entries)
        if (entry in ((), "") or isinstance(entry, Junk))
        and call.interpreter.computes(call.arg_places.get(i))
    )
    return _made(call.interpreter, spec, verdict, call.place, places, computed)


def entry_place(entry: Value, place: Place | None) -> Place | None:
    """Return the place of an entry; for one that was looked up by a name, with the place of the name."""
    if not isinstance(entry, Const) or place is None or place is not entry.origin:
        return place
    name = _origin(entry.key)
    return place if name is None else LookedUp(place, name)


def _looked_up_twice(entries: Sequence[Value]) -> dict[int, Const]:
    """Return the names by which entries were looked up in a table, if an earlier entry has the same name."""
    keys = [entry.key if isinstance(entry, Const) else None for entry in entries]
    return {i: key for i, key in enumerate(keys) if key is not None and key in keys[:i]}


def _origin(name: Const | None) -> Place | None:
    return None if name is None else name.origin


def _record_repeated_name(call: Call, name: Const, verdict: Verdict) -> None:
    """Record a name for two dimensions, which JAX accepts only because the table has no mesh axis for it."""
    call.interpreter.record(
        LogicalAxesUse(
            place=name.origin or call.place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            function=SPEC,
            library="jax",
            mistake=Mistake.REPEATED_NAME,
            text=str(name.value),
        )
    )


def _made(
    interpreter: Evaluator,
    spec: Spec,
    verdict: Verdict,
    place: Place,
    places: tuple[Place | None, ...],
    computed: tuple[int, ...] = (),
) -> Value:
    """Record a spec, and return it in JAX's form."""
    interpreter.record(
        SpecUse(
            place=place,
            environment=interpreter.environment(),
            verdict=verdict,
            spec=spec,
            entry_places=places,
            computed=computed,
        )
    )
    if isinstance(verdict, Rejected):
        return Unknown("JAX rejects this spec")
    normal = verdict.spec if isinstance(verdict, Accepted) and verdict.spec is not None else spec
    return SpecValue(normal, place, places)


# -- operators ----------------------------------------------------------------------------------------


def spec_operation(interpreter: Evaluator, symbol: str, x: Value, y: Value, place: Place) -> Value:
    """Return ``x <symbol> y`` where one of them is a spec, which can be added to specs and to tuples."""
    if symbol != "+":
        return Unknown(f"`{symbol}` on a spec")
    if holds(interpreter, SPEC_IS_TUPLE):
        items = [spec_items(value) if isinstance(value, SpecValue) else as_items(value) for value in (x, y)]
        tuples = isinstance(x, SpecValue | Tuple) and isinstance(y, SpecValue | Tuple)
        first, second = items
        joined = tuples and first is not None and second is not None
        return Tuple((*(first or ()), *(second or ()))) if joined else Unknown("a spec and something else")
    parts = [_addend(value) for value in (x, y)]
    if any(isinstance(part, Unknown) for part in parts):
        return Unknown("a spec and something that is not known")
    left, right = (part for part in parts if not isinstance(part, Unknown))
    verdict = judge_sum(left, right)
    if isinstance(verdict, Rejected):
        calls = (call_of("2 +", (x, y), {}), call_data("2 +", (NO_SPEC, NO_SPEC)))
        record_of_value(interpreter, f"{SPEC}.__add__", verdict, place, *calls)
        return Unknown("JAX rejects this sum")
    if isinstance(verdict, Accepted) and verdict.spec is not None:
        return SpecValue(verdict.spec, place, (*_written(x), *_written(y)))
    return Unknown("a sum that is not known")


def _addend(value: Value) -> Spec | tuple[Entry, ...] | Junk | Unknown:
    """Return an added value in the form of the law."""
    if isinstance(value, SpecValue):
        return value.spec
    if isinstance(value, Tuple):
        return tuple(map(entry_of, value.items))
    return as_thing(value)


def _written(value: Value) -> tuple[Place | None, ...]:
    """Return the places of the entries."""
    if isinstance(value, SpecValue):
        return tuple(value.places)
    return tuple(getattr(item, "origin", None) for item in as_items(value) or ())


def subclassed(interpreter: Evaluator, name: str, place: Place) -> None:
    """Record ``class Q(PartitionSpec)``, which JAX prohibits (`P.__init_subclass__`).

    It does so since the release in which specs are no longer equal to tuples.
    """
    if holds(interpreter, SPEC_EQUALS_TUPLE):
        return
    detail = "a PartitionSpec cannot be subclassed; write a function that returns one"
    verdict = Rejected(Cause.BAD_ARGUMENT, "TypeError", "class", detail=detail)
    calls = (call_data("a class", (base,)) for base in (("constant", SPEC), ("constant", "object")))
    record_of_value(interpreter, SPEC, verdict, place, *calls)


# -- reading specs ------------------------------------------------------------------------------------


def spec_attribute(interpreter: Evaluator, value: SpecValue, name: str, place: Place) -> Value:
    """``spec.name``."""
    if name == "_partitions" or name == "partitions":
        return Tuple(spec_items(value))
    if name in ("unreduced", "reduced"):
        return SetValue(value.spec.unreduced if name == "unreduced" else value.spec.reduced, frozen=True)
    if name in _METHODS:
        return Bound(Native(f"{SPEC}.{name}", _METHODS[name]), value)
    return Unknown(f"`PartitionSpec.{name}`")


def _update(call: Call) -> Value:
    """``spec.update(partitions=, unreduced=, reduced=, unreduced_kind=)``: a new spec, as `P` makes it."""
    spec, partitions, *marked, kind = call.bind(
        "self_", partitions=None, unreduced=None, reduced=None, unreduced_kind=None
    )
    if not isinstance(spec, SpecValue):
        return Unknown("PartitionSpec.update")
    entries: tuple[Value, ...] | None = spec_items(spec)
    if partitions is not None and not is_none(partitions):
        text = partitions.value if isinstance(partitions, Const) else None
        letters = tuple(map(Const, text)) if isinstance(text, str) else None
        entries = (
            spec_items(partitions) if isinstance(partitions, SpecValue) else letters or as_items(partitions)
        )
    if entries is None:
        return Unknown("a spec of unknown length")
    own = (spec.spec.unreduced, spec.spec.reduced)
    sets = [
        SetValue(mine, frozen=True) if given is None or is_none(given) else given
        for given, mine in zip(marked, own, strict=True)
    ]
    kwargs = dict(zip(("unreduced", "reduced"), sets, strict=True))
    if since("0.11.0"):
        own_kind = Const(None) if not spec.spec.unreduced else External(f"{_KIND}sum")
        kwargs["unreduced_kind"] = own_kind if kind is None else kind
    return partition_spec(Call(call.interpreter, SPEC, entries, kwargs, call.place))


def _count(call: Call) -> Value:
    """``spec.count(entry)``: the entry is normalised like those of specs."""
    spec, wanted = call.bind("self_", "value")
    if not isinstance(spec, SpecValue) or wanted is None:
        return Unknown("PartitionSpec.count")
    found = _matches(spec, wanted)
    return Unknown("entries that are not known") if found is None else Const(len(found))


def _index(call: Call) -> Value:
    """``spec.index(entry)``; a missing entry raises a plain ValueError."""
    spec, wanted = call.bind("self_", "value")
    if not isinstance(spec, SpecValue) or wanted is None:
        return Unknown("PartitionSpec.index")
    found = _matches(spec, wanted)
    return Const(found[0]) if found else Unknown("no such entry")


def _matches(held: SpecValue, wanted: Value) -> list[int] | None:
    """Return the dimensions with this entry; None if they are unknown."""
    entry = entry_of(wanted)
    same = [equal_specs(Spec((entry,)), Spec((other,))) for other in held.spec.entries]
    return None if None in same else [i for i, equal in enumerate(same) if equal]


def _swapped(call: Call) -> Value:
    """``spec.to_ct_spec()``: the cotangent of an unreduced array is reduced."""
    (held,) = call.bind("self_")
    if not isinstance(held, SpecValue):
        return Unknown("PartitionSpec.to_ct_spec")
    spec = Spec(held.spec.entries, held.spec.reduced, held.spec.unreduced)
    return SpecValue(spec, held.origin, held.places)


_METHODS: dict[str, Callable[[Call], Value]] = {
    "update": _update,
    "count": _count,
    "index": _index,
    "to_ct_spec": _swapped,
    "to_tangent_spec": lambda call: call.args[0],
}

TABLE: dict[str, Callable[[Call], Value]] = {SPEC: partition_spec}
READERS = {SpecValue: spec_attribute}
