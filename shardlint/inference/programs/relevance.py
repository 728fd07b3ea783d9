"""Relevant functions: those whose text mentions sharding, or a name bound by a relevant text.

An entry point is worth evaluating only if it can reach a use. This is decided by text: a function is relevant
if it mentions a needle of the prefilter, or a name that a relevant statement binds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shardlint.inference.syntax.file_parts import ClassPart, FunctionPart, Part, Statements
from shardlint.source.lexing import without_prose
from shardlint.source.workspace.prefilter import speaks_of_sharding, speaks_to_shardlint

_WORD = re.compile(r"[^\W\d]\w*")
_BOUND = re.compile(
    r"^\s*(?:(?:async\s+)?def\s+(\w+)|class\s+(\w+)|([\w, ]+?)\s*(?::[^=\n]+)?=(?!=))", re.MULTILINE
)
#: Names so common that they would make everything relevant.
_COMMON = frozenset(
    {"__init__", "__call__", "__post_init__", "setup", "self", "cls", "main", "_", "i", "n", "x", "y"}
)


class Relevance:
    """The relevant names of one module; ``imported`` are names imported from relevant modules."""

    def __init__(self, parts: Iterable[Part], imported: frozenset[str] = frozenset()) -> None:
        waiting = [(_words(text), names, _speaks(text)) for text, names in _texts(parts)]
        self.names = set(imported)
        grown = True
        while grown:
            grown = False
            for words, names, direct in waiting:
                if not names <= self.names and (direct or not self.names.isdisjoint(words)):
                    self.names |= names
                    grown = True


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(without_prose(text)))


def _speaks(text: str) -> bool:
    return speaks_to_shardlint(text) or speaks_of_sharding(without_prose(text))


def _texts(parts: Iterable[Part]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the text of each function, method and group of statements, with the names it binds."""
    for part in parts:
        if isinstance(part, FunctionPart):
            yield part.whole.text, frozenset({part.name}) - _COMMON
        elif isinstance(part, ClassPart):
            yield part.header.text, frozenset({part.name})
            for text, names in _texts(part.body):
                # A relevant method makes its class relevant: creating or calling an object runs it.
                yield text, names | {part.name}
        elif isinstance(part, Statements):
            found = {
                n.strip() for groups in _BOUND.findall(part.unit.text) for g in groups for n in g.split(",")
            }
            yield part.unit.text, frozenset(found) - _COMMON - {""}
