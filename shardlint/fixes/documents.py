"""A file to change: its bytes, and its bytes after edits."""

from __future__ import annotations

import io
import os
import stat
import tempfile
import tokenize
from collections.abc import Iterable

from shardlint.fixes import notebook_json
from shardlint.fixes.text_edits import OutOfPlace, changed, changes
from shardlint.model.findings import Edit
from shardlint.source.notebooks.cells import BrokenNotebook, read_cells
from shardlint.source.sources import Source, read_source
from shardlint.support.lazy_dataclass import dataclass


class CannotChange(Exception):
    """A file cannot be changed; the message states which and why."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's path and bytes."""

    path: str
    data: bytes

    @property
    def source(self) -> Source:
        """Return the file as it would be read now."""
        return read_source(self.path, self.data)

    @property
    def text(self) -> str:
        """Return the text in which differences are shown; for a notebook, its JSON."""
        return self._decoded()[0]

    def edited(self, edits: Iterable[Edit]) -> Document:
        """Return the document after edits that do not overlap; all other bytes are preserved.

        Raises CannotChange.
        """
        try:
            if self.path.endswith(".ipynb"):
                return Document(self.path, self._notebook(edits))
            text, encoding = self._decoded()
            after = changed(text, changes(text, edits))
            return Document(self.path, after.encode(encoding))
        except (OutOfPlace, BrokenNotebook, ValueError, LookupError, SyntaxError) as error:
            if isinstance(error, UnicodeEncodeError):
                wrong = error.object[error.start : error.end]
                raise CannotChange(f"{self.path}: its encoding, {error.encoding}, has no {wrong!r}") from None
            raise CannotChange(f"{self.path} cannot be edited in place; it was left as it is") from None

    def _decoded(self) -> tuple[str, str]:
        if self.path.endswith(".ipynb"):
            return self.data.decode(), "utf-8"
        encoding, _ = tokenize.detect_encoding(io.BytesIO(self.data).readline)
        text = self.data.decode(encoding)
        if text.encode(encoding) != self.data:
            raise ValueError("the encoding does not bring back the same bytes")
        return text, encoding

    def _notebook(self, edits: Iterable[Edit]) -> bytes:
        by_cell: dict[int | None, list[Edit]] = {}
        for edit in edits:
            by_cell.setdefault(edit.span.cell, []).append(edit)
        cells = dict(read_cells(self.data))
        made = {}
        for index, ours in by_cell.items():
            if index is None or index not in cells:
                raise OutOfPlace
            made[index] = changes(cells[index], ours)
        return notebook_json.edited(self.data.decode(), made).encode()


def read_document(path: str) -> Document:
    """Read a file. Raises CannotChange."""
    try:
        with open(path, "rb") as file:
            return Document(path, file.read())
    except OSError as error:
        raise CannotChange(f"{path} cannot be read: {error.strerror or error}") from None


def write(before: Document, after: Document) -> None:
    """Write a changed file atomically, keeping its mode and links. Raises CannotChange.

    A file that changed meanwhile, or is read-only, is not overwritten.
    """
    path = os.path.realpath(before.path)
    if read_document(before.path).data != before.data:
        raise CannotChange(f"{before.path} was changed by somebody else; it was left as it is")
    try:
        mode = os.stat(path).st_mode
        if not is_writable(path):
            raise PermissionError(0, "it is read-only")
        write_bytes(path, after.data, stat.S_IMODE(mode))
    except OSError as error:
        raise CannotChange(f"{before.path} cannot be written: {error.strerror or error}") from None


def is_writable(path: str) -> bool:
    """Return whether a file is writable by its mode, which does not bind root. Raises OSError."""
    anybody = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return bool(os.stat(path).st_mode & anybody) and os.access(path, os.W_OK)


def write_bytes(path: str, data: bytes, mode: int | None = None) -> None:
    """Write a file as a whole or not at all. Raises OSError."""
    handle, temporary = tempfile.mkstemp(
        dir=os.path.dirname(path) or ".", prefix=".shardlint-", suffix=".tmp"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
