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
    """Something that whoever calls an entry chooses, or what is read from it; not a size of it."""


def undecided(reason: str, *operands: Value) -> Unknown:
    """What an operator gives that is not known: a choice where nothing else than choices decides."""
    return Choice(reason) if _are_chosen(operands) else Unknown(reason)


def swallowed(unknown: Unknown, *others: Value) -> Unknown:
    """Something unknown that takes the place of others too: no choice, if one of them is none."""
    return unknown if _are_chosen(others) or type(unknown) is not Choice else Unknown(unknown.reason)


def is_doubtful(test: Value) -> bool:
    """Whether an undecided test is decided by something else than a choice."""
    return type(test) is not Choice


def _are_chosen(values: tuple[Value, ...]) -> bool:
    unknown = [value for value in values if isinstance(value, _NOT_KNOWN)]
    return bool(unknown) and all(type(value) is Choice for value in unknown)
