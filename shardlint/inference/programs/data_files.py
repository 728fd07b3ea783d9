"""Data files that a program reads: configurations, found in the project and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from shardlint.source.workspace import file_access

#: The longest file that is read: parsing YAML takes a second for so much.
_MOST_BYTES = 128 * 1024
_SUFFIXES = (".yaml", ".yml")


def data_file(here: Path, roots: Sequence[Path], name: str, beside: bool) -> tuple[str, str] | None:
    """Return the path and the text of a data file, None if none is found, or several differ.

    Args:
        here: the file of the module that asks.
        roots: the folders of the project.
        name: a path, absolute or relative.
        beside: whether a relative path begins at the folder of ``here``; else at a root, or there.
    """
    if not name.endswith(_SUFFIXES) or "\0" in name:
        return None
    folders = [here.parent] if beside else [here.parent, *roots]
    found: dict[str, str] = {}
    for path in _candidates(folders, name):
        if _is_inside(path, [here.parent, *roots]) and file_access.is_file(path):
            text = _read(path)
            if text is None:
                return None
            found.setdefault(text, path)
    if len(found) != 1:
        return None
    text, path = found.popitem()
    return path, text


def _candidates(folders: Sequence[Path], name: str) -> Iterator[str]:
    if os.path.isabs(name):
        yield os.path.normpath(name)
        return
    known: set[str] = set()
    for folder in folders:
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.abspath(path) not in known:
            known.add(os.path.abspath(path))
            yield path


def _is_inside(path: str, folders: Sequence[Path]) -> bool:
    """Return whether a path leads into one of the folders, also through links."""
    real = os.path.realpath(path)
    return any(
        os.path.commonpath([real, os.path.realpath(folder)]) == os.path.realpath(folder) for folder in folders
    )


def _read(path: str) -> str | None:
    try:
        data = file_access.read(path, _MOST_BYTES)
        return data.decode() if len(data) <= _MOST_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None
