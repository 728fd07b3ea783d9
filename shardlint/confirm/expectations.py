"""The comments with which a fixture announces its findings."""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from shardlint.support.lazy_dataclass import dataclass

_EXPECT = re.compile(r"#\s*expect(-silent)?:\s*([A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)")
_RAISES = re.compile(r"#\s*raises\s*(?=#|$)", re.MULTILINE)


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
    if _EXPECT.search(text) is None and _RAISES.search(text) is None:
        return []
    found = []
    for line, comment in _comments(text):
        for match in _EXPECT.finditer(comment):
            codes = tuple(code.strip() for code in match[2].split(","))
            found.append(Expectation(line, codes, silent=match[1] is not None))
        if _RAISES.search(comment):
            found.append(Expectation(line, (), raises=True))
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


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments with their lines: by tokens as far as the text has them, then from each first ``#``."""
    seen = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            seen = token.end[0]
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        for line, content in enumerate(text.splitlines(), 1):
            if line > seen and "#" in content:
                yield line, content[content.index("#") :]
