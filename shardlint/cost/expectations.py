"""The comments in which a fixture announces its collectives.

``# expect-collective: all-gather model`` on a line says that a collective of this kind over these mesh axes
runs for it; several are separated by commas, and ``<= 8 MiB`` (or ``== 8 MiB``) bounds the bytes that a
device sends each time. ``# expect-no-collectives`` says that none does. On the line of a ``def`` they speak
of the whole function: a case, or one that is compiled. ``[tpu]`` or ``[cpu]`` behind the word names the
backend of which it holds.
"""

from __future__ import annotations

import re

from shardlint.confirm.fixtures.expectations import comments_of
from shardlint.cost.values import Collective, Kind
from shardlint.support.lazy_dataclass import dataclass
from shardlint.support.sizes import parse_size

_COLLECTIVES = re.compile(r"#\s*expect-collectives?(?:\[(\w+)\])?:\s*([^#]*)")
_NONE = re.compile(r"#\s*expect-no-collectives?(?:\[(\w+)\])?\b")
_BOUND = re.compile(r"^(.*?)\s*(<=|==)\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Expectation:
    """An announcement on a line: of a collective, or that there are none (``kind`` is None).

    ``least`` and ``most`` bound its bytes. ``written`` is its text.
    """

    line: int
    kind: Kind | None
    axes: frozenset[str]
    written: str
    cell: int | None = None
    least: int = 0
    most: int | None = None
    backend: str | None = None

    def means(self, one: Collective) -> bool:
        """Return whether a collective is of this kind, over these axes."""
        return one.kind is self.kind and frozenset(one.axes) == self.axes

    def allows(self, one: Collective) -> bool:
        """Return whether the bytes of a collective are within the bound."""
        return self.least <= one.bytes and (self.most is None or one.bytes <= self.most)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A comment that begins as an announcement, and why it is none."""

    line: int
    reason: str
    cell: int | None = None


def parse_expectations(text: str, cell: int | None = None) -> list[Expectation | Unreadable]:
    """Return the announcements in a program's or a cell's text, in order."""
    if "expect-" not in text:
        return []
    found: list[Expectation | Unreadable] = []
    for line, comment in comments_of(text):
        found += [
            Expectation(line, None, frozenset(), "no collectives", cell, backend=match[1])
            for match in _NONE.finditer(comment)
        ]
        for match in _COLLECTIVES.finditer(comment):
            found += [_expectation(line, one.strip(), match[1], cell) for one in match[2].split(",")]
    return found


def _expectation(line: int, written: str, backend: str | None, cell: int | None) -> Expectation | Unreadable:
    bound = _BOUND.match(written)
    words = (bound[1] if bound else written).split()
    kinds = [kind.value for kind in Kind]
    if not words or words[0] not in kinds:
        return Unreadable(line, f"`{written}` begins with none of {', '.join(kinds)}", cell)
    size = parse_size(bound[3]) if bound else None
    if bound and size is None:
        return Unreadable(line, f"`{bound[3]}` is no size such as 8 MiB", cell)
    least = size if bound and size is not None and bound[2] == "==" else 0
    return Expectation(line, Kind(words[0]), frozenset(words[1:]), written, cell, least, size, backend)
