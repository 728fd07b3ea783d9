"""The texts of documents: as open in the editor, else as on disk."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.workspace import PositionCodec, Workspace

from shardlint.model.spans import Span
from shardlint_server.documents.conversion import Text, split_lines, to_range
from shardlint_server.documents.documents import path_of, target_of


def text_of(workspace: Workspace, span: Span) -> Text | None:
    """Return the document that contains a span; None if it cannot be read, or edited as a text.

    The latter is a notebook's cell while the notebook is closed.
    """
    for uri in (*workspace.notebook_documents, *workspace.text_documents):
        if path_of(uri) == span.path and (target := target_of(workspace, uri)) is not None:
            part = target.part_of(span)
            return None if part is None else Text(part.uri, split_lines(part.text))
    if span.cell is not None:
        return None
    try:
        with open(span.path, encoding="utf-8", newline="") as file:
            return Text(uris.from_fs_path(str(Path(span.path).absolute())) or "", split_lines(file.read()))
    except (OSError, ValueError):
        return None


def written(text: Text, span: Span) -> str:
    """Return the text at a span of one line; empty where it does not fit the text."""
    if span.line != span.end_line or span.line > len(text.lines):
        return ""
    return text.lines[span.line - 1][span.column - 1 : span.end_column - 1]


def location_of(workspace: Workspace, span: Span, codec: PositionCodec) -> types.Location | None:
    """Return a span as a location of the client."""
    text = text_of(workspace, span)
    return None if text is None else types.Location(uri=text.uri, range=to_range(span, text.lines, codec))
