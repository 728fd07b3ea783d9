"""Analysis of one source: the results of inference, and the files it read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.model.uses import FileProblem, Use
from shardlint.source import Source
from shardlint.source.file_problems import internal_error
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference import InferenceSettings, Noticed


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
            return encode((tuple(self.analyzed.uses), tuple(sorted(noticed.turns)), noticed.asks_mesh))
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


def failed(source: Source, error: Exception, read: file_access.FileAccesses | None = None) -> Work:
    """Return the work on a source that could not be analyzed."""
    from shardlint.inference import Noticed

    uses = [internal_error(source.path, error)]
    return Work(Analyzed(source, uses, Noticed()), read or file_access.FileAccesses(), whole=False)
