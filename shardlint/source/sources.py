"""A file as the rest of shardlint sees it: cells of text, and the problems found while reading it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from shardlint.model.spans import Span
from shardlint.model.uses import FileProblem
from shardlint.source import parse_guard
from shardlint.source.comments.suppressions import device_count
from shardlint.source.notebooks.cells import BrokenNotebook, blank_magics, is_indented, read_cells
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass

#: Larger files hold data, not programs. A notebook may be larger, since most of its size is pictures.
MAX_BYTES = 10 * 2**20
MAX_NOTEBOOK_BYTES = file_access.MOST_BYTES

#: Replaces a cell that cannot be parsed: it may have bound any name.
_OPAQUE = "from _unreadable_cell import *\n"

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Cell:
    """Python text. ``index`` counts a notebook's cells of any kind from 0, and is None in a file.

    ``written`` is the user's text: it differs from ``text`` where magics were blanked, and has the same lines
    and columns.
    """

    text: str
    index: int | None
    written: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file's cells in document order. ``devices`` is the number in ``# shardlint: devices=8``."""

    path: str
    cells: tuple[Cell, ...]
    problems: tuple[FileProblem, ...] = ()
    devices: int | None = None


def read_source(path: str, data: bytes | None = None) -> Source:
    """Read a file or notebook; ``data`` are its bytes if they were read already.

    Never raises: an unreadable file is a Source without cells and with a problem.
    """
    notebook = path.endswith(".ipynb")
    limit = MAX_NOTEBOOK_BYTES if notebook else MAX_BYTES
    try:
        if data is None:
            data = file_access.read(path, limit)
        if len(data) > limit:
            return _broken(
                path, "too-large", f"this file is larger than {limit >> 20} MiB, and is not checked"
            )
        if notebook:
            return source_from_cells(path, read_cells(data))
        return source_from_text(path, _decode(data))
    except FileNotFoundError:
        return _broken(path, "missing", "this path does not exist")
    except OSError as error:
        what = "folder" if file_access.is_folder(path) else "file"
        return _broken(path, "unreadable", f"this {what} cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1 if data else 1
        byte = error.object[error.start]
        message = f"this file is not {error.encoding} text (byte 0x{byte:02x}); save it as UTF-8"
        return _broken(path, "unreadable", message, line)
    except UnicodeError as error:
        return _broken(path, "unreadable", f"this file cannot be decoded: {error}")
    except (SyntaxError, LookupError) as error:
        return _broken(path, "unreadable", f"this file's encoding is not known: {error}")
    except BrokenNotebook as error:
        return _broken(path, "broken-notebook", str(error), error.line)


def source_from_text(path: str, text: str) -> Source:
    """Return the source of a Python file, given its text (an editor's buffer)."""
    return _checked(path, [Cell(text, None, text)])


def source_from_cells(path: str, cells: Iterable[tuple[int, str]]) -> Source:
    """Return the source of a notebook, given the index and text of each code cell, in document order.

    IPython dedents a cell by its first line; such a cell is not analyzed, since columns would differ.
    """
    return _checked(
        path,
        [Cell(_OPAQUE if is_indented(text) else blank_magics(text), index, text) for index, text in cells],
    )


def _checked(path: str, cells: list[Cell]) -> Source:
    """Replace cells that would crash a parser by an opaque stand-in, and read the devices comment."""
    problems: list[FileProblem] = []
    cells = [Cell(_whole(cell.text), cell.index, _whole(cell.written)) for cell in cells]
    for position, cell in enumerate(cells):
        if (found := parse_guard.find(cell.text)) is not None:
            place = Span(path, found.line, 1, found.line, 1, cell.index)
            problems.append(FileProblem("too-deep", found.message, place))
            cells[position] = Cell(_OPAQUE, cell.index, cell.written)
    if problems and all(cell.text is _OPAQUE for cell in cells):
        return Source(path, (), tuple(problems))
    counts = (count for cell in cells if (count := device_count(cell.written)) is not None)
    return Source(path, tuple(cells), tuple(problems), next(counts, None))


def _whole(text: str) -> str:
    """Return a text without lone surrogates, which JSON escapes can write and no parser accepts."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _decode(data: bytes) -> str:
    """Decode as Python does (PEP 263 cookie, byte order mark), keeping line ends."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def _broken(path: str, kind: str, message: str, line: int = 1) -> Source:
    return Source(path, (), (FileProblem(kind, message, Span(path, line, 1, line, 1)),))
