"""Compares the findings of a program on two releases of JAX."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from shardlint.engine.results import Report
from shardlint.engine.work_item import uses_of
from shardlint.laws.core.values import AxisType
from shardlint.laws.versions import OLDEST, RELEASES, Release, Target, holds, only, state_of
from shardlint.laws.versions.api_changes import (
    BEHAVIOURS,
    EXPLICIT_ABSTRACT_MESH,
    EXPLICIT_BY_DEFAULT,
)
from shardlint.laws.versions.jax_words import words_of
from shardlint.linter import Linter
from shardlint.model.findings import Finding, Severity, ordered
from shardlint.model.spans import Span
from shardlint.model.uses import ApiReference, MeshUse, Use
from shardlint.upgrade.changes import Change, Kind, Upgrade

if TYPE_CHECKING:
    from shardlint.config import Settings
    from shardlint.engine.analyzer import Analyzer, Progress
    from shardlint.source import Source

#: What became of behaviours that a program may depend on without a word.
_SILENT = {
    EXPLICIT_BY_DEFAULT: "`jax.make_mesh` without axis_types makes Explicit axes, and made Auto ones before",
    EXPLICIT_ABSTRACT_MESH: "`AbstractMesh` without axis_types has Explicit axes, and had Auto ones before",
}
_DEPRECATED, _REMOVED, _RENAMED, _DEFAULT_TYPES = "SHL801", "SHL802", "SHL804", "SHL805"
_NAME = "axis-types-left-to-the-default"


class Comparison:
    """Judges the files of a project on a release of JAX, and on the one that the project requires.

    Args:
        nearest: returns the settings for the files of a folder, given its absolute path.
        high: the release to move to.
        low: the release to come from; None for the oldest that each file's project requires.
        analyzer: runs inference.
    """

    def __init__(
        self,
        nearest: Callable[[str], Settings],
        settings: Settings,
        high: Release,
        low: Release | None,
        analyzer: Analyzer,
    ) -> None:
        self._nearest, self.high, self._low, self._analyzer = nearest, high, low, analyzer
        self.linter = Linter(self._at(settings), lambda folder: self._at(nearest(folder)), analyzer)

    def _at(self, settings: Settings) -> Settings:
        return dataclasses.replace(settings, target_jax=only(self.high))

    def low_of(self, settings: Settings) -> Release:
        """Return the release from which files with these settings come."""
        if self._low is not None:
            return self._low
        return OLDEST if settings.target_jax is None else settings.target_jax.low

    def run(
        self, files: int, sources: Sequence[Source], progress: Progress | None = None
    ) -> tuple[Upgrade, Report]:
        """Return the changes in sources, and the report on the newer release, in which only changes have
        fixes.
        """
        report = self.linter.check_read(files, sources, progress)
        by_path = {source.path: source for source in sources}
        changes: list[Change] = []
        notes: dict[str, None] = {}
        lows: set[Release] = set()
        for settings, paths in self._groups(sources).items():
            low = self.low_of(settings)
            lows.add(low)
            notes |= dict.fromkeys(self._notes(settings))
            ours = [by_path[path] for path in paths]
            changes += self._changes(
                [f for f in report.findings if f.span.path in paths], ours, settings, low
            )
        changes.sort(key=lambda change: change.finding.span.order())
        told = {id(change.finding) for change in changes}
        known = set(map(id, report.findings))
        more = [change.finding for change in changes if id(change.finding) not in known]
        kept = [f if id(f) in told else dataclasses.replace(f, fix=None) for f in report.findings]
        found = Upgrade(min(lows, default=self.high), self.high, changes, tuple(notes), files)
        return found, dataclasses.replace(report, findings=tuple(ordered([*kept, *more])))

    def _groups(self, sources: Sequence[Source]) -> dict[Settings, set[str]]:
        groups: dict[Settings, set[str]] = {}
        for source in sources:
            settings = self._nearest(os.path.dirname(os.path.abspath(source.path)))
            groups.setdefault(settings, set()).add(source.path)
        return groups

    def _notes(self, settings: Settings) -> Iterator[str]:
        allowed = settings.target_jax
        if allowed is None and self._low is None:
            yield f"no requirement of JAX is found, so from the oldest known, {OLDEST}; --from names another"
        if allowed is not None and self.high not in allowed:
            where = "older" if self.high > allowed.high else "newer"
            yield f"the project requires {where} releases (JAX {allowed}): its requirement has to change too"

    def _changes(
        self, findings: Sequence[Finding], sources: Sequence[Source], settings: Settings, low: Release
    ) -> Iterator[Change]:
        """Yield the changes among the findings of some files on the newer release."""
        then = Linter(dataclasses.replace(settings, target_jax=Target(low, self.high)), None, self._analyzer)
        results = then.analyze_at(sources, low)
        known = then.findings_at(results, low)[0]
        before = set(map(_key, known))
        # Where the older release raises too, nothing breaks.
        broken = {_line(finding) for finding in known if finding.severity is Severity.ERROR}
        stated = self._low is not None or settings.target_jax is not None
        by_path = {source.path: source for source in sources}
        for finding in findings:
            use = finding.use
            if isinstance(use, ApiReference):
                yield from self._of_name(finding, use, low if stated else None, _key(finding) in before)
            elif finding.code != _DEFAULT_TYPES and use is not None and _key(finding) not in before:
                kind = Kind.BREAKS if finding.severity is Severity.ERROR else Kind.SILENT
                if kind is Kind.BREAKS and _line(finding) in broken:
                    continue
                since = self._first(finding, by_path[finding.span.path], settings, low)
                yield Change(kind, finding, since)
        yield from self._silent(uses_of(results), by_path, low)

    def _silent(self, uses: Sequence[Use], sources: dict[str, Source], low: Release) -> Iterator[Change]:
        """Yield the defaults that the program leaves to JAX and that change, with fixes that state them."""
        from shardlint.fixes.rewrites.axis_types import with_axis_types

        meshes = {use.place.resolve(): use for use in uses if isinstance(use, MeshUse)}
        found: dict[Span, Change] = {}
        for use in uses:
            if not isinstance(use, ApiReference) or use.name not in _SILENT or not holds(use.name, self.high):
                continue
            span = use.place.resolve()
            mesh, source = meshes.get(span), sources.get(span.path)
            fix = None
            if mesh is not None and source is not None:
                fix = with_axis_types(mesh, source, AxisType.AUTO, low)
            message = f"{_SILENT[use.name]}; say axis_types="
            finding = Finding(_DEFAULT_TYPES, _NAME, Severity.WARNING, message, span, fix=fix, use=use)
            found.setdefault(span, Change(Kind.SILENT, finding, _since(use.name)))
        yield from found.values()

    def _of_name(
        self, finding: Finding, use: ApiReference, low: Release | None, known: bool
    ) -> Iterator[Change]:
        """Yield the change of a name or an argument."""
        state = state_of(use.name, self.high)
        since = None if state is None or state.row is None else state.row.since
        said = words_of(use.name, self.high)
        if finding.code == _DEPRECATED:
            if low is None or (since is not None and since > low):
                yield Change(Kind.DEPRECATED, finding, since, said)
        elif finding.code in (_REMOVED, _RENAMED) or not known:
            yield Change(Kind.BREAKS, finding, since, said)

    def _first(self, finding: Finding, source: Source, settings: Settings, low: Release) -> Release:
        """Return the release since which a file has a finding, by bisection."""
        between = [release for release in RELEASES if low < release <= self.high]
        first, last = 0, len(between) - 1
        while first < last:
            middle = (first + last) // 2
            release = between[middle]
            one = Linter(dataclasses.replace(settings, target_jax=only(release)), None, self._analyzer)
            found, _ = one.findings_at(one.analyze_at([source], release), release)
            if _key(finding) in map(_key, found):
                last = middle
            else:
                first = middle + 1
        return between[first]


def _key(finding: Finding) -> tuple[str, object, bool]:
    return finding.code, finding.span, finding.severity is Severity.ERROR


def _line(finding: Finding) -> tuple[str, int | None, int]:
    return finding.span.path, finding.span.cell, finding.span.line


def _since(behaviour: str) -> Release | None:
    return next((row.since for row in BEHAVIOURS if row.subject == behaviour), None)
