"""The comments with which a fixture announces its findings."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from shardlint.files.lexing import comments

_EXPECT = re.compile(r"#\s*expect(-silent)?:\s*([A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)")
_RAISES = re.compile(r"#\s*raises\s*(?=#|$)")
_HINTS = ("expect", "raises")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a comment announces for its line.

    ``codes`` are what the analyzer must report there; then JAX must raise in the same case or cell,
    or, where ``silent``, accept it. ``raises`` marks the line that must be seen raising.
    """

    line: int
    codes: tuple[str, ...]
    silent: bool = False
    raises: bool = False
    cell: int | None = None


def parse_expectations(text: str) -> list[Expectation]:
    """Find the expectations in a program's or a cell's text, which need not be valid Python."""
    if not any(hint in text for hint in _HINTS):
        return []
    found = []
    for comment in comments(text):
        for match in _EXPECT.finditer(comment.text):
            codes = tuple(code.strip() for code in match[2].split(","))
            found.append(Expectation(comment.line, codes, silent=match[1] is not None))
        if _RAISES.search(comment.text):
            found.append(Expectation(comment.line, (), raises=True))
    return found


def read_expectations(path: Path) -> list[Expectation]:
    """Find the expectations in a fixture, in each code cell of a notebook. Raises OSError and ValueError."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return parse_expectations(text)
    return [
        replace(expectation, cell=index)
        for index, cell in enumerate(json.loads(text)["cells"])
        if cell["cell_type"] == "code"
        for expectation in parse_expectations("".join(cell["source"]))
    ]
