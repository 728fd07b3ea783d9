"""The release under whose laws calls are judged.

Most laws are the same in all releases. One that differs asks `since`, and whoever assumes a release
(`assuming`) learns at which releases the answers change.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Protocol

from shardlint.laws.versions.releases import ASSUMED, Release


class Era(Protocol):
    """One who assumes a release. ``turns`` are the releases at which an answer changes."""

    turns: set[Release]

    @property
    def release(self) -> Release:
        """Return the release that is assumed."""


class _Alone:
    """An era of a single release, which needs no turns."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.turns: set[Release] = set()


_DEFAULT = _Alone(ASSUMED)
_ERA: ContextVar[Era] = ContextVar("era")
_parsed = cache(Release.parse)


def since(release: str) -> bool:
    """Return whether the laws in force are those of this release or a later one."""
    era, turn = _ERA.get(_DEFAULT), _parsed(release)
    era.turns.add(turn)
    return era.release >= turn


@contextmanager
def assuming(era: Era | Release) -> Iterator[None]:
    """Judge by the laws of a release."""
    token = _ERA.set(_Alone(era) if isinstance(era, Release) else era)
    try:
        yield
    finally:
        _ERA.reset(token)
