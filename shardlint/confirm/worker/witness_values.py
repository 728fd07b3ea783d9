"""The values that tagged data stand for, and calls of functions of the closed list."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from witness_names import TRANSFORMS, constant, function
from witness_steps import Unsupported, member

#: Larger arrays are not made.
MOST_ELEMENTS = 1 << 28
AXIS_TYPES = ("Auto", "Explicit", "Manual")
DTYPES = frozenset(
    """
    bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float16 float32 float64
    bfloat16 complex64 complex128 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz
    float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn
    """.split()
)


def build(data: Any, operands: Sequence[Any] = ()) -> Any:
    """Build a value: plain data stand for themselves, a list for what its tag says of the rest.

    ``operands`` are the arguments of the function in whose body the data stand. Raises Unsupported.
    """
    if isinstance(data, (bool, int, float, str)):
        return data
    if not isinstance(data, list) or not data or not isinstance(data[0], str) or data[0] not in TAGS:
        raise Unsupported("this is no data of a witness")
    try:
        return TAGS[data[0]](operands, *data[1:])
    except _Misfit as reason:
        raise Unsupported(f"a {data[0]} that is none: {reason}") from None


class _Misfit(Exception):
    """Parts that do not fit their tag."""


def _check(fits: bool, what: str) -> None:
    if not fits:
        raise _Misfit(what)


def _plain(kind: type, value: Any, what: str) -> Any:
    _check(type(value) is kind, what)
    return value


def _list(value: Any, kind: type | None = None) -> list[Any]:
    """A list of data, or of one kind of plain ones."""
    _check(isinstance(value, list), "a list is due")
    for item in value if kind is not None else ():
        _plain(kind, item, "a list of one kind is due")  # type: ignore[arg-type]
    return list(value)


def mesh_of(names: Any, sizes: Any, types: Any, abstract: Any) -> Any:
    """Build a mesh on the first fake devices, or without devices."""
    names, sizes, types = tuple(_list(names, str)), tuple(_list(sizes, int)), _list(types, str)
    _check(all(kind in AXIS_TYPES for kind in types), "types of axes")
    if abstract:
        # JAX without axis types cannot yet trace with one; since 0.11.1 they are Explicit by default.
        return jax.sharding.AbstractMesh(sizes, names, axis_types=axis_types_of(types))
    given = types_of(types)
    count = math.prod(sizes)
    _check(0 <= count <= len(jax.devices()), "so many devices")
    return jax.sharding.Mesh(np.array(jax.devices()[:count]).reshape(sizes), names, **given)


def types_of(types: Sequence[str]) -> dict[str, Any]:
    """The ``axis_types`` argument, left out where all are Auto, as every JAX has it."""
    if all(kind == "Auto" for kind in types):
        return {}
    return {"axis_types": axis_types_of(types)}


def axis_types_of(types: Sequence[str]) -> tuple[Any, ...]:
    """Return the axis types with these names."""
    axis_type = member(jax.sharding, "AxisType")
    known = {"Auto": axis_type.Auto, "Explicit": axis_type.Explicit, "Manual": axis_type.Manual}
    return tuple(known[kind] for kind in types)


def spec_of(operands: Sequence[Any], entries: Any, unreduced: Any = (), reduced: Any = ()) -> Any:
    """Build a PartitionSpec."""
    sets = {"unreduced": list(unreduced), "reduced": list(reduced)}
    extra = {key: set(_list(axes, str)) for key, axes in sets.items() if axes}
    return PartitionSpec(*(build(entry, operands) for entry in _list(entries)), **extra)


def array_of(shape: Any, dtype: Any, numpy: Any = True) -> Any:
    """Build an array of ones."""
    return (np if numpy else jnp).ones(_shape(shape), _dtype(dtype))


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(_list(shape, int))
    _check(all(size >= 0 for size in sizes) and math.prod(sizes) <= MOST_ELEMENTS, "a shape")
    return sizes


def _dtype(name: Any) -> Any:
    _check(isinstance(name, str) and name in DTYPES, "a dtype")
    try:
        return jnp.dtype(name)
    except TypeError:
        raise Unsupported(f"{name} is not in JAX {jax.__version__}") from None


def _struct(operands: Sequence[Any], shape: Any, dtype: Any, sharding: Any) -> Any:
    return jax.ShapeDtypeStruct(tuple(_list(shape, int)), _dtype(dtype), sharding=build(sharding, operands))


def _devices(operands: Sequence[Any], ids: Any, shape: Any) -> Any:
    devices, wanted = [_device(operands, i) for i in _list(ids, int)], build(shape)
    return devices if wanted is None else np.array(devices).reshape(wanted)


def _device(operands: Sequence[Any], number: Any) -> Any:
    there = jax.devices()
    _check(type(number) is int and 0 <= number < len(there), "a device")
    return there[number]


def _operand(operands: Sequence[Any], number: Any) -> Any:
    _check(type(number) is int and 0 <= number < len(operands), "an operand")
    return operands[number]


def _all(operands: Sequence[Any], items: Sequence[Any]) -> list[Any]:
    return [build(item, operands) for item in items]


def _dict(operands: Sequence[Any], *pairs: Any) -> dict[Any, Any]:
    items = [build(pair, operands) for pair in pairs]
    _check(all(isinstance(pair, tuple) and len(pair) == 2 for pair in items), "pairs are due")
    return dict(items)


def _slice(operands: Sequence[Any], *parts: Any) -> slice:
    _check(len(parts) == 3, "three parts are due")
    return slice(*_all(operands, parts))


def function_of(body: Any) -> Callable[..., Any]:
    """Build a function: its body is data, in which its arguments are operands."""
    return lambda *arguments, **_: build(body, arguments)


def _call(operands: Sequence[Any], name: Any, args: Any, kwargs: Any) -> Any:
    """Call a function of the closed list."""
    called = function(name)
    return called(*_all(operands, _list(args)), **_keywords(operands, kwargs))


def _apply(operands: Sequence[Any], made: Any, args: Any, kwargs: Any) -> Any:
    """Call what a transform of the closed list makes of a function."""
    _check(isinstance(made, list) and len(made) == 4 and made[0] == "call", "a transform is due")
    _check(isinstance(made[1], str) and made[1] in TRANSFORMS, "a transform is due")
    return build(made, operands)(*_all(operands, _list(args)), **_keywords(operands, kwargs))


def _keywords(operands: Sequence[Any], pairs: Any) -> dict[str, Any]:
    """Build keywords. Whatever they are called, they are data to all but the function they are given to."""
    items = _list(pairs)
    _check(
        all(isinstance(p, list) and len(p) == 2 and isinstance(p[0], str) for p in items), "keywords are due"
    )
    return {key: build(value, operands) for key, value in items}


#: How each tag builds a value, from the operands and the parts.
TAGS: dict[str, Callable[..., Any]] = {
    "tuple": lambda operands, *items: tuple(_all(operands, items)),
    "list": lambda operands, *items: _all(operands, items),
    "set": lambda operands, *items: set(_all(operands, items)),
    "frozenset": lambda operands, *items: frozenset(_all(operands, items)),
    "dict": _dict,
    "slice": _slice,
    "complex": lambda _, real, imag: complex(_plain(float, real, "real"), _plain(float, imag, "imaginary")),
    "bytes": lambda _, text: _plain(str, text, "text").encode("latin-1"),
    "constant": lambda _, name: constant(name),
    "mesh": lambda _, *parts: mesh_of(*parts),
    "spec": spec_of,
    "sharding": lambda operands, mesh, spec: NamedSharding(build(mesh, operands), build(spec, operands)),
    "array": lambda _, *parts: array_of(*parts),
    "struct": _struct,
    "devices": _devices,
    "device": _device,
    "operand": _operand,
    "function": lambda _, body: function_of(body),
    "call": _call,
    "apply": _apply,
}
