"""From the paths that a user names to the sources that can matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.config import Settings
    from shardlint.files import Source

Progress = Callable[[str, int, int], None]


def read_paths(
    paths: Iterable[str],
    nearest: Callable[[str], Settings],
    settings: Settings,
    progress: Progress | None = None,
) -> tuple[int, list[Source]]:
    """Return the number of files under the paths, and the sources of those that can matter, in order.

    ``nearest`` tells the settings for a folder, ``settings`` are those of the run.
    """
    from shardlint.files.discovery import discover
    from shardlint.files.prefilter import mentions_sharding
    from shardlint.seen import MOST_BYTES, read

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
        matters = file.named or settings.exhaustive or mentions_sharding(data)
        (relevant if matters else others)[file.path] = data
    if not relevant:
        return len(found), []
    from shardlint.files import read_source

    sources = [read_source(path, data) for path, data in relevant.items()]
    if others:
        from shardlint.inference.callers import calling

        order = {file.path: number for number, file in enumerate(found)}
        sources = sorted([*sources, *calling(sources, others)], key=lambda source: order[source.path])
    return len(found), sources
