"""Selects the files to analyze for the given paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.config import Settings
    from shardlint.source import Source

Progress = Callable[[str, int, int], None]


def read_paths(
    paths: Iterable[str],
    nearest: Callable[[str], Settings],
    settings: Settings,
    progress: Progress | None = None,
    broken: bool = False,
    wanted: Callable[[bytes], bool] | None = None,
) -> tuple[int, list[Source]]:
    """Return the number of files under the paths, and the relevant sources, in order.

    ``nearest`` returns the settings for a folder, ``settings`` are those of the run. Where all files are
    relevant, ``broken`` ones that do not mention sharding are left out unless requested. Files whose
    bytes are ``wanted`` are relevant too.
    """
    from shardlint.source.workspace.discovery import discover
    from shardlint.source.workspace.file_access import MOST_BYTES, read
    from shardlint.source.workspace.prefilter import code_mentions_sharding

    found = discover(paths, lambda folder: nearest(folder).filter)
    relevant: dict[str, bytes | None] = {}
    others: dict[str, bytes] = {}
    for number, file in enumerate(found):
        if progress is not None:
            progress("reading", number, len(found))
        try:
            data = read(file.path, MOST_BYTES)
        except OSError:
            relevant[file.path] = None
            continue
        matters = file.named or (wanted is not None and wanted(data)) or code_mentions_sharding(data)
        (relevant if matters else others)[file.path] = data
    if not relevant and not (others and settings.exhaustive):
        return len(found), []
    from shardlint.source import read_source

    sources = [read_source(path, data) for path, data in relevant.items()]
    order = {file.path: number for number, file in enumerate(found)}
    if settings.exhaustive:
        # Errors in files without sharding are for other tools to report.
        rest = map(read_source, others, others.values())
        sources += rest if broken else filter(_is_sound, rest)
        sources.sort(key=lambda source: order[source.path])
    elif others:
        from shardlint.inference.programs.reverse_imports import calling

        callers = calling(
            sources, others, lambda path: nearest(os.path.dirname(os.path.abspath(path))).import_roots
        )
        sources = sorted([*sources, *callers], key=lambda source: order[source.path])
    return len(found), sources


def _is_sound(source: Source) -> bool:
    """Return whether a source can be read and parsed."""
    from shardlint.inference.syntax.file_parts import split

    return not source.problems and not any(
        split(source.path, cell.index, cell.text).errors for cell in source.cells
    )
