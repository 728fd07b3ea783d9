"""The files to check, given the paths that a user names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from shardlint.source.workspace import file_access
from shardlint.source.workspace.file_access import IGNORES, SUFFIXES
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: A pattern that matches every file and folder of a name.
_PLAIN = re.compile(r"[\w.*-]*[\w.-][\w.*-]*")
#: A larger file is not a list of patterns.
_MOST_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Discovered:
    """A file to check. ``named`` is true when the user gave this very path."""

    path: str
    named: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """The selection of files in a folder.

    All patterns are as in `.gitignore`. ``exclude`` and ``include`` are relative to ``root``, ``here``
    (further excludes) to the working directory. ``include``, unless empty, keeps only the files it matches.
    ``gitignore`` drops files that git ignores, and ``force`` also excludes paths that are named.
    """

    root: str
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    gitignore: bool = True
    force: bool = False

    def includes(self, path: str) -> bool:
        """Return whether ``include`` keeps a file (its absolute path)."""
        return not self.include or _spec(self.include).match_file(os.path.relpath(path, self.root))

    def excludes(self, path: str) -> bool:
        """Return whether an absolute path (a folder's ends with a slash) is excluded."""
        return _is_meant(self.exclude, path, self.root) or _is_meant(self.here, path, os.getcwd())


#: Returns the filter of a folder, given its absolute path.
Filters = Callable[[str], Filter]


def discover(paths: Iterable[str], filters: Filters) -> list[Discovered]:
    """Return the files under the paths, each once, folders in name order.

    A path that is not a folder is included whether or not it exists or is excluded, unless its filter is
    forced. Files in a folder are selected by the filter of that folder.
    """
    walker = _Walker(filters)
    found: dict[str, Discovered] = {}
    for path in paths:
        if file_access.is_folder(path):
            for file, real in walker.walk(path):
                found.setdefault(real, Discovered(os.path.normpath(file), False))
        elif not _forced_out(os.path.abspath(path), filters):
            found[os.path.realpath(path)] = Discovered(os.path.normpath(path), True)
    return list(found.values())


def _forced_out(path: str, filters: Filters) -> bool:
    """Return whether a named path is excluded nevertheless, itself or by a folder that contains it."""
    folder = os.path.dirname(path)
    filter = filters(folder)
    if not filter.force:
        return False
    root = os.path.abspath(filter.root)
    while folder != root and os.path.dirname(folder) != folder:
        if filters(os.path.dirname(folder)).excludes(folder + "/"):
            return True
        folder = os.path.dirname(folder)
    return filter.excludes(path)


class _Walker:
    """Walks folders, each real folder once, and reads their `.gitignore` files on the way."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters
        self._seen: set[str] = set()

    def walk(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield the files under a folder, which is entered even if excluded itself, and their real paths.

        An unreadable folder is also yielded.
        """
        waiting = [(folder, _ignores_above(os.path.abspath(folder)))]
        while waiting:
            here, ignores = waiting.pop()
            real = os.path.realpath(here)
            if real in self._seen:
                continue
            self._seen.add(real)
            try:
                entries = file_access.entries(here)
            except (FileNotFoundError, NotADirectoryError):
                continue  # it was deleted meanwhile
            except OSError:
                yield here, real  # so that it is reported as unreadable
                continue
            absolute = os.path.abspath(here)
            filter = self._filters(absolute)
            if any(entry.name == IGNORES for entry in entries):
                ignores = [*ignores, *_read_ignore(absolute)]
            folders = []
            for entry in entries:
                path = os.path.join(absolute, entry.name)
                kind = file_access.kind_of_entry(entry)
                if kind == file_access.FOLDER:
                    if not _excluded(path + "/", filter, ignores):
                        folders.append((entry.path, ignores))
                elif kind != file_access.FILE or not entry.name.endswith(SUFFIXES):
                    continue
                elif filter.includes(path) and not _excluded(path, filter, ignores):
                    there = os.path.join(real, entry.name)
                    yield entry.path, os.path.realpath(there) if entry.is_symlink() else there
            waiting += reversed(folders)


def _excluded(path: str, filter: Filter, ignores: Sequence[tuple[str, GitIgnoreSpec]]) -> bool:
    """Return whether a path (a folder's ends with a slash) is left out; the nearest `.gitignore` decides."""
    if filter.excludes(path):
        return True
    slash = "/" if path.endswith("/") else ""
    for folder, spec in reversed(ignores) if filter.gitignore else ():
        decided = spec.check_file(os.path.relpath(path, folder) + slash).include
        if decided is not None:
            return decided
    return False


def _is_meant(patterns: tuple[str, ...], path: str, folder: str) -> bool:
    """Return whether patterns relative to a folder match an absolute path.

    Below a folder that matches, and was entered because it was named, a path is judged by its own name; so is
    a path outside of the patterns' folder.
    """
    if not patterns:
        return False
    if (plain := _plain(patterns)) is not None:
        # No folder above it matches, or it was entered nevertheless.
        return plain.fullmatch(os.path.basename(path.rstrip("/"))) is not None
    slash = "/" if path.endswith("/") else ""
    relative = os.path.relpath(path, folder)
    if not relative.startswith(os.pardir):
        if not _spec(patterns).match_file(relative + slash):
            return False
        if not (above := os.path.dirname(relative)) or not _spec(patterns).match_file(above + "/"):
            return True
    names = tuple(pattern for pattern in patterns if "/" not in pattern.rstrip("/"))
    return _spec(names).match_file(os.path.basename(relative) + slash)


@lru_cache(maxsize=256)
def _plain(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return simple patterns, names with at most stars, as one regular expression; None if others occur.

    Most patterns are simple, and need no library for the whole syntax of `.gitignore`.
    """
    if any(not _PLAIN.fullmatch(pattern) for pattern in patterns):
        return None
    return re.compile("|".join(re.escape(pattern).replace(r"\*", ".*") for pattern in patterns))


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from shardlint.source.workspace.gitignore import ignore_spec

    return ignore_spec(patterns)


def _ignores_above(folder: str) -> list[tuple[str, GitIgnoreSpec]]:
    """Return the `.gitignore` files between the top of the repository and a folder, outermost first."""
    above = []
    here = folder
    while not file_access.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return []
        here = parent
        above.append(here)
    return [ignore for parent in reversed(above) for ignore in _read_ignore(parent)]


def _read_ignore(folder: str) -> list[tuple[str, GitIgnoreSpec]]:
    from shardlint.source.workspace.gitignore import ignore_spec

    try:
        data = file_access.read(os.path.join(folder, IGNORES), _MOST_BYTES)
    except OSError:
        return []
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return [(folder, ignore_spec(text.split("\n")))]
