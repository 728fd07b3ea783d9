"""The programs open in an editor: retained, and re-evaluated after an edit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.cache.validation import CurrentFiles, now, written
from shardlint.engine.module_renewal import PresentTexts, by_path, renewed
from shardlint.engine.work_item import Analyzed, Work, done, failed
from shardlint.model.uses import FileProblem, Use
from shardlint.source import Source
from shardlint.source.workspace import file_access
from shardlint.support.cancellation import Stopped
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference import InferenceSettings, Noticed
    from shardlint.inference.programs.session import Resumable

#: The number of retained programs; the least recently used ones are dropped.
_MOST = 16


@dataclass(slots=True)
class _OpenProgram:
    """A program, its file accesses, and the time of its evaluation."""

    program: Resumable
    read: file_access.FileAccesses
    since: int

    def changed(self) -> dict[str, file_access.Text] | None:
        """Return the texts of modules that have changed since; None if anything else that it read has."""
        if self.read.inconsistent:
            return None
        files = CurrentFiles()
        paths = files.changed(written(self.read, self.since))
        return None if paths is None else {path: files.accesses.texts[path] for path in paths}

    def renewed(
        self, source: Source, uses: Sequence[Use | FileProblem], changed: Collection[str], texts: PresentTexts
    ) -> list[Use | FileProblem] | None:
        """Return uses with their places in modules as these are now; None if it has to be evaluated anew."""
        if source.path in changed:
            return None
        functions, names = by_path(self.read.functions), by_path(self.read.names)
        read = {source.path, *self.read.texts}
        return renewed(uses, changed, read, functions, names, self.program.module_text, texts)


class Programs:
    """A replacement for `work_on` that retains programs."""

    def __init__(self) -> None:
        self._programs: OrderedDict[tuple[str, InferenceSettings], _OpenProgram] = OrderedDict()

    def work_on(self, source: Source, settings: InferenceSettings) -> Work:
        """Analyze a source. Never raises for its contents: a crash is a problem of that file."""
        key = (source.path, settings)
        # It is stored again once it is in a consistent state.
        opened = self._programs.pop(key, None)
        changed = None if opened is None else opened.changed()
        return self._work(key, None if changed is None else opened, source, changed or {})

    def _work(
        self,
        key: tuple[str, InferenceSettings],
        opened: _OpenProgram | None,
        source: Source,
        changed: Mapping[str, file_access.Text],
    ) -> Work:
        """Analyze a source by a retained program, unless that is outdated, or a new one."""
        from shardlint.inference import Noticed
        from shardlint.inference.programs.session import Outdated, Resumable

        noticed, since = Noticed(), now()
        with file_access.recording(apart=True) as read:
            try:
                if opened is None:
                    opened = _OpenProgram(Resumable(source, key[1]), file_access.FileAccesses(), since)
                if changed:
                    uses = self._uses_apart(opened, source, noticed, changed, read)
                else:
                    uses = opened.program.uses(source, noticed)
            except Outdated:
                return self._work(key, None, source, {})
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
        found = replace(opened.read, texts={**opened.read.texts, **changed}) if changed else opened.read
        return Work(analyzed, found)

    @staticmethod
    def _uses_apart(
        opened: _OpenProgram,
        source: Source,
        noticed: Noticed,
        changed: Collection[str],
        read: file_access.FileAccesses,
    ) -> list[Use | FileProblem]:
        """Return the uses of a program although modules have changed that it imports. Raises Outdated.

        It keeps the old ones, as long as it never asks for what is new in them: neither before nor after it
        is evaluated with the present text.
        """
        from shardlint.inference.programs.session import Outdated

        texts = PresentTexts({source.path: "\n".join(cell.text for cell in source.cells)})
        if opened.renewed(source, (), changed, texts) is None:
            raise Outdated
        opened.program.keep_apart()
        uses = opened.program.uses(source, noticed)
        opened.read.add(read.whole())
        found = opened.renewed(source, uses, changed, texts)
        if found is None:
            raise Outdated
        return found

    def _retain(
        self, key: tuple[str, InferenceSettings], opened: _OpenProgram, read: file_access.FileAccesses
    ) -> None:
        opened.read.add(read.whole())
        self._programs[key] = opened
        if len(self._programs) > _MOST:
            self._programs.popitem(last=False)
