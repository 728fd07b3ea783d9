"""Configurations as trees: what merging them gives, as `OmegaConf.merge` does."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Union

from shardlint.inference.domain.values import Const, Instance, Integer, Unknown, Value, is_none
from shardlint.model.origins import plain_kind
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class Map:
    """A dict of a configuration; ``types`` are the annotations of a structured one's fields, else None."""

    items: dict[Hashable, Node] = field(default_factory=dict)
    types: Mapping[str, str] | None = None


@dataclass(slots=True, eq=False)
class Seq:
    """A list of a configuration."""

    items: list[Node]


@dataclass(frozen=True, slots=True)
class Interpolation:
    """A text with ``${…}``, as it is written."""

    text: str
    place: Place | None = None


#: A leaf is a value of the program; Unknown may stand for a whole tree.
Node = Union[Map, Seq, Interpolation, Value]

MISSING = "???"
_UNKNOWN = Unknown("a configuration that is not known")
#: Names in the structure of an annotation.
_NAME = re.compile(r"Name\('(\w+)'")
_KINDS: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}
_OPTIONAL = frozenset({"Optional", "None"})
_CONTAINERS = frozenset({"List", "list", "Tuple", "tuple", "Sequence", "Dict", "dict"})
_NO_NAME = frozenset({"typing"})


def is_missing(node: Node) -> bool:
    """Return whether a value is still to be given (``???``)."""
    return isinstance(node, Const) and node.value == MISSING


def merged(onto: Node, other: Node) -> Node:
    """Return a new tree: ``other`` merged onto a tree, as `OmegaConf.merge` does."""
    if isinstance(onto, Unknown) or isinstance(other, Unknown):
        return _UNKNOWN
    if not isinstance(other, Map):
        return onto if is_missing(other) else other
    if isinstance(onto, Interpolation):
        return _UNKNOWN
    if not isinstance(onto, Map):
        return other
    if other.types is not None and other.types != onto.types:
        if onto.types is not None or onto.items.keys() - other.types.keys():
            return _UNKNOWN
        onto = Map(
            {key: typed(value, other.types.get(str(key))) for key, value in onto.items.items()}, other.types
        )
    result = dict(onto.items)
    for key, value in other.items.items():
        if onto.types is not None and key not in onto.types:
            return _UNKNOWN
        if key in result and is_missing(value):
            continue
        if key in result and (isinstance(value, Map) or onto.types is None):
            # A typed field stays one: its dict takes other values, and nothing but a dict.
            result[key] = merged(result[key], value)
        else:
            result[key] = value if onto.types is None else typed(value, onto.types[str(key)])
    return Map(result, onto.types)


def typed(node: Node, annotation: str | None) -> Node:
    """Return a value as a field with this annotation holds it, Unknown where it may be another or refused."""
    if annotation is None or isinstance(node, Unknown | Interpolation) or is_missing(node):
        return node
    names = frozenset(_NAME.findall(annotation)) - _NO_NAME
    kinds = names - _OPTIONAL
    if names == {"Any"}:
        return node
    if is_none(node):  # type: ignore[arg-type]
        return node if names & _OPTIONAL else _UNKNOWN
    if isinstance(node, Map):
        return node if node.types is not None and not kinds & _CONTAINERS else _of_container(node, kinds)
    if isinstance(node, Seq):
        return _of_container(node, kinds)
    if isinstance(node, Instance):
        return node if node.cls.members is not None and kinds == {node.cls.name} else _UNKNOWN
    wanted = _KINDS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if isinstance(node, Integer):
        return node if wanted is int else _UNKNOWN
    if not isinstance(node, Const) or wanted is None:
        return _UNKNOWN
    kind = plain_kind(node.value)
    if kind is int and wanted is float:
        # Its origins are those of the integer.
        return Const(node.value * 1.0, node.origin)
    return node if kind is wanted else _UNKNOWN


def _of_container(node: Map | Seq, kinds: frozenset[str]) -> Node:
    """Return a container whose annotation names its kind, and the classes of its items."""
    inner = kinds - _CONTAINERS
    if not kinds & _CONTAINERS or (isinstance(node, Map) != bool(kinds & {"Dict", "dict"})):
        return _UNKNOWN
    items = list(node.items.values()) if isinstance(node, Map) else node.items
    wanted = frozenset(_KINDS[name] for name in inner if name in _KINDS)
    if isinstance(node, Map):
        # The keys have a class as well.
        wanted |= {str} if "str" in inner else frozenset()
    if (inner <= {"Any", "str"} and "Any" in inner) or not inner:
        return node
    if len(inner) > (2 if isinstance(node, Map) else 1) or len(wanted) < len(inner):
        return _UNKNOWN
    if isinstance(node, Map) and not (inner == {"str"} or "str" in inner):
        return _UNKNOWN
    values = wanted - {str} if isinstance(node, Map) and len(inner) == 2 else wanted
    plain = all(isinstance(item, Const) and {plain_kind(item.value)} == values for item in items)
    return node if plain else _UNKNOWN


def at(node: Node, path: list[str]) -> Node | None:
    """Return what stands at a path of keys and indices, None if there is nothing."""
    for step in path:
        if isinstance(node, Map):
            found = node.items.get(step)
            if found is None:
                return None
            node = found
        elif isinstance(node, Seq):
            if not step.isdigit() or int(step) >= len(node.items):
                return None
            node = node.items[int(step)]
        else:
            return node if isinstance(node, Unknown | Interpolation) else None
    return node


def under(path: list[str], node: Node) -> Node:
    """Return a tree that holds another one at a path."""
    for step in reversed(path):
        node = Map({step: node})
    return node
