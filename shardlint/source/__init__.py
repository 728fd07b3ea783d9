"""From paths to text: everything that is read before parsing and evaluation.

A file is a `Source` (`sources`) of one or more `Cell`s: a notebook has several. `workspace` finds files and
reads them through tracked functions; `comments` reads the comments that address shardlint; `notebooks` maps
cells to a notebook's JSON. `parse_guard` rejects texts that crash parsers, `api_sites` counts the calls of
sharding APIs in a text, `logical_lines` and `lexing` split text without parsing it, and `file_problems`
reports findings about files themselves.

Nothing here imports libcst: a run over files without sharding never loads it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.source.sources import Cell, Source, read_source, source_from_cells, source_from_text

__all__ = ["Cell", "Source", "read_source", "source_from_cells", "source_from_text"]


def __getattr__(name: str) -> object:
    # A run over files that do not matter creates no source.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shardlint.source import sources

    globals()[name] = found = getattr(sources, name)
    return found
