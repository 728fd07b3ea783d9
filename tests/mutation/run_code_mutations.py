"""Would the tests notice? One small edit of shardlint's own code at a time, until a test fails.

    python tests/mutation/run_code_mutations.py [FOLDER…] [--tests FOLDER…] [--count N] [--seed S]

The edits are made in a copy of the tree. Each that no test notices is listed: it changes nothing (the bound
of a cache, an order that does not matter), or no test asserts what it changes.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("docs", "fixtures", "pyproject.toml", "README.md", "server", "shardlint", "tests")
EDITED = ("shardlint/laws", "shardlint/rules")
TESTS = (
    *("tests/laws", "tests/rules", "tests/placement", "tests/propagation", "tests/explicit"),
    *("tests/meaning", "tests/transforms", "tests/flax", "tests/versions"),
)
#: Folders in which an edit is of a text, or of a table that was measured.
TABLES = ("messages", "versions")
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
COMPUTED: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}


@dataclass(frozen=True)
class Edit:
    """A part of a file, from one offset in its bytes to another, and the text that replaces it."""

    path: str
    line: int
    begin: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"

    def apply(self, data: bytes) -> bytes:
        """Return the edited file."""
        return data[: self.begin] + self.text.encode() + data[self.end :]


def edits_of(path: Path, name: str) -> Iterator[Edit]:
    """Yield the edits of a module: of comparisons, ``and``, ``or``, ``not``, arithmetic and constants."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def text(node: ast.expr) -> str:
        begin = starts[node.lineno - 1] + node.col_offset
        return data[begin : starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)].decode()

    for node in ast.walk(ast.parse(data)):
        match node:
            case ast.Compare(left, [op], [right]):
                found = f"({text(left)} {COMPARED[type(op)]} {text(right)})"
            case ast.BoolOp(op, values):
                word = " and " if isinstance(op, ast.Or) else " or "
                found = f"({word.join(f'({text(value)})' for value in values)})"
            case ast.UnaryOp(ast.Not(), operand):
                found = f"bool({text(operand)})"
            case ast.BinOp(left, op, right) if type(op) in COMPUTED and not isinstance(left, ast.Constant):
                found = f"(({text(left)}) {COMPUTED[type(op)]} ({text(right)}))"
            case ast.Constant(bool() as value):
                found = str(not value)
            case ast.Constant(int() as value):
                found = str(value + 1)
            case _:
                continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        yield Edit(name, node.lineno, begin, end, found)


def drawn(folders: Sequence[str], count: int, seed: int) -> list[Edit]:
    """Return so many edits of the modules in folders, of each module about as many as its length asks."""
    found = [
        edit
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.parent.name not in TABLES
        for edit in edits_of(path, str(path.relative_to(ROOT)))
    ]
    return random.Random(seed).sample(found, min(count, len(found)))


def noticed_by(tree: Path, edit: Edit, tests: Sequence[str], seconds: float) -> str | None:
    """Return the test that fails with an edit, or ``time`` if the tests did not end; None if all pass."""
    edited = tree / edit.path
    original = edited.read_bytes()
    edited.write_bytes(edit.apply(original))
    environment = {**os.environ, "PYTHONPATH": f"{tree}:{tree / 'server'}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return "time"
    finally:
        edited.write_bytes(original)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return lines[0].split()[1] if lines else "pytest" if done.returncode else None


def main() -> int:
    """Run, and print what was noticed and what was not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="*", default=EDITED, help="what is edited (laws and rules)")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="what may notice, in this order")
    parser.add_argument("--count", type=int, default=20, help="how many edits")
    parser.add_argument("--seed", type=int, default=0, help="which edits")
    parser.add_argument("--seconds", type=float, default=900.0, help="how long the tests may take")
    options = parser.parse_args()
    by: Counter[str] = Counter()
    missed: list[Edit] = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        for edit in drawn(options.folders, options.count, options.seed):
            test = noticed_by(tree, edit, options.tests, options.seconds)
            print(f"{edit}\n    {test or 'NOT NOTICED'}", flush=True)
            if test is None:
                missed.append(edit)
            else:
                by["/".join(test.split("/")[:2])] += 1
    print(f"\n{by.total()} of {by.total() + len(missed)} were noticed:", *map(str, by.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
