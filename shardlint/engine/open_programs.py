"""The programs open in an editor: retained, and re-evaluated after an edit."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from shardlint.cache.validation import Facts, now, written
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
class _Kept:
    """A program, its file accesses, and the time of its evaluation."""

    program: Resumable
    read: file_access.Seen
    since: int

    def holds(self) -> bool:
        """Return whether all files that it read are unchanged."""
        return not self.read.torn and Facts().hold(written(self.read, self.since))


class Programs:
    """A replacement for `work_on` that retains programs."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, InferenceSettings], _Kept] = OrderedDict()

    def work_on(self, source: Source, settings: InferenceSettings) -> Work:
        """Analyze a source. Never raises for its contents: a crash is a problem of that file."""
        from shardlint.inference import Noticed
        from shardlint.inference.programs.session import Resumable

        key = (source.path, settings)
        # It is stored again once it is in a consistent state.
        kept = self._kept.pop(key, None)
        noticed, since = Noticed(), now()
        with file_access.recording(apart=True) as read:
            try:
                if kept is None or not kept.holds():
                    kept = _Kept(Resumable(source, settings), file_access.Seen(), since)
                uses = kept.program.uses(source, noticed)
            except Stopped:
                if kept is not None and kept.program.stands:
                    self._keep(key, kept, read)
                raise
            except Exception as error:
                return failed(source, error, read.whole())
        analyzed = Analyzed(source, uses, noticed)
        if analyzed.is_partial:
            return done(analyzed, read.whole())
        self._keep(key, kept, read)
        return Work(analyzed, kept.read)

    def _keep(self, key: tuple[str, InferenceSettings], kept: _Kept, read: file_access.Seen) -> None:
        kept.read.add(read.whole())
        self._kept[key] = kept
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
