"""From paths to text: discovery, the prefilter, notebooks as cells, comments that address shardlint."""

from shardlint.files.sources import Cell, Source, read_source, source_from_cells, source_from_text

__all__ = ["Cell", "Source", "read_source", "source_from_cells", "source_from_text"]
