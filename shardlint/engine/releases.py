"""Analyses on the JAX releases that a project supports, one after the other, and their findings merged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence, Set

from shardlint.engine.work_item import Analyzed, uses_of
from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.versions import Release, changed_causes, deprecations, spans_text, state_of
from shardlint.model.findings import Finding, Severity
from shardlint.model.uses import ApiReference
from shardlint.source import Source
from shardlint.support.lazy_dataclass import dataclass

#: Analyzes sources on a release, on a mesh where they define none, perhaps with command lines' defaults.
Analyze = Callable[[Sequence[Source], Release, Mesh | None, bool], Sequence[Analyzed]]


@dataclass(frozen=True, slots=True)
class Era:
    """Consecutive releases under which a program has the same analysis, and the findings."""

    releases: tuple[Release, ...]
    findings: Sequence[Finding]


class ReleaseResults:
    """The results of sources on one release after another, from the newest to the oldest.

    A source is analyzed again only on a release on which its results may differ, by what they noticed.
    """

    def __init__(self, analyze: Analyze) -> None:
        self._analyze = analyze
        self._latest: dict[tuple[str, Mesh | None, bool], tuple[Release, Analyzed]] = {}

    def add(
        self, results: Sequence[Analyzed], release: Release, mesh: Mesh | None = None, defaults: bool = False
    ) -> None:
        """Add results on a release, as `at` returns them."""
        self._latest |= {(one.source.path, mesh, defaults): (release, one) for one in results}

    def at(
        self, sources: Sequence[Source], release: Release, mesh: Mesh | None = None, defaults: bool = False
    ) -> list[Analyzed]:
        """Return the results of sources on a release that is not newer than those before."""
        left = [one for one in sources if self._may_differ((one.path, mesh, defaults), release)]
        self.add(self._analyze(left, release, mesh, defaults), release, mesh, defaults)
        latest = (self._latest[source.path, mesh, defaults] for source in sources)
        return [_before_deprecations(one, newer, release) for newer, one in latest]

    def _may_differ(self, key: tuple[str, Mesh | None, bool], release: Release) -> bool:
        if key not in self._latest:
            return True
        newer, one = self._latest[key]
        return any(release < turn <= newer for turn in one.noticed.turns)


def _before_deprecations(result: Analyzed, newer: Release, release: Release) -> Analyzed:
    """Return the result on an older release, given that it differs at most in what is deprecated."""
    names = {use.name for use in result.uses if isinstance(use, ApiReference)}
    if not any(release < turn <= newer for name in names for turn in deprecations(name)):
        return result
    uses = [
        dataclasses.replace(use, release=release) if isinstance(use, ApiReference) else use
        for use in result.uses
        if not isinstance(use, ApiReference) or _is_used(use.name, release)
    ]
    return dataclasses.replace(result, uses=uses)


def _is_used(name: str, release: Release) -> bool:
    """Return whether a reference to a name is a use on a release: it is missing there, or deprecated."""
    state = state_of(name, release)
    return state is not None and (not state.there or state.deprecated)


def turns_of(results: Sequence[Analyzed]) -> set[Release]:
    """Return the releases at which results may differ, or a name that they use is deprecated."""
    names = {use.name for one in results for use in one.uses if isinstance(use, ApiReference)}
    noticed = (turn for one in results for turn in one.noticed.turns)
    return {*noticed, *(release for name in names for release in deprecations(name))}


Releases = tuple[Release, ...]


def parted(releases: Releases, turns: set[Release]) -> tuple[Releases, Releases]:
    """Split releases, oldest first, at the newest change: those before it, and those from it on."""
    turn = max((turn for turn in turns if turn <= releases[-1]), default=releases[0])
    return tuple(r for r in releases if r < turn), tuple(r for r in releases if r >= turn)


def changing_files(results: Sequence[Analyzed], left: Releases) -> set[str]:
    """Return the files in which something may differ on releases that an early end left out."""
    turned = [one for one in results if left and any(left[0] < turn for turn in one.noticed.turns)]
    return {use.place.path for use in uses_of(turned)}


def merged(eras: Sequence[Era], changing: Set[str] = frozenset()) -> list[Finding]:
    """Merge eras, the newest first: errors must occur in each era, other findings name their releases.

    A finding carries the releases under which it was found. In ``changing`` files JAX may accept it on
    releases of no era.
    """
    found: dict[Hashable, list[tuple[Era, Finding]]] = {}
    for era in eras:
        for finding in without_repeats(era.findings):
            found.setdefault(_key(finding), []).append((era, finding))
    return [_merged(occurrences, len(eras), changing) for occurrences in found.values()]


def without_repeats(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings without those on a module, or a deprecated name, where a name in it is gone: of all
    that is said of the names in ``jax.lib.xla_bridge.get_backend``, the last that raises."""
    best: dict[Hashable, Finding] = {}
    for finding in findings:
        if isinstance(finding.use, ApiReference):
            other = best.setdefault(_key(finding), finding)
            best[_key(finding)] = max(other, finding, key=_weight)
    return [one for one in findings if best.get(_key(one), one) is one]


def _weight(finding: Finding) -> tuple[bool, int]:
    assert isinstance(finding.use, ApiReference)
    return finding.code == "SHL802", len(finding.use.name)


def _key(finding: Finding) -> Hashable:
    """Return the key of findings that are one: of one kind at one place, or of names in one expression."""
    if isinstance(finding.use, ApiReference) and finding.code in ("SHL801", "SHL802"):
        span = finding.span
        return ApiReference, span.path, span.line, span.column, span.cell
    return finding.code, finding.span


def _merged(occurrences: list[tuple[Era, Finding]], count: int, changing: Set[str]) -> Finding:
    rejecting = [one for one in occurrences if one[1].severity is Severity.ERROR]
    shown = rejecting or occurrences
    releases = tuple(sorted(release for era, _ in shown for release in era.releases))
    first = shown[0][1]
    if isinstance(first.use, ApiReference):
        first = max((finding for _, finding in shown), key=_weight)
    finding = dataclasses.replace(first, releases=releases)
    everywhere = len({id(era) for era, _ in shown}) == count
    if everywhere and not (rejecting and finding.span.path in changing):
        return finding
    severity = Severity.WARNING if rejecting else finding.severity
    message = f"{finding.message} (on JAX {spans_text(releases)})"
    return dataclasses.replace(finding, severity=severity, message=message)


def may_have_changed(finding: Finding) -> bool:
    """Return whether an error is about a name or an argument, or of a kind that not all releases reject."""
    use = finding.use
    if use is None or isinstance(use, ApiReference):
        return use is not None
    return isinstance(use.verdict, Rejected) and use.verdict.cause in changed_causes()
