"""Queries of the tables: the API of a release, the releases where an answer changes, and past verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from shardlint.laws.core.verdicts import Cause, Rejected, Undecided
from shardlint.laws.versions.api_changes import ARGUMENTS, BEHAVIOURS, NAMES, Event, Row
from shardlint.laws.versions.keywords import is_never_taken
from shardlint.laws.versions.law_changes import LAW_ROWS, LawRow
from shardlint.laws.versions.other_changes import OTHERS
from shardlint.laws.versions.releases import ASSUMED, Release
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ApiState:
    """A name or argument in one release.

    ``name`` is the subject in the table: the requested name, or the module that holds it. ``there`` is true
    if the release has it, ``row`` is its last event, and ``later`` the next one. ``added``: it is missing
    because it comes later.
    """

    name: str
    there: bool
    row: Row | None
    later: Row | None

    @property
    def deprecated(self) -> bool:
        """Return whether it exists and its use warns."""
        return self.there and self.row is not None and self.row.event is Event.DEPRECATED

    @property
    def added(self) -> bool:
        """Return whether it is missing only until a later release."""
        return not self.there and self.row is None and self.later is not None


@cache
def _rows() -> dict[str, tuple[Row, ...]]:
    """Return the events of each subject, oldest first."""
    events: dict[str, list[Row]] = {}
    for row in (*NAMES, *OTHERS, *ARGUMENTS, *BEHAVIOURS):
        events.setdefault(row.subject, []).append(row)
    return {name: tuple(sorted(rows, key=_order)) for name, rows in events.items()}


def _order(row: Row) -> Release:
    return row.since or Release(0, 0)


def subjects() -> Iterable[str]:
    """Return every subject of the table."""
    return _rows()


@cache
def has_members(name: str) -> bool:
    """Return whether the table lists names inside this one."""
    return any(subject.startswith(f"{name}.") for subject in _rows())


@cache
def _parts() -> int:
    """Return the number of parts of the longest subject."""
    return 1 + max(subject.count(".") for subject in _rows())


def _known(name: str) -> str | None:
    """Return the subject that covers a name: itself, or a module that holds it."""
    if "(" not in name:
        # Names that a program builds in a recursive lookup may have hundreds of parts.
        name = ".".join(name.split(".", _parts())[: _parts()])
    while name and name not in _rows():
        name = name.rpartition(".")[0] if "(" not in name else ""
    return name or None


@cache
def state_of(name: str, release: Release = ASSUMED) -> ApiState | None:
    """Return the state in a release of a qualified name or ``function(argument=)``; None if not in the
    tables.
    """
    subject = _known(name)
    if subject is None:
        function, _, keyword = name.partition("(")
        if keyword and is_never_taken(function, keyword.removesuffix("=)")):
            return ApiState(name, False, Row(name, Event.REMOVED, None), None)
        return None
    past = [row for row in _rows()[subject] if _order(row) <= release]
    future = [row for row in _rows()[subject] if _order(row) > release]
    first = _rows()[subject][0].event is not Event.ADDED
    there = past[-1].event is not Event.REMOVED if past else first
    return ApiState(subject, there, past[-1] if past else None, future[0] if future else None)


def is_removed(name: str, release: Release = ASSUMED) -> bool:
    """Return whether a release is known to lack a name: no longer, or not yet."""
    state = state_of(name, release)
    return state is not None and not state.there


def holds(behaviour: str, release: Release = ASSUMED) -> bool:
    """Return whether a release has a behaviour, one of the constants of `api_changes`."""
    state = state_of(behaviour, release)
    assert state is not None
    return state.there


@cache
def turns(name: str) -> frozenset[Release]:
    """Return the releases at which a name, argument or behaviour comes or goes."""
    return frozenset(_order(row) for row in _events(name) if row.event is not Event.DEPRECATED)


@cache
def deprecations(name: str) -> frozenset[Release]:
    """Return the releases that deprecate a name: its use warns, and a program means the same as before."""
    return frozenset(_order(row) for row in _events(name) if row.event is Event.DEPRECATED)


def _events(name: str) -> tuple[Row, ...]:
    subject = _known(name)
    return () if subject is None else _rows()[subject]


def rejected_at(release: Release, verdict: Rejected, api: str | None = None) -> Rejected | Undecided:
    """Return a release's verdict on a call that the newest one rejects: the same, another class, or
    undecided.
    """
    for row in LAW_ROWS:
        if release < row.since and _concerns(row, verdict, api):
            if row.before is None:
                return Undecided(f"JAX {release} does not reject this")
            return replace(verdict, exception=row.before)
    return verdict


@cache
def changed_causes() -> frozenset[Cause]:
    """Return the causes for which some release rejects a call that another one accepts."""
    tabled = {row.cause for row in LAW_ROWS if row.cause is not None and row.before is None}
    # `judge_spec` and `varying.judge_operand` ask the release themselves.
    return frozenset(tabled | {Cause.BAD_ENTRY, Cause.OPERAND})


def turns_of_law(verdict: Rejected, api: str | None = None) -> frozenset[Release]:
    """Return the releases at which a rejection changes, or begins."""
    return frozenset(row.since for row in LAW_ROWS if _concerns(row, verdict, api))


def _concerns(row: LawRow, verdict: Rejected, api: str | None) -> bool:
    raised = row.newest in ("", verdict.exception) and row.stage in ("", verdict.stage)
    return row.cause in (None, verdict.cause) and raised and (not row.apis or (api or "") in row.apis)
