"""What was met is listed once, however often memory tells of it, and things that were replaced stay known."""

from __future__ import annotations

from copy import copy

from shardlint.inference.store.identity_set import Once


class Thing:
    """Told by identity."""


def test_what_is_there_is_not_added_again() -> None:
    one, other = Thing(), Thing()
    things = Once([one])
    things.extend([one, other, one])
    things += [other]
    assert things == [one, other]
    things.append(one)
    assert things == [one, other, one]


def test_what_was_replaced_is_not_added_again() -> None:
    one, other = Thing(), Thing()
    things = Once([one])
    things[0] = other
    things.extend([one, other])
    assert things == [other]


def test_a_copy_goes_its_own_way() -> None:
    one, other = Thing(), Thing()
    things = Once([one])
    again = copy(things)
    again.extend([one, other])
    assert (things, again) == ([one], [one, other])
    again.clear()
    again.extend([one])
    assert again == [one]
