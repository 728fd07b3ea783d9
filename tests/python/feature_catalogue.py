"""The features of Python that programs are made of: `features/*.txt`, by chapter of the language and library.

A feature is a name, the type of its result, statements, and an expression as the last line::

    zip_consumes_first -> int
        a_ = iter([1, 2, 3, 4])
        list(zip(a_, $list))
        sum(a_)

``$int`` is a hole for an expression of that type, ``$LIST`` for a variable of it that others read too. A
name that ends with an underscore is another one wherever the feature stands. ``[module]`` behind the type
says that it means this at module level only, ``[rare]`` that it makes so much unknown that few programs
should hold it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "features"
#: The types of holes and results. A ``nat`` is 0 to 4, a ``pos`` 1 to 4; an ``fn`` takes and returns an
#: integer; an ``iter`` is any iterable of integers; an ``obj`` has an attribute ``size``.
TYPES = ("int", "nat", "pos", "bool", "str", "list", "tuple", "dict", "set", "iter", "fn", "obj")

_HEAD = re.compile(r"(\w+) -> (\w+)(?: \[([\w ]+)\])?$")
_HOLE = re.compile(r"(?<!\$)\$([a-z]+|[A-Z]+)\b")
_FRESH = re.compile(r"(?<![\w.])([A-Za-z]\w*)_\b")


@dataclass(frozen=True)
class Feature:
    """A feature of Python as a small piece of a program.

    Attributes:
        chapter: the file and the section that it stands in.
        result: the type of the last line.
        lines: its statements and the expression.
    """

    chapter: str
    name: str
    result: str
    flags: frozenset[str]
    lines: tuple[str, ...]

    def written(self, number: int, fill: Callable[[str], str]) -> list[str]:
        """Return its lines with the holes filled, and names of its own with a number."""
        text = _FRESH.sub(rf"\g<1>{number}", "\n".join(self.lines))
        return _HOLE.sub(lambda hole: fill(hole[1]), text).split("\n")


def parsed(chapter: str, text: str) -> list[Feature]:
    """Read the features of one file."""
    found: list[Feature] = []
    section = chapter
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        head, *lines = block.rstrip().split("\n")
        if head.startswith("## "):
            section = f"{chapter}: {head[3:]}"
            continue
        match = _HEAD.match(head)
        if match is None or not lines or any(not line.startswith("    ") for line in lines):
            raise ValueError(f"{chapter}: cannot read {block!r}")
        name, result, flags = match.groups()
        if result not in TYPES or (holes := set(map(str.lower, _HOLE.findall(block))) - set(TYPES)):
            raise ValueError(f"{chapter}: {name} speaks of unknown types: {result} {holes}")
        lines = [line[4:] for line in lines]
        found.append(Feature(section, name, result, frozenset((flags or "").split()), tuple(lines)))
    return found


@cache
def features() -> dict[str, Feature]:
    """Return all features by their names."""
    found: dict[str, Feature] = {}
    for file in sorted(FOLDER.glob("*.txt")):
        for feature in parsed(file.stem, file.read_text(encoding="utf-8")):
            if feature.name in found:
                raise ValueError(f"two features are called {feature.name}")
            found[feature.name] = feature
    return found
