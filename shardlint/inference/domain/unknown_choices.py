"""Values that an entry point's unknown caller chooses: they may be anything, so each branch may be taken.

Other unknown values are determined by the program: some branches that depend on them may never be taken, so
events there are doubtful.
"""

from __future__ import annotations

from shardlint.inference.domain.values import Alternatives, Array, Integer, Value
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

_NOT_KNOWN = (Unknown, Integer, Array, Alternatives)


@dataclass(frozen=True, slots=True)
class Choice(Unknown):
    """A value that the caller of an entry point chooses, or one read from it; not a size of it."""


def undecided(reason: str, *operands: Value) -> Unknown:
    """Return an operator's unknown result: a choice if only choices determine it."""
    return Choice(reason) if _are_chosen(operands) else Unknown(reason)


def swallowed(unknown: Unknown, *others: Value) -> Unknown:
    """Return an unknown value that absorbs others too: not a choice if one of them is none."""
    return unknown if _are_chosen(others) or type(unknown) is not Choice else Unknown(unknown.reason)


def is_doubtful(test: Value) -> bool:
    """Return whether an undecided test depends on more than choices."""
    return type(test) is not Choice


def _are_chosen(values: tuple[Value, ...]) -> bool:
    unknown = [value for value in values if isinstance(value, _NOT_KNOWN)]
    return bool(unknown) and all(type(value) is Choice for value in unknown)
