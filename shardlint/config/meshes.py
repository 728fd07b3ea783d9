"""Mesh syntax of the configuration and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shardlint.config.errors import ConfigError
from shardlint.config.keys.value_kinds import At, Kind, Schema, whole

if TYPE_CHECKING:
    from shardlint.laws.core.values import AxisType, Mesh

#: The key for the types of a mesh's axes: one for all, or one for each.
_TYPES = "axis-types"
_KINDS = {"auto": "Auto", "explicit": "Explicit"}

#: JSON Schema cannot count, so it spells out this many axes.
_MOST_COUNTED = 8


def parse_mesh(text: str) -> Mesh:
    """Read ``data=2,model=4``. Raises ConfigError."""
    sizes: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, size = part.partition("=")
        if not equals or not name.strip() or not size.strip().isdigit() or name.strip() in sizes:
            raise ConfigError(f'a mesh is written "data=2,model=4", not "{text}"')
        sizes[name.strip()] = int(size)
    return _mesh(sizes, At((f'mesh "{text}"',)))


def _meshes(value: Any, at: At) -> tuple[tuple[tuple[str, Mesh], ...], frozenset[str]]:
    """Return the meshes by name, and the names of those with configured axis types."""
    if not isinstance(value, dict):
        raise at.must_be("a table of meshes, such as v5e-256 = { data = 16, model = 16 }", value)
    meshes = tuple((name, _mesh(sizes, at / name)) for name, sizes in value.items())
    return meshes, frozenset(name for name, sizes in value.items() if _TYPES in sizes)


def _mesh(table: Any, at: At) -> Mesh:
    sizes = {name: size for name, size in table.items() if name != _TYPES} if isinstance(table, dict) else {}
    if not sizes:
        example = "{ data = 16, model = 16 }"
        raise ConfigError(f'"{at}" must give each axis its size, such as {example}', at.path)
    from shardlint.laws.core.values import Mesh

    counts = tuple(whole(size, at / name) for name, size in sizes.items())
    return Mesh(tuple(sizes), counts, _axis_types(table.get(_TYPES, "auto"), len(counts), at / _TYPES))


def _axis_types(value: Any, count: int, at: At) -> tuple[AxisType, ...]:
    from shardlint.laws.core.values import AxisType

    words = value if isinstance(value, list) else [value] * count
    if len(words) != count or not all(isinstance(word, str) and word.lower() in _KINDS for word in words):
        raise ConfigError(f'"{at}" must be "auto" or "explicit", or one of them for each axis', at.path)
    return tuple(AxisType(_KINDS[word.lower()]) for word in words)


def _schema() -> Schema:
    kind: Schema = {"type": "string", "pattern": "^([aA][uU][tT][oO]|[eE][xX][pP][lL][iI][cC][iI][tT])$"}
    counted = [
        {
            "required": [_TYPES],
            "minProperties": axes + 1,
            "maxProperties": axes + 1,
            "properties": {_TYPES: {"type": "array", "minItems": axes, "maxItems": axes, "items": kind}},
        }
        for axes in range(1, _MOST_COUNTED + 1)
    ]
    mesh: Schema = {
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": 1},
        "properties": {_TYPES: {"type": ["string", "array"]}},
        "anyOf": [
            {"not": {"required": [_TYPES]}, "minProperties": 1},
            {"required": [_TYPES], "minProperties": 2, "properties": {_TYPES: kind}},
            *counted,
        ],
    }
    return {"type": "object", "additionalProperties": mesh}


MESHES = Kind("a table of meshes: the size of each axis, and `axis-types`", _meshes, _schema, dict)
