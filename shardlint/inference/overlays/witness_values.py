"""Values as data of a witness: the parts it needs to repeat a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    LibraryObject,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    integer,
)
from shardlint.laws.core.dims import product
from shardlint.laws.core.witness_data import (
    NONE,
    Known,
    array_data,
    call_data,
    constant_data,
    devices_data,
    mesh_data,
    sharding_data,
    spec_data,
    struct_data,
    tagged,
    tuple_data,
)

_OPERAND = "an operand of a witness"


def operand(number: int) -> Value:
    """Return a placeholder for an argument of the function in which a witness makes its call."""
    return LibraryObject(_OPERAND, {"number": integer(number)})


def data_of(value: Value) -> Known:
    """Return an equal value as data, or None if the value is not wholly known."""
    match value:
        case Const():
            return constant_data(value.value)
        case Tuple():
            return tuple_data(map(data_of, value.items))
        case ListValue():
            return None if value.items is None else tagged("list", map(data_of, value.items))
        case SetValue():
            members = None if value.items is None else frozenset(value.items)
            return None if members is None else constant_data(members if value.frozen else set(members))
        case DictValue():
            return None if value.items is None else _dict(value.items)
        case Slice():
            return tagged("slice", map(data_of, (value.start, value.stop, value.step)))
        case SpecValue():
            return spec_data(value.spec)
        case MeshValue():
            return mesh_data(value.mesh)
        case ShardingValue():
            return sharding_data(data_of(value.mesh), data_of(value.spec))
        case Array():
            return _array(value)
        case Devices():
            return (
                devices_data(range(count), value.shape if value.numpy else None)
                if isinstance(count := product(value.shape), int)
                else None
            )
        case External():
            return "constant", value.name
        case LibraryObject(kind=kind) if kind == _OPERAND:
            number = value.fields["number"]
            return ("operand", number.value) if isinstance(number, Const) else None
    return None


def call_of(function: str, args: Iterable[Value], kwargs: Mapping[str, Value | None]) -> Known:
    """Return ``function(*args, **kwargs)`` as data, or None if some argument is not wholly known.

    Keywords that are None are left out.
    """
    given = {key: data_of(value) for key, value in kwargs.items() if value is not None}
    return call_data(function, map(data_of, args), given)


def _dict(items: Mapping[object, Value]) -> Known:
    return tagged("dict", (tuple_data((constant_data(key), data_of(item))) for key, item in items.items()))


def _array(value: Array) -> Known:
    if value.shape is None or value.dtype is None:
        return None
    sharding = NONE if value.sharding is None else data_of(value.sharding)
    if value.struct:
        return struct_data(value.shape, value.dtype, sharding)
    data = array_data(value.shape, value.dtype, value.numpy)
    return data if sharding == NONE else call_data("jax.device_put", (data, sharding))
