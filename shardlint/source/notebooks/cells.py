"""Notebooks: code cells in document order, with IPython syntax that is not Python blanked."""

from __future__ import annotations

import ast
import json
import re

from shardlint.source.lexing import NEWLINE, STRING_OR_COMMENT

#: Cell magics whose body is Python that runs in the notebook's namespace.
_PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "python_cell"})

_CELL_MAGIC = re.compile(r"[ \t\r\n]*%%(\w*)")
#: Beginnings that no Python statement has: a magic, a shell command, help before or after a name.
_ESCAPED = re.compile(r"(?P<indent>[ \t]*)(?:[%!?][^\r\n]*|[\w.*]+\?{1,2}[ \t]*(?=[\r\n]|\Z))")
#: ``x = !ls`` and ``x = %magic``: no Python value begins like this.
_ESCAPED_VALUE = re.compile(r"[^\r\n=#\"'(]*=[ \t]*(?P<value>[!%][^\r\n]*)")
#: Line magics and aliases of IPython 9 that a line may begin with, without the ``%``, where it is alone in
#: its cell (`interactiveshell.transform_cell`, `prefilter.AutoMagicChecker`).
_AUTOMAGICS = frozenset(
    "alias autocall automagic bookmark cat cd conda config cp debug dirs edit env gui history less ll load "
    "load_ext ls lsmagic macro magic mamba man matplotlib micromamba mkdir more mv notebook pdb pinfo pip "
    "popd prun pushd pwd pycat pylab recall reload_ext rerun reset rm rmdir run save set_env store sx time "
    "timeit unload_ext uv who whos xdel xmode autoreload aimport memit mprun tensorboard".split()
)
#: A word and what follows it, which is no operator (`prefilter.PythonOpsChecker`).
_AUTOMAGIC = re.compile(r"[ \t]*(?P<word>\w+)(?:[ \t]+[^\s!=()<>,+*/%^&|][^\r\n]*)?[ \t]*(?:\r\n|\r|\n)?\Z")
#: Leading blank lines do not count (`inputtransformer2.leading_empty_lines`).
_INDENTED = re.compile(r"(?:[ \t]*[\r\n])*[ \t]+[^ \t\r\n#%!]")
_TOKEN = re.compile(
    rf"(?P<string>{STRING_OR_COMMENT.pattern})"
    r"|(?P<open>[(\[{]) | (?P<close>[)\]}]) | \\(?:\r\n|\r|\n) | (?P<newline>\r\n|\r|\n)",
    STRING_OR_COMMENT.flags,
)


class BrokenNotebook(Exception):
    """A file that is not a valid notebook; ``line`` is where its JSON breaks off."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def read_cells(data: bytes) -> list[tuple[int, str]]:
    """Return index and text of each code cell of a notebook's bytes (nbformat 3 and 4).

    Raises BrokenNotebook when it is not a notebook, UnicodeDecodeError when it is not UTF-8.
    """
    text = data.decode("utf-8-sig")
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise BrokenNotebook(f"this notebook is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise BrokenNotebook("this notebook's JSON is nested too deeply") from None
    except ValueError:
        # Python limits the digits of an integer that it parses (`sys.set_int_max_str_digits`).
        raise BrokenNotebook("this notebook's JSON has a number with too many digits") from None
    cells = cells_of(notebook)
    return [(i, source) for i, cell in enumerate(cells) if (source := _code(cell)) is not None]


def cells_of(notebook: object) -> list[object]:
    """Return the cells of a notebook's JSON: nbformat 3 keeps them in worksheets."""
    if isinstance(notebook, dict):
        if isinstance(cells := notebook.get("cells"), list):
            return cells
        if isinstance(sheets := notebook.get("worksheets"), list):
            found = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            return [cell for cells in found if isinstance(cells, list) for cell in cells]
    raise BrokenNotebook("this notebook has no cells")


def text_of(cell: object) -> object:
    """Return a code cell's text as in its JSON (nbformat 3 calls it input), None for any other cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    return cell.get("source", cell.get("input", ""))


def _code(cell: object) -> str | None:
    """Return a code cell's text, None for any other cell."""
    text = text_of(cell)
    if isinstance(text, list):
        text = "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else None


def is_indented(text: str) -> bool:
    """Return whether IPython dedents the cell by its first line (`inputtransformer2.leading_indent`)."""
    return _INDENTED.match(text) is not None


def blank_magics(text: str) -> str:
    """Replace IPython syntax by blanks, preserving every line and column.

    An indented magic becomes ``0``, since a block needs a statement; the value of ``x = !ls`` becomes ``__``,
    which stands for an unknown value.
    """
    if (
        (alone := _AUTOMAGIC.match(text)) is not None
        and alone["word"] in _AUTOMAGICS
        and not _is_python(text)
    ):
        return _blank(text)
    if not any(mark in text for mark in "%!?"):
        return text
    if (magic := _CELL_MAGIC.match(text)) is not None:
        if magic[1] not in _PYTHON_CELL_MAGICS:
            return _blank(text)
        end = NEWLINE.search(text, magic.end())
        stop = end.start() if end else len(text)
        return _blank(text[:stop]) + blank_magics(text[stop:])
    pieces: list[str] = []
    start = 0
    while start < len(text):
        stop = _statement_end(text, start)
        if match := _ESCAPED.match(text, start):
            stop = _escaped_end(text, match.end())
            indent = match["indent"]
            blank = _blank(text[start + len(indent) : stop])
            pieces.append(indent + ("0" + blank[1:] if indent else blank))
        elif match := _ESCAPED_VALUE.match(text, start):
            value, stop = match.start("value"), _escaped_end(text, match.end())
            pieces.append(text[start:value] + "__"[: match.end() - value] + _blank(text[value + 2 : stop]))
        else:
            pieces.append(text[start:stop])
        start = stop
    return "".join(pieces)


def _is_python(text: str) -> bool:
    """Return whether Python can compile a line."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _statement_end(text: str, start: int) -> int:
    """Return the end of the logical line that begins at ``start``, after its newline."""
    depth = 0
    for match in _TOKEN.finditer(text, start):
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth = max(0, depth - 1)
        elif match["newline"] and not depth:
            return match.end()
    return len(text)


def _escaped_end(text: str, end: int) -> int:
    """Return the end of an escaped line, after its newline; a backslash continues it."""
    while (newline := NEWLINE.match(text, end)) is not None:
        if not text.endswith("\\", 0, end):
            return newline.end()
        following = NEWLINE.search(text, newline.end())
        end = following.start() if following else len(text)
    return end


def _blank(text: str) -> str:
    """Return text with everything but line ends replaced by spaces."""
    return re.sub(r"[^\r\n]", " ", text)
