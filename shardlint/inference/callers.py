"""Files that never mention sharding and still matter: what they call does.

A caller's values may be what makes a call go wrong, in a test or a script that only imports the model. By
text alone, as `relevance` does it inside a module: a file matters if it imports a module that matters and
mentions a name that matters there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from shardlint.files.sources import Source, read_source
from shardlint.inference.project import LIBRARIES
from shardlint.inference.relevance import Relevance
from shardlint.inference.syntax import split

_WORD = re.compile(rb"[^\W\d]\w*")
_FIRST = re.compile(rb"\w+")
#: A text's imports; the names of a ``from`` import may go on over lines in parentheses.
_IMPORT = re.compile(rb"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))")
_KEYWORD = re.compile(rb"import[ \t]")


def calling(mentioning: Iterable[Source], others: Mapping[str, bytes]) -> list[Source]:
    """Return the sources, among other files by path, that can reach what the given ones define.

    Modules are told apart by their last name only: one too many costs time, one too few a finding.
    """
    imports = {path: _imported(data) for path, data in others.items()}
    words: dict[str, frozenset[bytes]] = {}
    waiting = [(_module(source), _names(source)) for source in mentioning]
    found: dict[str, Source] = {}
    while waiting:
        module, names = waiting.pop()
        for path, imported in imports.items():
            if path in found or module not in imported:
                continue
            if path not in words:
                words[path] = frozenset(_WORD.findall(others[path]))
            if met := names & words[path]:
                found[path] = source = read_source(path, others[path])
                waiting.append((_module(source), _names(source, met)))
    return list(found.values())


def _imported(data: bytes) -> frozenset[bytes]:
    """The words of a text's import statements: modules and their parts, and what is taken of them.

    Libraries are never read, not even where they are the project.
    """
    found: set[bytes] = set()
    for module, names, modules in _import_statements(data):
        if not _is_library(module):
            found.update(_WORD.findall(module), _WORD.findall(names))
        for name in map(bytes.strip, modules.split(b",")):
            if not _is_library(name):
                found.update(_WORD.findall(name))
    return frozenset(found)


def _import_statements(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The parts of a text's import statements, found by their keyword: most lines hold none."""
    for keyword in _KEYWORD.finditer(data):
        line = data.rfind(b"\n", 0, keyword.start()) + 1
        if (found := _IMPORT.match(data, line)) is not None:
            yield found[1] or b"", found[2] or b"", found[3] or b""


def _is_library(module: bytes) -> bool:
    first = _FIRST.match(module)
    return first is not None and first[0].decode() in LIBRARIES


def _module(source: Source) -> bytes:
    """The last name by which others import a file."""
    path = PurePath(source.path)
    return (path.parent.name if path.stem == "__init__" else path.stem).encode()


def _names(source: Source, imported: frozenset[bytes] = frozenset()) -> frozenset[bytes]:
    """The names that a source binds to what can reach a use of sharding, those it imports among them."""
    taken = frozenset(name.decode() for name in imported)
    bound = (Relevance(split(source.path, cell.index, cell.text).parts, taken).names for cell in source.cells)
    return frozenset(name.encode() for name in taken.union(*bound))
