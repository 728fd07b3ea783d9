"""Files that never mention sharding and still are relevant, because they call relevant code.

Their values may make a call fail, in a test or a script that only imports the model. As in `relevance`, this
is decided by text: a file is relevant if it imports a relevant module and mentions a relevant name of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from shardlint.inference.programs.module_loader import LIBRARIES
from shardlint.inference.programs.relevance import Relevance
from shardlint.inference.syntax.file_parts import split
from shardlint.source.sources import Source, read_source
from shardlint.source.workspace.module_paths import import_folders

_WORD = re.compile(rb"[^\W\d]\w*")
_FIRST = re.compile(rb"\w+")
#: A text's imports, perhaps in a notebook; the names of a ``from`` import may continue in parentheses.
_IMPORT = re.compile(rb"""[ \t]*"?(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))""")
_KEYWORD = re.compile(rb"import[ \t]")


def calling(
    mentioning: Iterable[Source], others: Mapping[str, bytes], roots: Callable[[str], Iterable[str]]
) -> list[Source]:
    """Return the sources, among other files by path, that can reach the definitions of the given ones.

    ``roots`` returns the folders in which a file's project imports are resolved.
    """
    importers: defaultdict[str, list[str]] = defaultdict(list)
    for path, data in others.items():
        for module in _imported(path, data):
            importers[module].append(path)
    looked_in = cache(lambda path: _folders(path, roots(path)))
    words: dict[str, frozenset[bytes]] = {}
    waiting = [(source, frozenset[bytes]()) for source in mentioning]
    found: dict[str, Source] = {}
    while waiting:
        source, imported = waiting.pop()
        paths = [
            path
            for folder, module in _spellings(source.path)
            for path in importers.get(module, ())
            if folder is None or folder in looked_in(path)
        ]
        # Most files are imported by none of the others.
        names = _names(source, imported) if any(path not in found for path in paths) else imported
        for path in paths:
            if path in found:
                continue
            if path not in words:
                words[path] = frozenset(_WORD.findall(others[path]))
            # A package re-exports whole modules: ``from . import layers``.
            named = {Path(source.path).stem.encode()} if names and Path(path).stem == "__init__" else set()
            if shared := (names | named) & words[path]:
                found[path] = read_source(path, others[path])
                waiting.append((found[path], shared))
    return list(found.values())


def _imported(path: str, data: bytes) -> frozenset[str]:
    """Return the modules that a text may import, spelled as by `_spellings`.

    Libraries are never read, not even where they are the project.
    """
    found: set[str] = set()
    for module, names, modules in _import_statements(data):
        if not _is_library(module):
            start = _spelled(path, module.decode())
            found.update(f"{start}/{name.decode()}" for name in _WORD.findall(names))
            found.add(start)
        for name in map(bytes.strip, modules.split(b",")):
            if not _is_library(name) and (parts := _FIRST.findall(name.split()[0] if name else b"")):
                found.update(b"/".join(parts[: end + 1]).decode() for end in range(len(parts)))
    return frozenset(found)


def _spelled(path: str, module: str) -> str:
    """Return the name of an imported module; a relative one as its full path."""
    rest = module.lstrip(".").replace(".", "/")
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return rest
    return (Path(path).absolute().parents[dots - 1] / rest).as_posix()


def _spellings(path: str) -> Iterator[tuple[Path | None, str]]:
    """Yield the names under which a file may be imported, with their root folder; last its full path."""
    whole = Path(path).absolute()
    if whole.suffix != ".py":
        return
    module = whole.parent if whole.name == "__init__.py" else whole.with_suffix("")
    for folder in module.parents:
        yield folder, module.relative_to(folder).as_posix()
    yield None, module.as_posix()


def _folders(path: str, roots: Iterable[str]) -> frozenset[Path]:
    """Return the folders in which the absolute imports of a file are resolved."""
    whole = Path(path).absolute()
    return frozenset(import_folders(whole, map(Path, roots)))


def _import_statements(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the parts of a text's import statements, found by keyword: most lines contain none."""
    for keyword in _KEYWORD.finditer(data):
        line = data.rfind(b"\n", 0, keyword.start()) + 1
        if (found := _IMPORT.match(data, line)) is not None:
            yield found[1] or b"", found[2] or b"", found[3] or b""


def _is_library(module: bytes) -> bool:
    first = _FIRST.match(module)
    return first is not None and first[0].decode() in LIBRARIES


def _names(source: Source, imported: frozenset[bytes]) -> frozenset[bytes]:
    """Return the names that a source binds to code that can reach a use, including imported ones."""
    imports = frozenset(name.decode() for name in imported)
    bound = (
        Relevance(split(source.path, cell.index, cell.text).parts, imports).names for cell in source.cells
    )
    return frozenset(name.encode() for name in imports.union(*bound))
