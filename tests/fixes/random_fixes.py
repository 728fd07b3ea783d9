"""Safe fixes of random programs, run before and after under Python and JAX in this process.

``PYTHONPATH=tests python tests/fixes/random_fixes.py [COUNT] [SEED]`` says how many programs went wrong, and
shows the first ones.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import sys
import warnings
from dataclasses import astuple, dataclass

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from programs_to_fix import random_program
from support.jax_answers import asks_jax

from shardlint.api import Linter, Settings
from shardlint.fixes.documents import Document
from shardlint.fixes.fixpoint import Fixed, fix_all
from shardlint.source.notebooks.cells import read_cells

LINTER = Linter(Settings(devices=8))
#: What no fix may make a program raise.
BROKEN = (
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
)


@dataclass(frozen=True)
class Ran:
    """What a program printed, and the class of what it raised, empty if it ran to its end."""

    printed: str
    raised: str


@asks_jax("fixes", encode=astuple, decode=lambda ran: Ran(*ran))
def run(data: bytes) -> Ran:
    """Run a program in a namespace of its own."""
    out = io.StringIO()
    names: dict[str, object] = {"__name__": "__main__"}
    raised = ""
    environment = dict(os.environ)
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(data, "program.py", "exec", dont_inherit=True), names)
        except Exception as error:
            raised = type(error).__name__
    os.environ.clear()
    os.environ.update(environment)
    # Functions are printed with their addresses.
    return Ran(re.sub(r" at 0x\w+", "", out.getvalue()), raised)


def fixed(document: Document) -> Fixed:
    """What all safe fixes make of a document."""
    return fix_all([document], LINTER.check_sources([document.source]), False, LINTER.check_sources)


def notebook(statements: list[str], rng: random.Random) -> Document:
    """The statements in cells."""
    cells = [[statements[0]]]
    for statement in statements[1:]:
        if rng.random() < 0.5:
            cells.append([])
        cells[-1].append(statement)
    written: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": "\n".join(cell).splitlines(keepends=True),
        }
        for cell in cells
    ]
    whole = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Document("program.ipynb", json.dumps(whole, indent=1).encode())


def text_of(document: Document) -> str:
    """A document's program as one text."""
    if document.path.endswith(".ipynb"):
        return "\n".join(text for _, text in read_cells(document.data)) + "\n"
    return document.data.decode()


def dressings(rng: random.Random) -> tuple[str, str, str, str]:
    """How a file is written: its first line, what indents it, what ends its lines, and its encoding."""
    encoding = rng.choice(("utf-8", "utf-8-sig", "latin-1"))
    latin = encoding == "latin-1"
    first = "# coding: latin-1\n# é\n" if latin else rng.choice(("", "# é\n", "\f\n"))
    # Python looks for the encoding on a line that ends with \n.
    newline = rng.choice(("\n", "\r\n") if latin else ("\n", "\r\n", "\r"))
    return first, rng.choice(("    ", "\t", "  ")), newline, encoding


def dressed(text: str, how: tuple[str, str, str, str]) -> bytes:
    """A program as a file that is written so; a fix writes neither indents nor line ends of its own."""
    first, indent, newline, encoding = how
    return (first + text).replace("    ", indent).replace("\n", newline).encode(encoding)


def faults(seed: int) -> tuple[list[str], bool]:
    """What is wrong with the safe fixes of one program, and whether there were any."""
    rng = random.Random(seed)
    statements, rights = random_program(rng)
    text = "\n".join(statements) + "\n" * rng.randrange(2)
    document = notebook(statements, rng) if rng.random() < 0.25 else Document("program.py", text.encode())
    made = fixed(document)
    after = made.after.get(document.path, document)
    found = [f"note: {note}" for note in made.notes]
    if after.data == document.data:
        return found, False
    again = fixed(after).after.get(document.path, after)
    if again.data != after.data:
        found.append("fixing again changes something")
    if document.path.endswith(".py"):
        how = dressings(rng)
        other = Document("program.py", dressed(text, how))
        if fixed(other).after.get("program.py", other).data != dressed(text_of(after), how):
            found.append(f"other bytes change in a file written with {how}")
    before, now = run(text_of(document).encode()), run(text_of(after).encode())
    right = run(("\n".join(rights) + "\n").encode())
    # A mistake that has no safe fix, or is not found, may show now where another one hid it.
    if (
        now.raised
        and now.raised not in (before.raised, right.raised)
        and (now.raised in BROKEN or not before.raised)
    ):
        found.append(f"raises {now.raised} after it, {before.raised or 'nothing'} before")
    if not (now.raised or right.raised) and now.printed != right.printed:
        found.append(f"prints {now.printed!r}, without mistakes {right.printed!r}")
    if not before.raised and (now.raised or now.printed != before.printed):
        found.append(f"prints {now.printed!r}, before {before.printed!r}")
    return [*found, f"\n{text_of(document)}\n--- after\n{text_of(after)}"] if found else [], True


def main() -> None:
    """Try programs."""
    count, seed = (int(argument) for argument in (*sys.argv[1:], "1000", "0")[:2])
    wrong, changed = 0, 0
    for number in range(seed, seed + count):
        found, fixes = faults(number)
        changed += fixes
        wrong += bool(found)
        if found and wrong <= int(os.environ.get("SHOWN", "3")):
            print(f"=== {number}", *found, sep="\n")
    print(f"{count} programs, {changed} changed, {wrong} wrong")


if __name__ == "__main__":
    main()
