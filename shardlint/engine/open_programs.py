"""The programs open in an editor: retained, and re-evaluated after an edit."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from shardlint.cache.validation import CurrentFiles, now, written
from shardlint.engine.work_item import Analyzed, Work, done, failed
from shardlint.source import Source
from shardlint.source.workspace import file_access
from shardlint.support.cancellation import Stopped
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference import InferenceSettings
    from shardlint.inference.programs.session import Resumable

#: The number of retained programs; the least recently used ones are dropped.
_MOST = 8


@dataclass(slots=True)
class _OpenProgram:
    """A program, its file accesses, and the time of its evaluation."""

    program: Resumable
    read: file_access.FileAccesses
    since: int

    def is_valid(self) -> bool:
        """Return whether all files that it read are unchanged."""
        return not self.read.inconsistent and CurrentFiles().match(written(self.read, self.since))


class Programs:
    """A replacement for `work_on` that retains programs."""

    def __init__(self) -> None:
        self._programs: OrderedDict[tuple[str, InferenceSettings], _OpenProgram] = OrderedDict()

    def work_on(self, source: Source, settings: InferenceSettings) -> Work:
        """Analyze a source. Never raises for its contents: a crash is a problem of that file."""
        from shardlint.inference import Noticed
        from shardlint.inference.programs.session import Resumable

        key = (source.path, settings)
        # It is stored again once it is in a consistent state.
        opened = self._programs.pop(key, None)
        noticed, since = Noticed(), now()
        with file_access.recording(apart=True) as read:
            try:
                if opened is None or not opened.is_valid():
                    opened = _OpenProgram(Resumable(source, settings), file_access.FileAccesses(), since)
                uses = opened.program.uses(source, noticed)
            except Stopped:
                if opened is not None and opened.program.stands:
                    self._retain(key, opened, read)
                raise
            except Exception as error:
                return failed(source, error, read.whole())
        analyzed = Analyzed(source, uses, noticed)
        if analyzed.is_partial:
            return done(analyzed, read.whole())
        self._retain(key, opened, read)
        return Work(analyzed, opened.read)

    def _retain(
        self, key: tuple[str, InferenceSettings], opened: _OpenProgram, read: file_access.FileAccesses
    ) -> None:
        opened.read.add(read.whole())
        self._programs[key] = opened
        if len(self._programs) > _MOST:
            self._programs.popitem(last=False)
