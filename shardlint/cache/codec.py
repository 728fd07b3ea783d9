"""Serialization of values for the cache on disk: data only, whoever wrote it.

A document is JSON: the names of its classes, and its parts, each a list of the number of its class and its
fields. A field is a plain value, or ``[n]``, a reference to the earlier part with that number: equal values
are written once. Decoding creates plain values, tuples and the like, and instances of `CLASSES`, which only
hold data; it runs no other code.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Any

from shardlint.model.origins import REMEMBERING, plain
from shardlint.model.spans import Configured, Span, Written

#: The classes allowed in a document, by module: frozen dataclasses, named tuples, enumerations.
CLASSES = {
    "shardlint.model.spans": "LookedUp Span",
    "shardlint.model.findings": (
        "Applicability Confirmation Edit Finding Fix Group Related RootCause Severity"
    ),
    "shardlint.model.uses": (
        "ApiReference ArityUse ArrayUse BareTreeUse CallUse CarryUse CollectiveUse Environment Fact "
        "FileProblem LocalUse LogicalAxesUse MeshUse NameUse OperationUse ParameterUse PartUse PatternUse "
        "Placement ShardingUse SpecUse UnreadVariableUse Use ValueUse"
    ),
    "shardlint.model.memory_uses": (
        "ApartUse CapturedUse CollectedUse ColumnsUse CopiesUse GatherUse IdleUse MadeUse MoveUse "
        "RestoreUse WrittenUse"
    ),
    "shardlint.laws.core.dims": "Expr Quotient Remainder Symbol",
    "shardlint.laws.core.values": "AxisType Failed Junk Marker Mesh Spec Unknown",
    "shardlint.laws.core.array_types": "ArrayType TypeSharding",
    "shardlint.laws.core.verdicts": "Accepted Api Cause Rejected Returned Undecided",
    "shardlint.laws.flax.logical_axes": "Fallback LogicalRule Mistake NotAPair Refused Resolved",
    "shardlint.laws.versions.releases": "Release Target",
}
_MODULES = {name: module for module, names in CLASSES.items() for name in names.split()}

#: Limits on a document's length, on its parts if all references were expanded, and on nesting: beyond them
#: it is neither written nor read.
MAX_LENGTH = 256 * 2**20
MAX_PARTS = 20_000_000
MAX_DEPTH = 300

_PLAIN = (str, int, bool, float, type(None))
_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "frozenset": frozenset,
    "dict": lambda items: dict(zip(items[::2], items[1::2], strict=True)),
    "complex": lambda parts: complex(*parts),
    "bytes": lambda parts: bytes.fromhex(*parts),
    "Written": lambda parts: _written(*parts),
}


class CannotEncode(Exception):
    """A value that cannot be encoded."""


class CannotDecode(Exception):
    """A text that is not a document of this codec."""


def _written(text: object, place: object) -> Written:
    if type(text) is not str or type(place) is not Span:
        raise CannotDecode("a text that is written nowhere")
    return Written(text, place)


def encode(value: Any) -> str:
    """Return a value as a document. Raises CannotEncode."""
    encoder = _Encoder()
    root = encoder.field(value)
    classes, parts = json.dumps(list(encoder.classes)), ",".join(encoder.parts)
    return f'{{"classes":{classes},"root":{json.dumps(root)},"parts":[{parts}]}}'


def decode(text: str) -> Any:
    """Return the value of a document. Raises CannotDecode, and nothing else, for any other text."""
    if len(text) > MAX_LENGTH:
        raise CannotDecode("it is too long")
    try:
        document = json.loads(text)
        makers = [_maker(name) for name in document["classes"]]
        objects: list[Any] = []
        weights: list[tuple[int, int]] = []
        for kind, *fields in document["parts"]:
            weight, depth, values = 1, 1, []
            for one in fields:
                if type(one) is list:
                    (number,) = one
                    if number < 0:
                        raise CannotDecode("a part that is not before it")
                    weight, depth = weight + weights[number][0], max(depth, 1 + weights[number][1])
                    values.append(objects[number])
                else:
                    values.append(one)
            if weight > MAX_PARTS or depth > MAX_DEPTH:
                raise CannotDecode("it has too many parts, or too deep ones")
            objects.append(makers[kind](values))
            weights.append((weight, depth))
        root = document["root"]
        return objects[root[0]] if type(root) is list else root
    except CannotDecode:
        raise
    except Exception as error:
        raise CannotDecode(f"{type(error).__name__}: {error}") from None


class _Encoder:
    def __init__(self) -> None:
        self.classes: dict[str, int] = {}
        self.parts: list[str] = []
        self._numbers: dict[str, int] = {}
        #: By identity; the values are retained, so that no other can reuse an identity.
        self._known: dict[int, tuple[Any, list[int]]] = {}

    def field(self, value: Any) -> Any:
        """Return a value as a field of another."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is Configured:
            return str(value)
        if kind in REMEMBERING:
            return plain(value)
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, self._part(kind, value))
        return known[1]

    def _part(self, kind: type, value: Any) -> list[int]:
        if kind is tuple or kind is list:
            name, items = kind.__name__, value
        elif kind is frozenset:
            # Sorted: the iteration order of sets differs between processes.
            name, items = "frozenset", sorted(value, key=repr)
        elif kind is dict:
            name, items = "dict", [part for pair in value.items() for part in pair]
        elif kind is complex:
            name, items = "complex", (value.real, value.imag)
        elif kind is bytes:
            name, items = "bytes", (value.hex(),)
        elif kind is Written:
            name, items = "Written", (str(value), value.place.resolve())
        else:
            name = kind.__name__
            unknown = known_class("Unknown")
            if known_class(name) is not kind and unknown is not None and kind.__base__ is unknown:
                # An object that only the evaluator distinguishes is unknown to every reader.
                kind, name = unknown, "Unknown"
            if known_class(name) is not kind:
                raise CannotEncode(f"{kind.__module__}.{kind.__qualname__}")
            items = [value.value] if isinstance(value, Enum) else _fields_of(kind, value)
        number = self.classes.setdefault(name, len(self.classes))
        text = json.dumps([number, *map(self.field, items)], separators=(",", ":"))
        if text not in self._numbers:
            self._numbers[text] = len(self.parts)
            self.parts.append(text)
        return [self._numbers[text]]


def _fields_of(kind: type, value: Any) -> Iterable[Any]:
    return value if issubclass(kind, tuple) else [getattr(value, name) for name in _names(kind)]  # type: ignore[arg-type]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind) if field.init)


@cache
def known_class(name: str) -> type | None:
    """Return the class of this name if a document may hold it, imported when it is first needed."""
    module = _MODULES.get(name)
    return None if module is None else getattr(importlib.import_module(module), name, None)


@cache
def _maker(name: str) -> Callable[[list[Any]], Any]:
    if name in _MAKERS:
        return _MAKERS[name]
    one = known_class(name)
    if one is None:
        raise CannotDecode(f"no class is called {name}")
    if dataclasses.is_dataclass(one):
        names = _names(one)
        return lambda values: one(**dict(zip(names, values, strict=True)))
    return lambda values: one(*values)
