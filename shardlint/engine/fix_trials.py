"""Sources as a fix would leave them; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.fixes.documents import CannotChange, read_document
from shardlint.model.findings import Edit, Fix
from shardlint.source.sources import Source


def sources_after(fix: Fix, sources: Iterable[Source]) -> list[Source] | None:
    """Return sources as a fix leaves them; None if it cannot be applied."""
    edits: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        edits.setdefault(edit.span.path, []).append(edit)
    try:
        return [
            read_document(source.path).edited(edits[source.path]).source if source.path in edits else source
            for source in sources
        ]
    except CannotChange:
        return None
