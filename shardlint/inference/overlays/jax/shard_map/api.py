"""`jax.shard_map`, `jax.smap` and the deprecated shard_map: wrappers that run a function on shards."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    Array,
    Bound,
    Const,
    DictValue,
    External,
    Function,
    Integer,
    ListValue,
    MeshValue,
    Native,
    Partial,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_int,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.shard_map.call import run
from shardlint.inference.overlays.jax.shard_map.regions import ANY_FUNCTION, Mapped, mapping
from shardlint.inference.overlays.jax.sharding.placement_check import as_junk, spec_junk, text_of
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import call_of, data_of
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Rejected, Verdict
from shardlint.laws.core.witness_data import ONE_DEVICE, Known
from shardlint.laws.transforms.shard_map import SIGNATURES, judge_signature, judge_smap, not_callable
from shardlint.model.spans import Place

#: Values that cannot be called.
_NO_FUNCTIONS = (
    Const, Integer, Tuple, ListValue, DictValue, SetValue, Array, MeshValue, SpecValue, ShardingValue
)  # fmt: skip
_OLD = "jax.experimental.shard_map.shard_map"
_POSITIONS = {name: position for position, name in enumerate(SIGNATURES[_OLD].positional)}


def _shard_map(call: Call) -> Value:
    """``jax.shard_map(f, /, *, mesh=, in_specs=, out_specs=, axis_names=, check_vma=)``."""
    if call.opaque:
        return call.unknown("the arguments are not known")
    if _refused(call, judge_signature(call.name, len(call.args), call.kwargs)):
        return Unknown("JAX rejects this shard_map")
    return _decorating(call, dict(call.kwargs))


def _smap(call: Call) -> Value:
    """``jax.smap(f, /, *, in_axes=, out_axes=, axis_name=)``: over one axis of the mesh in context."""
    if call.opaque:
        return call.unknown("the arguments are not known")
    if _refused(call, judge_signature(call.name, len(call.args), call.kwargs)):
        return Unknown("JAX rejects this smap")
    name, given = call.kwargs["axis_name"], call.kwargs.get("in_axes")
    axes = Unknown("inferred") if given is None else _plain(given)
    if _refused(call, judge_smap(_plain(name), axes, _plain(call.kwargs["out_axes"]))):
        return Unknown("JAX rejects this smap")
    axis = name.value if isinstance(name, Const) else None
    options: dict[str, Value] = {
        "out_specs": _as_specs(call.kwargs["out_axes"], axis),
        "axis_names": Unknown("an axis that is not known") if axis is None else SetValue(frozenset({axis})),
    }
    if given is not None:
        options["in_specs"] = _as_specs(given, axis)
    return _decorating(call, options)


def _old_shard_map(call: Call) -> Value:
    """`jax.experimental.shard_map.shard_map(f, mesh, in_specs, out_specs, check_rep=)`."""
    if call.opaque:
        return call.unknown("the arguments are not known")
    if _refused(call, judge_signature(call.name, len(call.args), call.kwargs)):
        return Unknown("JAX rejects this shard_map")
    options = {**dict(zip(_POSITIONS, call.args, strict=False)), **call.kwargs}
    if "check_rep" in options:
        options["check_vma"] = options.pop("check_rep")
    return _wrapped(call, options.pop("f"), options)


def _decorating(call: Call, options: dict[str, Value]) -> Value:
    """Wrap the function that is passed by position; without one, return a decorator."""
    function = call.args[0] if call.args else None
    if function is not None and not is_none(function):
        return _wrapped(call, function, options)

    def decorate(inner: Call) -> Value:
        return _wrapped(call, inner.args[0], options) if inner.args else inner.unknown("nothing to wrap")

    return Native(f"{call.name}(...)", decorate)


def _wrapped(call: Call, function: Value, options: dict[str, Value]) -> Value:
    if isinstance(function, _NO_FUNCTIONS) and _refused(call, not_callable(text_of(function))):
        return Unknown("JAX rejects this shard_map")

    def place_of(option: str) -> Place:
        return call.place_of(_POSITIONS.get(option) if call.name == _OLD else None, option)

    mapped = Mapped(call.name, function, options, call.place, place_of)
    native = Native(
        f"shard_map({mapped.title})", lambda inner: run(inner, mapped), wraps=function, origin=call.place
    )
    return call.interpreter.wrapped(native)


def _refused(call: Call, verdict: Verdict) -> bool:
    """Record the call that wraps a function if it is rejected; return whether it is."""
    if not isinstance(verdict, Rejected):
        return False
    # The unknown arguments do not matter here.
    args = [_or_none(arg) for arg in call.args]
    wrong = call_of(call.name, args, {key: _or_none(value) for key, value in call.kwargs.items()})
    signature = SIGNATURES[call.name]
    refused = next(
        (key for key in call.kwargs if key not in (*signature.positional, *signature.keywords)), ""
    )
    place = call.arg_places.get(refused, call.place)
    record_of_value(call.interpreter, call.name, verdict, place, *_witness(call, wrong))
    return True


def _witness(call: Call, wrong: Known) -> tuple[Known, Known]:
    """Return a rejected call and a repaired one; witnesses do not import the old shard_map's module."""
    if call.name == _OLD:
        return None, None
    if call.name == "jax.smap":
        return wrong, call_of(call.name, [ANY_FUNCTION], {"out_axes": Const(0), "axis_name": Const("x")})
    given = (value for value in (*call.args, *call.kwargs.values()) if isinstance(value, MeshValue))
    mesh, whole = next(given, MeshValue(ONE_DEVICE)), SpecValue(Spec())
    return wrong, mapping({"mesh": mesh, "in_specs": whole, "out_specs": whole})


def _or_none(value: Value) -> Value:
    """Return a placeholder that can be written: any function, or None for an unknown value."""
    if isinstance(value, Function | Native | External | Bound | Partial):
        return ANY_FUNCTION
    return Const(None) if data_of(value) is None else value


def _plain(value: Value) -> object:
    """Return a value as a Python object; anything but numbers, strings and containers of them is Junk."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Tuple):
        return tuple(_plain(item) for item in value.items)
    if isinstance(value, ListValue) and value.items is not None:
        return [_plain(item) for item in value.items]
    if isinstance(value, DictValue) and value.items is not None:
        return {key: _plain(item) for key, item in value.items.items()}
    found = as_junk(value)
    return spec_junk(found) if isinstance(found, Spec) else found


def _as_specs(axes: Value, name: object) -> Value:
    """Return the specs that smap makes of axes (`shard_map._axes_to_pspec`)."""
    if is_none(axes):
        return SpecValue(Spec(), origin=getattr(axes, "origin", None))
    if isinstance(axes, Tuple):
        return Tuple(tuple(_as_specs(item, name) for item in axes.items), axes.origin, axes.fields)
    if isinstance(axes, ListValue) and axes.items is not None:
        return ListValue([_as_specs(item, name) for item in axes.items], axes.origin)
    if isinstance(axes, DictValue) and axes.items is not None:
        return DictValue({key: _as_specs(item, name) for key, item in axes.items.items()}, axes.origin)
    number = as_int(axes)
    if number is None or not isinstance(name, str):
        return Unknown("an axis that is not known")
    return SpecValue(Spec((*(None,) * number, name)), origin=getattr(axes, "origin", None))


TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.shard_map": _shard_map,
    "jax.smap": _smap,
    _OLD: _old_shard_map,
}
