"""The known releases of JAX, and the range of them that a project supports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from shardlint.support.lazy_dataclass import dataclass


class Release(NamedTuple):
    """A release of JAX; releases compare as their numbers do."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> Release:
        """Read ``0.10.2``, ``0.7`` (its first release) or ``0.8.0.dev20250901``. Raises ValueError."""
        found = re.match(r"\s*v?(\d+)\.(\d+)(?:\.(\d+))?(?![\d])", text)
        if found is None:
            raise ValueError(f"not a version: {text!r}")
        return cls(int(found[1]), int(found[2]), int(found[3] or 0))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


RELEASES = tuple(
    map(
        Release.parse,
        "0.4.35 0.4.36 0.4.37 0.4.38 0.5.0 0.5.1 0.5.2 0.5.3 0.6.0 0.6.1 0.6.2 0.7.0 0.7.1 0.7.2 "
        "0.8.0 0.8.1 0.8.2 0.8.3 0.9.0 0.9.1 0.9.2 0.10.0 0.10.1 0.10.2 0.11.0 0.11.1 0.11.2 0.12.0".split(),
    )
)
OLDEST, NEWEST = RELEASES[0], RELEASES[-1]

#: The environment variable that names the release to assume where neither options nor the project say one.
ENVIRONMENT_VARIABLE = "SHARDLINT_JAX"


def _assumed() -> Release:
    try:
        return min(Release.parse(os.environ.get(ENVIRONMENT_VARIABLE, "")), NEWEST)
    except ValueError:
        return NEWEST


#: The release assumed where nothing says another: the newest.
ASSUMED = _assumed()


class TargetError(ValueError):
    """A text that is not a range of versions; the message states the error."""


@dataclass(frozen=True, slots=True)
class Target:
    """The releases that a project supports: those from ``low`` to ``high``, both of them known.

    ``beyond``: the project means releases that are newer than all known ones, or older; the nearest stands
    for them.
    """

    low: Release
    high: Release
    beyond: bool = False

    def __contains__(self, release: Release) -> bool:
        return self.low <= release <= self.high

    @property
    def releases(self) -> tuple[Release, ...]:
        """Return the known releases of the target, oldest first."""
        return tuple(release for release in RELEASES if release in self)

    @property
    def is_older(self) -> bool:
        """Return whether the project means a release that is older than all known ones."""
        return self.beyond and self.high == OLDEST

    @property
    def note(self) -> str:
        """Return what to tell of a target beyond the known releases."""
        side, end = ("older", "oldest") if self.is_older else ("newer", "newest")
        return f"the JAX meant is {side} than {self.low}, the {end} one known, and judged as that"

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def only(release: Release) -> Target:
    """Return the target of one release; one that is newer or older than all known ones is judged as the
    nearest of them."""
    known = max(min(release, NEWEST), OLDEST)
    return Target(known, known, beyond=not OLDEST <= release <= NEWEST)


#: The default target.
ASSUMED_ONLY = only(ASSUMED)


def spans_text(releases: Iterable[Release]) -> str:
    """Write releases as spans of neighbours: ``0.4.35 to 0.5.3, 0.7.0``."""
    spans: list[Target] = []
    for release in sorted(releases):
        if spans and RELEASES.index(spans[-1].high) + 1 == RELEASES.index(release):
            spans[-1] = Target(spans[-1].low, release)
        else:
            spans.append(Target(release, release))
    return ", ".join(map(str, spans))


_CLAUSE = re.compile(r"\s*(===|==|~=|>=|<=|!=|>|<|\^)?\s*v?(\d+(?:\.\d+){0,2})(\.\*)?[\w.+-]*\s*")


def parse_target(text: str) -> Target:
    """Read ``0.6.2``, ``0.7`` (all its releases) or ``>=0.6,<0.9`` as the known releases that match.

    Bounds beyond the known releases are the oldest or newest known. Releases excluded by ``!=`` inside the
    range stay in it. Raises TargetError.
    """
    low: tuple[int, ...] = (0,)
    high: tuple[int, ...] = (10**6,)
    for clause in text.split(","):
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            raise TargetError(f'"{text}" is no version such as "0.10.2" and no range such as ">=0.6,<0.9"')
        least, most = _bounds(found[1] or "==", tuple(map(int, found[2].split("."))))
        low, high = max(low, least), min(high, most)
    if low >= high:
        raise TargetError(f'"{text}" lets no release of JAX in')
    inside = [release for release in RELEASES if low <= release < high]
    if inside:
        return Target(inside[0], inside[-1])
    # Between two known releases, or beyond them: the nearest one below represents it.
    nearest = max((release for release in RELEASES if release < high), default=OLDEST)
    return Target(nearest, nearest, beyond=low > NEWEST or high <= OLDEST)


def _bounds(operator: str, version: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the least version that a clause allows, and the least above it that it excludes."""
    every, after = (10**6,), (*version[:-1], version[-1] + 1)
    if operator in ("==", "==="):
        return version, after
    if operator == "~=":
        return version, (*version[:-2], version[-2] + 1) if len(version) > 1 else every
    if operator == "^":
        first = next((i for i, part in enumerate(version) if part), len(version) - 1)
        return version, (*version[:first], version[first] + 1)
    return {
        ">=": (version, every),
        ">": (after, every),
        "<": ((0,), version),
        "<=": ((0,), after),
        "!=": ((0,), every),
    }[operator]
