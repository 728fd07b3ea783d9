"""The linter: reads, analyzes, judges and fixes files, each under its settings."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from shardlint.config import Settings
from shardlint.config.selection import ignored_codes, selected_codes, severities, without_effect
from shardlint.confirm.fixtures.announcements import expectations_of, marked
from shardlint.engine.analyzer import Analyzer, Progress
from shardlint.engine.results import Report
from shardlint.engine.suppression import Suppressor
from shardlint.engine.work_item import Analyzed, judged_apart, uses_of, with_newer
from shardlint.ide.analysis import Analysis
from shardlint.laws.core.values import Mesh
from shardlint.laws.versions import Release, Target, only
from shardlint.model.findings import Finding, Fix, Severity, ordered
from shardlint.model.spans import Span
from shardlint.model.uses import FileProblem, Use
from shardlint.rules.causes import with_causes
from shardlint.rules.fixes import with_fixes
from shardlint.source import Source
from shardlint.source.file_problems import finding_of, findings_of, fixture_finding
from shardlint.support.gc_policy import collecting_seldom

if TYPE_CHECKING:
    from shardlint.confirm.fixtures.expectations import Expectation
    from shardlint.confirm.fixtures.results import FixtureResult, FixtureTable
    from shardlint.engine.releases import ReleaseResults
    from shardlint.report.api_coverage import Judged
    from shardlint.report.values import InitReport, ParameterReport


class Linter:
    """Checks files under one configuration, or each under its own.

    Args:
        settings: those of a whole run, and of every file without ``nearest``.
        nearest: returns the settings for the files of a folder, given its absolute path.
        analyzer: runs inference; without one nothing is cached, and a single process does everything.
    """

    def __init__(
        self,
        settings: Settings,
        nearest: Callable[[str], Settings] | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        self.settings = settings
        self._nearest = nearest
        self._analyzer = analyzer or Analyzer()
        self._others: list[Use] = []

    def settings_of(self, path: str) -> Settings:
        """Return the settings for a file."""
        if self._nearest is None:
            return self.settings
        return self._nearest(os.path.dirname(os.path.abspath(path)))

    def check_paths(
        self, paths: Iterable[str], progress: Progress | None = None, unresolved: bool = False
    ) -> Report:
        """Check files and folders. Never raises for a bad file: that is a finding.

        ``unresolved`` adds a note for each call of a sharding API about which something is not known.
        """
        return self.check_read(*self.read_paths(paths, progress), progress, unresolved)

    def check_read(
        self,
        files: int,
        sources: Sequence[Source],
        progress: Progress | None = None,
        unresolved: bool = False,
    ) -> Report:
        """Check the result of `read_paths`."""
        findings = self._check(sources, progress, unresolved)
        unreached = tuple(sorted(self._analyzer.unreached))
        notes = self._notes(sources)
        return Report(tuple(findings), tuple(notes), files, tuple(sources), unreached=unreached)

    def check_unsaved(self, source: Source, unresolved: bool = False) -> Report:
        """Check a source that is not (so) on disk, whatever it mentions."""
        findings = self._check([source], None, unresolved)
        return Report(tuple(findings), tuple(self._notes([source])), 1, (source,), unsaved=True)

    def coverage(self, paths: Iterable[str], progress: Progress | None = None) -> list[Judged]:
        """Return, for each call of a sharding API in the text, which parts of it were judged."""
        from shardlint.report.api_coverage import coverage_of

        _, sources = self.read_paths(paths, progress)
        return coverage_of(sources, self.programs(sources, progress, defaults=True))

    def report(self, paths: Iterable[str], progress: Progress | None = None) -> ParameterReport:
        """Return each device's share of the parameters that modules declare, on each known mesh."""
        from shardlint.report.project import report_paths

        return report_paths(Linter, self.settings, paths, progress)

    def init_report(
        self,
        init: str | None = None,
        rules: str | None = None,
        python: str | None = None,
        progress: Progress | None = None,
    ) -> InitReport:
        """Run a model's init, the user's own code, and return the parameters that it makes: `report_init`."""
        from shardlint.report.project import report_init

        return report_init(self.settings, init, rules, python, progress)

    def check_source(self, source: Source) -> list[Finding]:
        """Check one source, whatever it mentions; files it imports may have changed since the last time."""
        return self.check_sources([source])

    def check_sources(self, sources: Sequence[Source]) -> list[Finding]:
        """Check sources as `check_source` does."""
        from shardlint.inference import refresh

        refresh()
        return self._check(sources)

    @collecting_seldom()
    def analysis(self, source: Source) -> Analysis:
        """Check one source as `check_source` does, and return the findings with the uses behind them."""
        from shardlint.inference import refresh

        refresh()
        uses: list[Use] = []
        found = self._check([source], uses_met=uses)
        return Analysis(source, tuple(found), tuple(uses), self.settings_of(source.path).target)

    def read_paths(
        self, paths: Iterable[str], progress: Progress | None = None, broken: bool = False
    ) -> tuple[int, list[Source]]:
        """Return the number of files under the paths, and the sources of the relevant ones.

        A file that does not mention sharding is relevant if a relevant file imports it, which inference
        finds out, or if it calls a function that mentions it. A file named by the user is always relevant;
        with `exhaustive` settings all readable files are, and ``broken`` ones if requested.
        """
        from shardlint.engine.source_selection import read_paths

        nearest = self._nearest or (lambda folder: self.settings)
        return read_paths(paths, nearest, self.settings, progress, broken)

    def confirm(self, report: Report, python: str | None = None, progress: Progress | None = None) -> Report:
        """Have the real JAX run a witness of each finding, and run the fixtures among the files.

        A refuted finding is no longer an error. ``python`` is the interpreter that has JAX;
        without it, the one that runs this.
        """
        from shardlint.confirm.installed import installed_release
        from shardlint.confirm.repairs import with_verified

        settings = self.settings
        present = None if settings.target_jax is None else installed_release(python)
        if present is not None and only(present).high not in settings.target:
            note = f"JAX {present} confirms nothing: the project means JAX {settings.target}"
            return dataclasses.replace(report, notes=(*report.notes, note))
        count = None if progress is None else partial(progress, "confirming")
        with self._analyzer.confirmer(python, settings) as confirmer:
            confirmed = confirmer.confirm(report.findings, count)
            if not report.unsaved:
                confirmed = with_verified(confirmed, partial(self._tried, report.sources), confirmer)
        disagreements, notes = self._disagreements(report, python, progress)
        notes = confirmer.notes or notes
        findings = ordered([*confirmed, *disagreements])
        return dataclasses.replace(report, findings=tuple(findings), notes=(*report.notes, *notes))

    def _tried(
        self, sources: Sequence[Source], fix: Fix, paths: Sequence[str]
    ) -> tuple[list[Finding], list[Use]] | None:
        """Return the findings and the uses of some files after a fix; None if it cannot be applied."""
        from shardlint.engine.fix_trials import sources_after

        uses: list[Use] = []
        edited = sources_after(fix, [source for source in sources if source.path in paths])
        return None if edited is None else (self._check(edited, uses_met=uses), uses)

    def _disagreements(
        self, report: Report, python: str | None, progress: Progress | None
    ) -> tuple[list[Finding], list[str]]:
        """Run the fixtures of a report, and return a finding for each disagreement with JAX.

        A fixture that cannot be run, or not with JAX, yields none; a note states why.
        """
        findings: list[Finding] = []
        notes: list[str] = []
        fixtures = [s for s in report.sources if self.is_fixture(s.path) and not report.unsaved]
        ours = {
            source.path: [f for f in report.findings if f.span.path == source.path] for source in fixtures
        }
        paths = {os.path.realpath(path): path for path in ours}
        for result in self._run(fixtures, ours, python, progress):
            path = paths[result.run.path]
            if result.run.problem is not None or result.run.jax is None:
                ended = result.run.problem and f"was not run: {result.run.problem}"
                notes.append(f"{path} {ended or 'imported no JAX as it ran: nothing is compared'}")
                continue
            for found in result.disagreements:
                span = Span(path, found.line, 1, found.line, 1, found.cell)
                shown = any(
                    not f.expected and f.span.line == span.line and f.span.cell == span.cell
                    for f in ours[path]
                )
                finding = fixture_finding(span, found.message)
                if self.selects(finding) and not shown:
                    findings.append(finding)
        return findings, notes

    def run_fixtures(
        self, paths: Iterable[str], python: str | None = None, progress: Progress | None = None
    ) -> list[FixtureTable]:
        """Execute fixtures, their own code included, and compare JAX's behaviour with the findings."""
        from shardlint.confirm.fixtures.results import FixtureTable, table_of

        everything = dataclasses.replace(self.settings, exhaustive=True)
        sources = [
            s for s in Linter(everything).read_paths(paths, broken=True)[1] if not s.path.endswith(".pyi")
        ]
        found = {source.path: self.check_source(source) for source in sources}
        results = {result.run.path: result for result in self._run(sources, found, python, progress)}
        tables = []
        for source in sources:
            if (result := results.get(os.path.realpath(source.path))) is not None:
                tables.append(table_of(source, result, found[source.path]))
            else:
                unread = tuple(finding.message for finding in found[source.path])
                tables.append(FixtureTable(source.path, None, (), unread))
        return tables

    def _run(
        self,
        sources: Sequence[Source],
        findings: Mapping[str, Sequence[Finding]],
        python: str | None,
        progress: Progress | None,
    ) -> Iterator[FixtureResult]:
        """Run the fixtures that could be read, a few at a time, each in its own process."""
        from concurrent.futures import ThreadPoolExecutor

        from shardlint.confirm.fixtures.comparison import compare
        from shardlint.confirm.fixtures.results import FixtureResult
        from shardlint.confirm.fixtures.runs import run_fixture

        def result(source: Source) -> FixtureResult:
            run = run_fixture(source.path, python=python, timeout=2 * self.settings.confirm_timeout)
            announced = expectations_of(source, self.settings_of(source.path).target.high)
            wrong = compare(run, announced, findings[source.path])
            return FixtureResult(run, wrong, bool(announced) or self.is_fixture(source.path))

        readable = [source for source in sources if source.cells]
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            for number, done in enumerate(pool.map(result, readable), 1):
                if progress is not None:
                    progress("running fixtures", number, len(readable))
                yield done

    def uses(self, sources: Sequence[Source], progress: Progress | None = None) -> list[Use | FileProblem]:
        """Return the uses in all `programs`. A crash in one is a problem of that file alone."""
        return [use for uses in self.programs(sources, progress) for use in uses]

    def programs(
        self, sources: Sequence[Source], progress: Progress | None = None, defaults: bool = False
    ) -> list[Sequence[Use | FileProblem]]:
        """Return the uses of each program, on each mesh of the project; by default as well, if asked."""
        found: list[Sequence[Use | FileProblem]] = []
        for part, ours in self.parts(sources):
            for mesh in part.settings.assumed_meshes or [None]:
                results = part.analyze_at(ours, part.target.high, mesh, progress=progress)
                again = [one.source for one in results if defaults and one.noticed.asks_defaults]
                results += part.analyze_at(again, part.target.high, mesh, defaults=True)
                found += [result.uses for result in results]
        return found

    def parts(self, sources: Sequence[Source]) -> list[tuple[Linter, list[Source]]]:
        """Return groups of sources that are analyzed alike, each with a linter that has its settings."""
        parts: dict[Hashable, tuple[Linter, list[Source]]] = {}
        for source in sources:
            settings = self.settings_of(source.path)
            part: tuple[Linter, list[Source]] = (Linter(settings, self._nearest, self._analyzer), [])
            parts.setdefault(settings.analysis, part)[1].append(source)
        return list(parts.values())

    def analyze_at(
        self,
        sources: Sequence[Source],
        release: Release,
        mesh: Mesh | None = None,
        defaults: bool = False,
        progress: Progress | None = None,
    ) -> list[Analyzed]:
        """Analyze sources on one JAX release, one mesh where they define none, perhaps with defaults."""
        if not sources:
            return []
        from shardlint.inference import InferenceSettings

        ours = self.settings
        settings = InferenceSettings(
            devices=ours.devices,
            mesh=mesh,
            roots=ours.import_roots,
            exhaustive=ours.exhaustive,
            editing=ours.editing,
            release=release,
            alone=len(self.target.releases) == 1,
            meshes=ours.meshes,
            dims=ours.dims,
            logical_rules=ours.logical_rules,
            defaults=defaults,
            answers=self._analyzer.answers_for(ours),
        )
        return self._analyzer.analyze(sources, settings, progress)

    @property
    def target(self) -> Target:
        """Return the JAX releases that the project supports."""
        return self.settings.target

    def _check(
        self,
        sources: Sequence[Source],
        progress: Progress | None = None,
        unresolved: bool = False,
        uses_met: list[Use] | None = None,
    ) -> list[Finding]:
        """Return the findings of sources: selected, not suppressed, expected ones marked, in order.

        Adds to ``uses_met`` the uses on the newest release of the target.
        """
        if not sources:
            return []
        self._analyzer.begin()
        parts = self.parts(sources)
        newest = [part.analyze_at(ours, part.target.high, progress=progress) for part, ours in parts]
        met = [uses_of(results) for results in newest]
        if uses_met is not None:
            uses_met += [use for known in met for use in known]
        problems: list[Finding] = []
        found: list[Finding] = []
        uses: list[Use] = []
        for number, (part, _) in enumerate(parts):
            part._others = [use for other, known in enumerate(met) if other != number for use in known]
            problems += findings_of(p for result in newest[number] for p in result.problems)
            found += part._found(newest[number], uses, progress)
        problems += self._unresolved(sources) if unresolved else []
        found = [*problems, *found]
        by_path = {source.path: source for source in sources}
        suppressor = Suppressor(sources)
        kept = [f for f in found if self.selects(f) and not suppressor.ignores(f)]
        kept = with_fixes(kept, by_path, lambda path: self.settings_of(path).target, self.settings.editing)
        broken = {f.span.path for f in problems if f.severity is Severity.ERROR}
        whole = [source for source in sources if source.path not in broken]
        comments = suppressor.about_comments(whole, self._wants, uses, found, bool(self._analyzer.unreached))
        kept += [f for f in comments if self.selects(f) and not suppressor.ignores(f)]
        leveled = [self._leveled(f) for f in marked(ordered(kept), partial(self._announced, by_path))]
        return with_causes(leveled, (use for known in met for use in known), by_path, self.target.high)

    def _found(
        self, newest: Sequence[Analyzed], uses: list[Use], progress: Progress | None
    ) -> Sequence[Finding]:
        """Return the findings on the newest release of the target, merged with those on older ones.

        Adds the uses in the sources to ``uses``.
        """
        from shardlint.engine import releases

        known = releases.ReleaseResults(partial(self.analyze_at, progress=progress))
        known.add(newest, self.target.high)
        sources = [one.source for one in newest]
        eras: list[releases.Era] = []
        judged = newest
        older: tuple[Release, ...] = self.target.releases
        while older:
            results = known.at(sources, older[-1])
            if eras and self._analyzer.unreached:
                break
            judged = results
            uses += uses_of(results)
            findings, turns = self.findings_at(results, older[-1], known)
            older, alike = releases.parted(older, turns)
            eras.append(releases.Era(alike, findings))
        if self.settings.target_jax is None:
            return releases.without_repeats(eras[0].findings)
        return releases.merged(eras, releases.changing_files(judged, older))

    def findings_at(
        self, results: Sequence[Analyzed], release: Release, known: ReleaseResults | None = None
    ) -> tuple[list[Finding], set[Release]]:
        """Return the findings on any mesh merged with those on each deployment mesh, and the releases met."""
        from shardlint.engine.deployment_merge import (
            is_test,
            key_of,
            merged,
            own_axes,
            with_defaults,
            without_errors,
            without_other_meshes,
        )
        from shardlint.engine.releases import ReleaseResults, turns_of

        known = known or ReleaseResults(self.analyze_at)
        base = self._judge(results)
        seen, told = list(results), []
        asking = [result.source for result in results if result.noticed.asks_mesh]
        own = own_axes(uses_of(results))
        if self.settings.mesh is None:
            asking = [source for source in asking if not is_test(source.path, self.settings.root)]
        for deployment in self.settings.deployments if asking else ():
            again = known.at(asking, release, deployment.mesh)
            if self._analyzer.unreached:
                break
            seen += again
            findings = without_other_meshes(self._judge(with_newer(results, again)), own)
            extra = {key_of(f) for f in findings if f.severity is Severity.ERROR} - set(map(key_of, base))
            if extra and not deployment.typed:
                # JAX must reject it whatever the types of the axes are.
                twice = known.at(asking, release, deployment.explicit)
                seen += twice
                rejected = {key_of(f) for f in self._judge(twice) if f.severity is Severity.ERROR}
                findings = without_errors(findings, extra - rejected)
            told.append((deployment, findings))
        asking = [one.source for one in results if one.noticed.asks_defaults]
        if asking := [source for source in asking if not is_test(source.path, self.settings.root)]:
            again = known.at(asking, release, defaults=True)
            seen += again
            base = with_defaults(base, self._judge(with_newer(results, again)))
        failures = findings_of(p for result in seen[len(results) :] for p in result.problems)
        return [*failures, *merged(base, told)], turns_of(seen)

    def _unresolved(self, sources: Sequence[Source]) -> list[Finding]:
        """Return a note for each call of a sharding API about which something is not known."""
        from shardlint.report.api_coverage import coverage_of, problem_of

        judged = coverage_of(sources, self.programs(sources, defaults=True))
        return [finding_of(problem_of(one)) for one in judged if not one.sizes]

    def _judge(self, results: Sequence[Analyzed]) -> list[Finding]:
        """Run the rules over all uses; if that crashes, over each file's, to identify the one at fault."""
        from shardlint.rules import judge
        from shardlint.rules.base import RuleSettings

        uses = uses_of(results)
        settings = RuleSettings(self.settings.replicated_bytes, self.target)
        try:
            findings = judge([*(one for result in results for one in result.uses), *self._others], settings)
            ours = set(map(id, uses))
            return [f for f in findings if id(f.use) in ours] if self._others else findings
        except Exception:
            return judged_apart(uses, settings)

    def selects(self, finding: Finding) -> bool:
        return self._wants(finding.span.path, finding.code, finding.name)

    def _wants(self, path: str, code: str, name: str) -> bool:
        settings = self.settings_of(path)
        return code in selected_codes(settings) and code not in ignored_codes(settings, path)

    def _leveled(self, finding: Finding) -> Finding:
        """Return a finding with its configured severity; errors, which JAX rejects, stay errors.

        On a release beyond all known ones, what has ever changed is no more than a warning.
        """
        from shardlint.engine.releases import may_have_changed

        settings = self.settings_of(finding.span.path)
        level = severities(settings).get(finding.code)
        if finding.severity is Severity.ERROR:
            open_ = settings.target.beyond and may_have_changed(finding)
            return dataclasses.replace(finding, severity=Severity.WARNING) if open_ else finding
        if level is None:
            return finding
        return dataclasses.replace(finding, severity=Severity(level))

    def _notes(self, sources: Sequence[Source]) -> list[str]:
        """Return messages about selectors that have no effect, and about a JAX beyond all known ones."""
        settings = dict.fromkeys([self.settings, *(self.settings_of(source.path) for source in sources)])
        notes = [note for one in settings for note in without_effect(one)]
        first = {self.settings_of(source.path).target: source.path for source in reversed(sources)}
        notes += (f"{target.note} (first file: {path})" for target, path in first.items() if target.beyond)
        notes += (note for one in settings for note in self._analyzer.notes_for(one))
        return list(dict.fromkeys(notes))

    def is_fixture(self, path: str) -> bool:
        """Return whether a path is one of the configured fixtures."""
        from shardlint.source.workspace.gitignore import ignore_spec

        settings = self.settings_of(path)
        return ignore_spec(settings.fixtures).match_file(os.path.relpath(path, settings.root))

    def _announced(self, sources: Mapping[str, Source], path: str) -> list[Expectation]:
        """Return what the comments of a file announce, if it is a fixture."""
        source = sources.get(path)
        written = expectations_of(source, self.settings_of(path).target.high) if source else []
        return written if written and self.is_fixture(path) else []
