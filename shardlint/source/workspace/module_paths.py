"""Where a module is, by the path that its dotted name leads to; every look is noted (`file_access`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from shardlint.source.workspace import file_access

#: In how many folders above a file the packages that it imports are looked for.
_ABOVE = 5


def import_folders(path: Path, roots: Iterable[Path]) -> list[Path]:
    """The folders in which what a file imports by an absolute name is looked for, nearest first.

    Its own, those above it up to its package's root, and the project's roots.
    """
    return _folders(path.parent, tuple(roots), os.getcwd())


@lru_cache(maxsize=1_000)
def _folders(here: Path, roots: Sequence[Path], _: str) -> list[Path]:
    """The same for all files of a folder, while paths start from the same working directory."""
    return [*[here, *here.parents][:_ABOVE], *(_spelled(root, here) for root in roots)]


def _spelled(root: Path, here: Path) -> Path:
    """A folder as the path of the folder that asks begins: no file may go by two paths."""
    whole = Path(os.path.abspath(root))
    for folder in (here, *here.parents):
        base = Path(os.path.abspath(folder))
        if whole.is_relative_to(base):
            return folder / whole.relative_to(base)
    return whole


def module_file(folder: str, parts: Sequence[str]) -> str | None:
    """The file of a module, or of a package's ``__init__``, under a folder by the parts of its name.

    Without parts it is the folder itself. Where a part is missing nothing behind it is looked for, so that
    few looks tell that nothing is there.
    """
    for part in parts[:-1]:
        folder = os.path.join(folder, part)
        if not file_access.is_folder(folder):
            return None
    path = os.path.join(folder, *parts[-1:])
    # A path without a name (`from .. import x` above everything) can only be a package.
    if os.path.basename(path) not in ("", os.curdir, os.pardir) and file_access.is_file(f"{path}.py"):
        return f"{path}.py"
    if parts and not file_access.is_folder(path):
        return None
    package = os.path.join(path, "__init__.py")
    return package if file_access.is_file(package) else None
