"""The file of a module, given its dotted name; every access is recorded (`file_access`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from shardlint.source.workspace import file_access

#: The number of folders above a file in which its imported packages are searched.
_ABOVE = 5


def import_folders(path: Path, roots: Iterable[Path]) -> list[Path]:
    """Return the folders to search for a file's absolute imports, nearest first.

    Its own, those above it up to its package's root, and the project's roots.
    """
    return _folders(path.parent, tuple(roots), os.getcwd())


@lru_cache(maxsize=1_000)
def _folders(here: Path, roots: Sequence[Path], _: str) -> list[Path]:
    """Return the same, cached by folder while the working directory of the paths stays the same."""
    return [*[here, *here.parents][:_ABOVE], *(_spelled(root, here) for root in roots)]


def _spelled(root: Path, here: Path) -> Path:
    """Return a folder spelled with the prefix of the requesting folder: no file may have two paths."""
    whole = Path(os.path.abspath(root))
    for folder in (here, *here.parents):
        base = Path(os.path.abspath(folder))
        if whole.is_relative_to(base):
            return folder / whole.relative_to(base)
    return whole


def module_file(folder: str, parts: Sequence[str]) -> str | None:
    """Return the file of a module, or of a package's ``__init__``, under a folder, given the parts of its
    name.

    Without parts it is the folder itself. The search ends at the first missing part, so that few accesses
    establish that nothing is there.
    """
    for part in parts[:-1]:
        folder = os.path.join(folder, part)
        if not file_access.is_folder(folder):
            return None
    path = os.path.join(folder, *parts[-1:])
    # A path without a name (`from .. import x` above the root) can only be a package.
    if os.path.basename(path) not in ("", os.curdir, os.pardir) and file_access.is_file(f"{path}.py"):
        return f"{path}.py"
    if parts and not file_access.is_folder(path):
        return None
    package = os.path.join(path, "__init__.py")
    return package if file_access.is_file(package) else None


def package_files(module: str, name: str) -> list[str]:
    """Return the ``__init__`` files that run before a module does, given the name it is imported by.

    Those of the packages in the name; for a relative name, of all packages around it.
    """
    folder = os.path.dirname(module)
    if os.path.basename(module) == "__init__.py":
        folder = os.path.dirname(folder)
    relative, left, found = name.startswith("."), name.count("."), list[str]()
    while relative or left:
        package = os.path.join(folder, "__init__.py")
        if file_access.is_file(package):
            found.append(package)
        elif relative:
            break
        if os.path.dirname(folder) == folder:
            break
        folder, left = os.path.dirname(folder), left - 1
    return found[::-1]
