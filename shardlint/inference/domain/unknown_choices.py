"""What the caller of an entry chooses, who is not known: it may be anything, so each branch may be taken.

Other values that are not known are what the program makes them: of the branches that these decide some may
never be taken, so what is met there is in doubt.
"""

from __future__ import annotations

from shardlint.inference.domain.values import Alternatives, Array, Integer, Value
from shardlint.laws.core.values import Unknown
from shardlint.support.fast_frozen import frozen

_NOT_KNOWN = (Unknown, Integer, Array, Alternatives)


@frozen
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
