"""Run a fixture: its top level and then each case by itself, or a notebook's cells in order.

Self-contained: any interpreter with jax runs this file. One JSON line in (``{"path": ...}``); out come
a line that lists the units, then one line for each unit that ran. It runs the fixture's own code,
so its parent gives it a process of its own, with limits.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import linecache
import os
import re
import sys
import types
from collections.abc import Callable
from typing import Any

STDOUT_LIMIT = 100_000
MESSAGE_LIMIT = 500
_MAGIC = re.compile(r"(\s*)[%!?]")
#: Cell magics whose body is still Python of the notebook's own.
_PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")

#: A cell (-1 in a program), the name of the file as tracebacks have it, and the text.
Source = tuple[int, str, str]
Unit = dict[str, Any]


def sources_of(path: str) -> list[Source]:
    """The texts a fixture consists of: a program's one, or a notebook's code cells."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not path.endswith(".ipynb"):
        return [(-1, path, text)]
    cells = json.loads(text)["cells"]
    return [
        (i, f"{path}[{i}]", blanked("".join(cell["source"])))
        for i, cell in enumerate(cells)
        if cell["cell_type"] == "code"
    ]


def blanked(cell: str) -> str:
    """A cell without IPython's magics, each line where it was.

    A line is a magic if Python stumbles over it: one that goes on with ``% 2`` is none.
    """
    lines = cell.split("\n")
    if lines[0].startswith("%%") and not lines[0].startswith(_PYTHON_MAGICS):
        return "\n" * (len(lines) - 1)
    for _ in lines:
        try:
            ast.parse("\n".join(lines))
        except SyntaxError as error:
            number = min(error.lineno or 1, len(lines)) - 1
            magic = _MAGIC.match(lines[number])
            if magic is None:
                break
            lines[number] = f"{magic[1]}pass"
    return "\n".join(lines)


def units_of(sources: list[Source], notebook: bool) -> tuple[list[Unit], list[list[int]]]:
    """What runs by itself, and where the statements at top level stand (cell, first and last line)."""
    units: list[Unit] = []
    statements: list[list[int]] = []
    for cell, _, text in sources:
        name = f"cell {cell}" if notebook else "top level"
        kind, last = "cell" if notebook else "top level", text.count("\n") + 1
        units.append({"name": name, "kind": kind, "cell": cell, "line": 1, "end_line": last})
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError):
            continue  # Running it says so.
        for node in body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            end = node.end_lineno or first
            statements.append([cell, first, end])
            if not notebook and (case := case_name(node)):
                units.append({"name": case, "kind": "case", "cell": cell, "line": first, "end_line": end})
    return units, statements


def case_name(node: ast.stmt) -> str | None:
    """The name of the ``case_`` function without parameters that a statement defines, if it does."""
    if not isinstance(node, ast.FunctionDef) or not node.name.startswith("case_"):
        return None
    a = node.args
    return None if a.posonlyargs or a.args or a.vararg or a.kwonlyargs or a.kwarg else node.name


def attempt(run: Callable[[], object], cells: dict[str, int]) -> Unit:
    """Run something of the fixture's, and say what it raised and where in the fixture."""
    written = io.StringIO()
    result: Unit = {"exception": None, "bases": [], "message": "", "frames": []}
    try:
        with contextlib.redirect_stdout(written):
            run()
    except SystemExit as error:
        if error.code not in (None, 0):
            result.update(exception="SystemExit", message=str(error.code))
    except BaseException as error:
        lines = str(error).strip().splitlines() or [""]
        result.update(
            exception=type(error).__name__,
            bases=[cls.__name__ for cls in type(error).__mro__[1:-1]],
            message=lines[0][:MESSAGE_LIMIT],
            frames=frames_of(error, cells),
        )
    return {**result, "stdout": written.getvalue()[:STDOUT_LIMIT]}


def frames_of(error: BaseException, cells: dict[str, int]) -> list[list[int]]:
    """The fixture's own frames, outermost first: cell, first and last line."""
    if isinstance(error, SyntaxError) and error.filename in cells:
        line = error.lineno or 1
        return [[cells[error.filename], line, line]]
    frames = []
    position = error.__traceback__
    while position is not None:
        code = position.tb_frame.f_code
        if code.co_filename in cells:
            frames.append([cells[code.co_filename], *span_of(code, position)])
        position = position.tb_next
    return frames


def span_of(code: types.CodeType, position: types.TracebackType) -> tuple[int, int]:
    """First and last line of what was being evaluated; before Python 3.11 just the line."""
    if hasattr(code, "co_positions"):
        line, end_line, _, _ = list(code.co_positions())[position.tb_lasti // 2]
        if line is not None:
            return line, end_line or line
    return position.tb_lineno, position.tb_lineno


def run_fixture(path: str, answer: Callable[[Unit], None]) -> None:
    """Run a fixture as ``python path`` would, unit by unit, up to a top level that fails."""
    notebook = path.endswith(".ipynb")
    sources = sources_of(path)
    units, statements = units_of(sources, notebook)
    answer({"units": units, "statements": statements})
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    sys.argv = [path]
    sys.path[0] = os.path.dirname(path)
    cells = {filename: cell for cell, filename, _ in sources}
    texts = {cell: (filename, text) for cell, filename, text in sources}

    def run(unit: Unit) -> None:
        if unit["kind"] == "case":
            module.__dict__[unit["name"]]()
            return
        filename, text = texts[unit["cell"]]
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), module.__dict__)

    for number, unit in enumerate(units):
        result = attempt(functools.partial(run, unit), cells)
        jax = sys.modules.get("jax")
        answer({"unit": number, "jax": getattr(jax, "__version__", None), **result})
        if unit["kind"] == "top level" and result["exception"]:
            return


def main() -> None:
    """Keep the protocol's stream to ourselves: what libraries print past Python goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(data: Unit) -> None:
        out.write(json.dumps(data) + "\n")
        out.flush()

    run_fixture(json.loads(sys.stdin.readline())["path"], answer)


if __name__ == "__main__":
    main()
