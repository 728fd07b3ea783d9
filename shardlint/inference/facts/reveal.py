"""``# shardlint: reveal``: the known arrays, specs, shardings and meshes on a line, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    DictValue,
    Instance,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.overlays.object_protocol import delegate
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.placement.array_bytes import array_bytes, text_of_bytes
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.model.spans import Place, Span
from shardlint.model.uses import FileProblem

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The most items of a container, and the most nested containers, that are shown.
_MOST_ITEMS = 8
_MOST_NESTED = 3
_LONGEST_NAME = 40


def reveal(interpreter: Machine, comment: Span, seen: Sequence[tuple[cst.CSTNode, Sequence[Value]]]) -> None:
    """Report the values seen of expressions on a line, and why names are unknown."""
    if interpreter.muted:
        return
    revealed = False
    # Objects and functions are described by their attributes and results.
    parts = {getattr(node, "value", None) or getattr(node, "func", None) for node, _ in seen}
    for node, values in seen:
        place = NodePlace(interpreter.frame.unit, node)
        for value in values:
            words = describe(value)
            if words is None and isinstance(value, Unknown) and isinstance(node, cst.Name):
                words = None if node in parts else f"not known ({value.reason})"
            if words is not None:
                revealed = True
                _report(interpreter, place, f"{_name(place)}: {words}")
    interpreter.revealed.add(comment)
    if not revealed:
        _report(interpreter, comment, "nothing on this line is an array, a spec, a sharding or a mesh")


def _report(interpreter: Machine, place: Place, message: str) -> None:
    interpreter.problems.append(FileProblem("revealed", message, place))


def _name(place: NodePlace) -> str:
    text = " ".join(place.unit.written(place.node).split())
    return f"`{text}`" if len(text) <= _LONGEST_NAME else f"`{text[: _LONGEST_NAME - 3]}...`"


def describe(value: Value, nested: int = 0) -> str | None:
    """Return a value in words; None if it holds no array, spec, sharding or mesh."""
    value = delegate(value)
    match value:
        case Array():
            return _array(value) if nested == 0 else str(_type(value))
        case MeshValue():
            return f"mesh {_mesh(value.mesh)}" if nested == 0 else f"mesh {value.mesh}"
        case SpecValue():
            return str(value.spec)
        case ShardingValue():
            mesh = "an unknown mesh" if isinstance(value.mesh, Unknown) else str(value.mesh.mesh)
            spec = "P(?)" if isinstance(value.spec, Unknown) else str(value.spec.spec)
            return f"NamedSharding of {spec} over {mesh}"
        case Alternatives():
            found = [describe(option, nested + 1) for option in value.options]
            return f"one of {'; '.join(text or '?' for text in found)}" if any(found) else None
        case Tuple() | ListValue() if value.items is not None:
            items = [("", item) for item in value.items]
            return _container("()" if isinstance(value, Tuple) else "[]", items, nested)
        case DictValue() if value.items is not None:
            return _container("{}", [(f"{key!r}: ", item) for key, item in value.items.items()], nested)
        case Instance():
            attributes = [(f"{name}=", item) for name, item in value.attributes.items()]
            arrays = [(name, item) for name, item in attributes if describe(item, nested + 1)]
            return f"{value.cls.name}{_container('()', arrays, nested)}" if nested and arrays else None
    return None


def _container(brackets: str, items: Sequence[tuple[str, Value]], nested: int) -> str | None:
    if nested >= _MOST_NESTED:
        return None
    found = [(label, describe(item, nested + 1)) for label, item in items[:_MOST_ITEMS]]
    if not any(text for _, text in found):
        return None
    parts = [f"{label}{text or '?'}" for label, text in found] + ["..."] * (len(items) > _MOST_ITEMS)
    return f"{brackets[0]}{', '.join(parts)}{',' * (brackets == '()' and len(parts) == 1)}{brackets[1]}"


def _mesh(mesh: Mesh) -> str:
    kinds = sorted(set(mesh.types))
    types = f"{kinds[0]} axes" if len(kinds) == 1 else f"axes {', '.join(mesh.types)}"
    devices = mesh.device_count
    return f"{mesh}: {devices} device{'s' * (devices != 1)}{', abstract' * mesh.abstract}, {types}"


# -- arrays -------------------------------------------------------------------------------------------


def _array(array: Array) -> str:
    known = [str(_type(array))]
    if array.shape is None:
        return f"{known[0]}, of unknown rank"
    known.append(_bytes(array_bytes(array.shape, array.dtype)))
    layout = _layout(array)
    if array.numpy:
        known.append(", a numpy array" if array.numbers is None else f", a numpy array of {array.numbers}")
    elif layout is None:
        known.append("; how it is sharded is not known" if array.typed is None else "")
    else:
        known.append(_on_devices(array, *layout))
    return "".join(known)


def _layout(array: Array) -> tuple[Mesh, Spec] | None:
    """Return the mesh and spec with which the array was placed, else those in its type."""
    sharding = array.sharding
    if sharding is not None and isinstance(sharding.mesh, MeshValue) and isinstance(sharding.spec, SpecValue):
        return sharding.mesh.mesh, sharding.spec.spec
    typed = array.typed
    if typed is None or typed.mesh is None or AxisType.EXPLICIT not in typed.mesh.types:
        return None
    return typed.mesh, typed.spec


def _type(array: Array) -> ArrayType:
    layout = _layout(array)
    if layout is None or array.shape is None:
        return ArrayType(array.shape, array.dtype, None, array.varying)
    spec = layout[1]
    padded = replace(spec, entries=(*spec.entries, *(None,) * (len(array.shape) - len(spec))))
    return ArrayType(array.shape, array.dtype, TypeSharding(layout[0], padded), array.varying)


def _on_devices(array: Array, mesh: Mesh, spec: Spec) -> str:
    assert array.shape is not None
    try:
        shape = shard_shape(mesh, spec, array.shape)
    except (ValueError, ZeroDivisionError):
        return f" on mesh {mesh}"
    each = ArrayType(shape, array.dtype)
    return f" on mesh {mesh}: {each} on each device{_bytes(array_bytes(shape, array.dtype))}"


def _bytes(count: int | None) -> str:
    return "" if count is None else f" ({text_of_bytes(count)})"
