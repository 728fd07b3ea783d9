"""From paths to text: discovery, the prefilter, notebooks as cells, comments that address shardlint."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.files.sources import Cell, Source, read_source, source_from_cells, source_from_text

__all__ = ["Cell", "Source", "read_source", "source_from_cells", "source_from_text"]


def __getattr__(name: str) -> object:
    # A run over files that do not matter makes no source of any.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shardlint.files import sources

    globals()[name] = found = getattr(sources, name)
    return found
