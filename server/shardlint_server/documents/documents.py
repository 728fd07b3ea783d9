"""Documents open in the editor, in the form that the analyzer needs: whole files and notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls import uris
from pygls.workspace import TextDocument, Workspace

from shardlint.api import editing
from shardlint.model.spans import Span
from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.documents.conversion import Text, split_lines

#: What the addresses of older versions of files, and of repositories elsewhere, begin with.
_SHOWN = frozenset({"git", "gitfs", "gitlens", "fugitive", "diffview", "vscode-vfs", "vscode-scm"})
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class Document(TextDocument):
    """A text document with the line ends of the protocol.

    Those of pygls end at form feeds and other separators too, so an edit further down hits the wrong line.
    """

    @property
    def lines(self) -> Sequence[str]:
        """Return the lines with their ends."""
        return _LINE.findall(self.source)


class Documents(Workspace):
    """A workspace of such documents."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._encoded: dict[str, tuple[str, bytes]] = {}

    def opened(self) -> dict[str, bytes]:
        """Return the contents of open Python files by path, as they would be if saved now."""
        found: dict[str, tuple[str, bytes]] = {}
        for uri, document in self.text_documents.items():
            path = file_of(uri)
            if path is None or not path.endswith((".py", ".pyi")):
                continue
            text, known = document.source, self._encoded.get(path)
            found[path] = known if known and known[0] is text else (text, editing.encoded(text))
        self._encoded = found
        return {path: data for path, (_, data) in found.items()}

    def _create_text_document(self, doc_uri: str, *args: Any, **kwargs: Any) -> Document:
        kwargs |= {"sync_kind": self._sync_kind, "position_codec": self.position_codec}
        return Document(doc_uri, *args, **kwargs)


@dataclass(frozen=True, slots=True)
class Part:
    """A text document of the client: a file, or the notebook cell with index ``cell`` among all cells."""

    uri: str
    version: int | None
    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The unit of analysis: a file of one part, or a notebook with a part for each Python cell.

    Targets compare by content, so one that no longer equals the open document is stale.
    """

    uri: str
    path: str
    parts: tuple[Part, ...]
    is_notebook: bool = False

    def part_of(self, span: Span) -> Part | None:
        """Return the part that contains a span; a problem of a whole notebook belongs to its first cell."""
        if span.path != self.path:
            return None
        cells = [part for part in self.parts if span.cell in (None, part.cell)]
        return cells[0] if cells else None

    def locate(self, span: Span, opened: Mapping[str, bytes]) -> Text:
        """Return the document of a span: a part of this target, else a file, as open or on disk.

        In a file that cannot be read, all places collapse to its start.
        """
        part = self.part_of(span)
        if part is not None:
            return Text(part.uri, split_lines(part.text))
        path = str(Path(span.path).absolute())
        try:
            data = opened[path] if path in opened else Path(path).read_bytes()
        except (OSError, ValueError):
            data = b""
        return Text(uris.from_fs_path(path), split_lines(data.decode("utf-8", "replace")))


def path_of(uri: str) -> str:
    """Return the path of a file's URI; for any other (``untitled:Untitled-1``) a substitute."""
    return uris.to_fs_path(uri) or uris.urlparse(uri)[2]


def file_of(uri: str) -> str | None:
    """Return the absolute path of a file's URI, None for any other."""
    return uris.to_fs_path(uri) if uri.startswith("file:") else None


def target_of(workspace: Workspace, uri: str) -> Target | None:
    """Return the target of an open file, notebook or cell, in its present form; None if it is not open."""
    notebook = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(
        cell_uri=uri
    )
    if notebook is not None:
        return Target(notebook.uri, path_of(notebook.uri), _cells(workspace, notebook), is_notebook=True)
    document = workspace.text_documents.get(unquote(uri))
    if document is None or not _is_program(uri):
        return None
    return Target(uri, path_of(uri), (Part(uri, document.version, document.source),))


def _is_program(uri: str) -> bool:
    """Return whether a document is analysed: it is no configuration, nor a text that is only shown."""
    return uri.partition(":")[0] not in _SHOWN and not path_of(uri).endswith(".toml")


def _cells(workspace: Workspace, notebook: types.NotebookDocument) -> tuple[Part, ...]:
    """Return the Python cells; code cells in other languages (SQL, shell) are ignored."""
    documents = [workspace.text_documents.get(unquote(cell.document)) for cell in notebook.cells]
    return tuple(
        Part(cell.document, document.version, document.source, cell=index)
        for index, (cell, document) in enumerate(zip(notebook.cells, documents, strict=True))
        if cell.kind == types.NotebookCellKind.Code and document and document.language_id == "python"
    )
