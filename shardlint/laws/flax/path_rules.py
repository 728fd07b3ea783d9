"""Tables of (regex, spec) over the paths of parameters, as many code bases have them.

JAX itself has no such function. T5X, EasyLM (`match_partition_rules`) and their successors join a path's keys
with ``/`` (code around nnx also with ``.``), take the first rule whose pattern `re.search` finds in it, and
leave arrays of one element alone. Rules of the older kind hold a tuple of patterns, which consecutive keys
must match.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from shardlint.laws.core.values import Spec, entry_text
from shardlint.support.lazy_dataclass import dataclass

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathRule:
    """One rule. ``spec`` is a str, as Python writes it, when it is not a spec."""

    pattern: str | tuple[str, ...]
    spec: Spec | str

    def __str__(self) -> str:
        pattern = self.pattern if isinstance(self.pattern, str) else entry_text(self.pattern)
        return f'"{pattern}"' if isinstance(self.pattern, str) else pattern

    @property
    def broken(self) -> str | None:
        """Return `re`'s error message for a pattern that it cannot compile, else None."""
        try:
            _compiled(self.pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error)
        return None

    def matches(self, path: Path, separator: str = "/") -> bool:
        """Return whether the rule matches a path; a broken one matches none.

        A tuple of patterns must match as many consecutive keys; `$` is appended to each pattern.
        """
        if self.broken is not None:
            return False
        patterns = _compiled(self.pattern)
        if isinstance(self.pattern, str):
            return patterns[0].search(separator.join(path)) is not None
        runs = range(len(path) - len(patterns) + 1)
        return bool(patterns) and any(
            all(pattern.match(key) for pattern, key in zip(patterns, path[i:], strict=False)) for i in runs
        )


def first_match(rules: Sequence[PathRule], path: Path, separator: str = "/") -> int | None:
    """Return the index of the first rule that matches a path, None where there is none."""
    return next((number for number, rule in enumerate(rules) if rule.matches(path, separator)), None)


def separator_of(rules: Sequence[PathRule], paths: Sequence[Path]) -> str:
    """Return the separator of keys that the rules assume: ``/``, or ``.`` where more rules match with it."""

    def holding(separator: str) -> int:
        return sum(any(rule.matches(path, separator) for path in paths) for rule in rules)

    return max(("/", "."), key=holding)


def needs_rule(shape: Sequence[int]) -> bool:
    """Return whether an array is looked up at all: those of one element stay replicated."""
    return math.prod(shape) != 1


@lru_cache(maxsize=4096)
def _compiled(pattern: str | tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    if isinstance(pattern, str):
        return (re.compile(pattern),)
    return tuple(re.compile(f"{part}$") for part in pattern)
