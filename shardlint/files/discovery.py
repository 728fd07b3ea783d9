"""From the paths a user names to the files to check."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi", ".ipynb")

#: Folders that hold no code of the project's own.
DEFAULT_EXCLUDE = (
    ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".eggs", "*.egg-info", "node_modules",
    "__pycache__", "__pypackages__", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    "site-packages", "build", "dist", "_build",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Discovered:
    """A file to check. ``named`` when the user gave this very path."""

    path: str
    named: bool


def discover(
    paths: Iterable[str], root: str, exclude: Sequence[str] = (), include: Sequence[str] = ()
) -> list[Discovered]:
    """Return the files under the paths, each once, folders in name order.

    A path that is not a folder is always taken, whether or not it exists or is excluded. ``exclude``
    are patterns as in `.gitignore`, relative to ``root``, added to the default ones; ``include``
    keeps, of the files found in folders, those it matches (all when it is empty).
    """
    walker = _Walker(root, exclude, include)
    found: dict[str, Discovered] = {}
    for path in paths:
        if os.path.isdir(path):
            for file in walker.walk(path):
                found.setdefault(os.path.realpath(file), Discovered(os.path.normpath(file), False))
        else:
            found[os.path.realpath(path)] = Discovered(os.path.normpath(path), True)
    return list(found.values())


class _Walker:
    """Walks folders, each real folder once, and reads their `.gitignore` files on the way."""

    def __init__(self, root: str, exclude: Sequence[str], include: Sequence[str]) -> None:
        self._root = os.path.abspath(root)
        self._skip = GitIgnoreSpec.from_lines(DEFAULT_EXCLUDE)
        self._exclude = GitIgnoreSpec.from_lines(exclude)
        self._include = GitIgnoreSpec.from_lines(include) if include else None
        self._seen: set[str] = set()

    def walk(self, folder: str) -> Iterator[str]:
        """Yield the files under a folder, which is entered even if it is excluded itself."""
        waiting = [(folder, _ignores_above(os.path.abspath(folder)))]
        while waiting:
            here, ignores = waiting.pop()
            real = os.path.realpath(here)
            if real in self._seen:
                continue
            self._seen.add(real)
            try:
                entries = sorted(os.scandir(here), key=lambda entry: entry.name)
            except OSError:
                continue
            absolute = os.path.abspath(here)
            if any(entry.name == ".gitignore" for entry in entries):
                ignores = [*ignores, *_read_ignore(absolute)]
            folders = []
            for entry in entries:
                path = os.path.join(absolute, entry.name)
                if entry.is_dir():
                    if not self._excluded(path + "/", ignores):
                        folders.append((entry.path, ignores))
                elif not entry.name.endswith(SUFFIXES) or not entry.is_file():
                    continue
                elif self._included(path) and not self._excluded(path, ignores):
                    yield entry.path
            waiting += reversed(folders)

    def _included(self, path: str) -> bool:
        return self._include is None or self._include.match_file(os.path.relpath(path, self._root))

    def _excluded(self, path: str, ignores: Sequence[tuple[str, GitIgnoreSpec]]) -> bool:
        """Whether a path (a folder's ends with a slash) is excluded; the nearest `.gitignore` decides."""
        slash = "/" if path.endswith("/") else ""
        if self._skip.match_file(os.path.basename(path.rstrip("/")) + slash):
            return True
        if self._exclude.match_file(os.path.relpath(path, self._root) + slash):
            return True
        for folder, spec in reversed(ignores):
            decided = spec.check_file(os.path.relpath(path, folder) + slash).include
            if decided is not None:
                return decided
        return False


def _ignores_above(folder: str) -> list[tuple[str, GitIgnoreSpec]]:
    """Return the `.gitignore` files between the top of the repository and a folder, outermost first."""
    above = []
    here = folder
    while not os.path.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return []
        here = parent
        above.append(here)
    return [ignore for parent in reversed(above) for ignore in _read_ignore(parent)]


def _read_ignore(folder: str) -> list[tuple[str, GitIgnoreSpec]]:
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return [(folder, GitIgnoreSpec.from_lines(file))]
    except OSError:
        return []
