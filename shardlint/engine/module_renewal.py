"""Results that stay valid although modules that their programs imported have changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from shardlint.model.uses import FileProblem, Use
from shardlint.source import read_source
from shardlint.source.workspace import file_access

T = TypeVar("T")


class PresentTexts:
    """The texts of files as they are now, each read once; ``known`` are some of them."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._bytes: dict[str, bytes | None] = {
            path: text.encode(errors="replace") for path, text in (known or {}).items()
        }
        self._texts: dict[str, str | None] = {}
        self._mentions: dict[tuple[str, frozenset[str]], bool] = {}

    def text(self, path: str) -> str | None:
        """Return the text of a module, None if it is no readable one."""
        if path not in self._texts:
            data = self._data(path)
            self._texts[path] = None if data is None else text_of(path, data)
        return self._texts[path]

    def _data(self, path: str) -> bytes | None:
        if path not in self._bytes:
            try:
                with file_access.recording(apart=True):
                    self._bytes[path] = file_access.read(path, file_access.MOST_BYTES)
            except OSError:
                self._bytes[path] = None
        return self._bytes[path]

    def mentions(self, path: str, names: frozenset[str]) -> bool:
        """Return whether a file, or a notebook, may have one of these words in its text."""
        from shardlint.inference.programs.module_changes import any_of

        key = path, names
        if key not in self._mentions:
            data = self._data(path)
            # Other letters may be written in several ways.
            known = data is not None and "".join(names).isascii()
            text = data.decode("latin-1") if data is not None and known else ""
            self._mentions[key] = not known or any_of(names).search(text) is not None
        return self._mentions[key]


def text_of(path: str, data: bytes) -> str | None:
    """Return the text of a module, None if it cannot be read as a whole."""
    source = read_source(path, data)
    whole = path.endswith(".py") and len(source.cells) == 1 and not source.problems
    return source.cells[0].text if whole else None


def by_path(pairs: Iterable[tuple[str, T]]) -> dict[str, set[T]]:
    """Return what stands beside each path."""
    found: dict[str, set[T]] = {}
    for path, item in pairs:
        found.setdefault(path, set()).add(item)
    return found


def renewed(
    uses: Sequence[Use | FileProblem],
    changed: Collection[str],
    read: Collection[str],
    functions: Mapping[str, Collection[int]],
    names: Mapping[str, Collection[str]],
    before: Callable[[str], str | None],
    now: PresentTexts,
) -> list[Use | FileProblem] | None:
    """Return a program's uses, with their places as they are now; None if it has to be evaluated again.

    Args:
        uses: the uses when modules had the texts that ``before`` returns.
        changed: the paths of modules that have other texts now.
        read: the paths of all files that the program read, its own among them.
        functions: the first lines of functions whose text mattered, by path.
        names: the names that were looked up from outside, by path.
    """
    from shardlint.inference.programs.module_changes import Program, moved

    texts: dict[str, tuple[str, str]] = {}
    for path in changed:
        old, new = before(path), now.text(path)
        if old is None or new is None:
            return None
        texts[path] = old, new
    moves = Program(uses, functions, names, read, now.mentions).moves(texts)
    return None if moves is None else moved(uses, moves)
