"""Analysis of one source: the results of inference, and the files it read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.model.spans import Span
from shardlint.model.uses import UNREACHED, FileProblem, Use
from shardlint.source import Source
from shardlint.source.file_problems import finding_of, internal_error
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference import InferenceSettings, Noticed
    from shardlint.model.findings import Finding
    from shardlint.rules.base import RuleSettings


@dataclass(frozen=True, slots=True)
class Analyzed:
    """The results of inference for a source, and their other dependencies."""

    source: Source
    uses: Sequence[Use | FileProblem]
    noticed: Noticed

    @property
    def problems(self) -> list[FileProblem]:
        """Return the problems of the file itself."""
        return [use for use in self.uses if isinstance(use, FileProblem)]

    @property
    def is_partial(self) -> bool:
        """Return whether evaluation ended before the end of the file."""
        return any(problem.leaves_open for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Work:
    """A finished analysis: ``read`` are its file accesses; ``whole`` is true if nothing failed."""

    analyzed: Analyzed
    read: file_access.FileAccesses
    whole: bool = True

    def encoded(self) -> str | None:
        """Return the result encoded for storage, None where it cannot be."""
        from shardlint.cache.codec import CannotEncode, encode

        noticed = self.analyzed.noticed
        try:
            asked = (noticed.asks_mesh, noticed.asks_defaults)
            return encode((tuple(self.analyzed.uses), tuple(sorted(noticed.turns)), asked))
        except CannotEncode:
            return None


def work_on(source: Source, settings: InferenceSettings) -> Work:
    """Analyze a source. Never raises for its contents: a crash is a problem of that file."""
    from shardlint.inference import Noticed, analyze

    noticed = Noticed()
    with file_access.recording(apart=True) as read:
        try:
            return done(Analyzed(source, analyze([source], settings, noticed), noticed), read.whole())
        except Exception as error:
            return failed(source, error, read.whole())


def done(analyzed: Analyzed, read: file_access.FileAccesses) -> Work:
    """Return the work on a source; a partial result is marked as not to be stored."""
    read.inconsistent |= analyzed.is_partial
    return Work(analyzed, read, whole=not analyzed.is_partial)


def unreached(source: Source) -> Analyzed:
    """Return the result of a source that was not analyzed, since the check ended before."""
    from shardlint.inference import Noticed

    problem = FileProblem(UNREACHED, "the check ended before", Span(source.path, 1, 1, 1, 1))
    return Analyzed(source, [problem], Noticed())


def failed(source: Source, error: Exception, read: file_access.FileAccesses | None = None) -> Work:
    """Return the work on a source that could not be analyzed."""
    from shardlint.inference import Noticed

    uses = [internal_error(source.path, error)]
    return Work(Analyzed(source, uses, Noticed()), read or file_access.FileAccesses(), whole=False)


def uses_of(results: Sequence[Analyzed]) -> list[Use]:
    """Return the uses in all results."""
    return [use for result in results for use in result.uses if isinstance(use, Use)]


def with_newer(results: Sequence[Analyzed], again: Sequence[Analyzed]) -> list[Analyzed]:
    """Return results in which those of reanalyzed sources are replaced."""
    newer = {result.source.path: result for result in again}
    return [newer.get(result.source.path, result) for result in results]


def judged_apart(uses: Sequence[Use], settings: RuleSettings) -> list[Finding]:
    """Run the rules over the uses of each file alone; a crash is a finding in the file at fault."""
    from shardlint.rules import judge

    findings: list[Finding] = []
    by_path: dict[str, list[Use]] = {}
    for use in uses:
        by_path.setdefault(use.place.path, []).append(use)
    for path, alone in by_path.items():
        try:
            findings += judge(alone, settings)
        except Exception as error:
            findings.append(finding_of(internal_error(path, error)))
    return findings
