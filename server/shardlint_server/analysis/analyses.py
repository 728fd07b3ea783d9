"""Reports on open documents: computed after a pause in typing, off the event loop, never for a stale text."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field

from lsprotocol import types

from shardlint.api import Analysis, Settings, editing
from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.analysis.worker import Superseded, Urgency, Worker
from shardlint_server.documents.documents import Target


@dataclass(frozen=True, slots=True)
class Report:
    """The diagnostics of each part of a target, by the part's URI, and the analysis they came from.

    After a failed analysis there are none, and ``analysis`` and ``settings`` are None. ``record`` holds the
    files read for it, including the target's imports.
    """

    diagnostics: Mapping[str, Sequence[types.Diagnostic]] = field(default_factory=dict)
    analysis: Analysis | None = None
    settings: Settings | None = None
    record: editing.Record | None = None

    def touched(self, paths: Collection[str]) -> bool:
        """Return whether a change of one of these paths may change the report."""
        return self.record is None or self.record.touched(paths)


@dataclass(slots=True)
class _Running:
    """A waiting or running analysis; ``touched`` are the paths that have changed since it began, and ``work``
    is what the worker does.
    """

    target: Target
    future: asyncio.Future[Report]
    touched: set[str] = field(default_factory=set)
    work: asyncio.Future[Report] | None = None


class Analyses:
    """Reports on what is open now.

    Args:
        worker: does the work.
        current: what a URI belongs to as it is now, None when it is closed.
        begin: called when the turn of a target has come; what it returns makes the report, in the thread.
        failed: told of an exception in that; the target's report is then empty.
    """

    def __init__(
        self,
        worker: Worker,
        current: Callable[[str], Target | None],
        begin: Callable[[Target], Callable[[], Report]],
        failed: Callable[[Target, BaseException], None],
    ) -> None:
        #: Seconds without a change before an analysis starts.
        self.pause = 0.15
        #: Whether the client reports changed files; otherwise they are polled.
        self.told_of_changes = False
        self._worker = worker
        self._current = current
        self._begin = begin
        self._failed = failed
        self._changed: dict[str, float] = {}
        self._typed: str | None = None
        self._running: dict[str, _Running] = {}
        self._known: dict[str, tuple[Target, Report]] = {}
        #: Targets whose reports are invalid, though their text is the same.
        self._outdated: set[str] = set()

    def changed(self, uri: str) -> None:
        """Record that the target with this URI was just edited."""
        self._changed[uri] = asyncio.get_running_loop().time()
        self._typed = uri
        self._worker.look()

    def closed(self, uri: str) -> None:
        """Forget a target, and its analysis."""
        self._changed.pop(uri, None)
        self._running.pop(uri, None)
        self._known.pop(uri, None)
        self._outdated.discard(uri)
        self._worker.look()

    def touch(self, paths: Collection[str]) -> list[str]:
        """Record that files have changed; return the URIs of the targets whose reports may change."""
        for running in self._running.values():
            running.touched.update(paths)
        affected = [uri for uri, (_, report) in self._known.items() if report.touched(paths)]
        self._outdated.update(affected)
        return affected

    def forget(self) -> None:
        """Invalidate all reports: their dependencies have changed."""
        self._outdated.update(self._known)
        self._running.clear()
        self._worker.look()

    def known(self, uri: str) -> tuple[Target, Report] | None:
        """Return the last report on the target of a URI, which may be on an older text."""
        target = self._current(uri)
        return None if target is None else self._known.get(target.uri)

    async def settled(self, uri: str, asked: bool = False) -> tuple[Target, Report] | None:
        """Return a report on the target of a URI as `latest` does, without waiting where its text is known.

        If it is ``asked`` for by a user who points at something, no other analysis goes first.
        """
        known = self.known(uri)
        if known is not None and known[0] == self._current(uri):
            return known
        return await self.latest(uri, asked)

    async def latest(self, uri: str, asked: bool = False) -> tuple[Target, Report] | None:
        """Return a report on the target of a URI; None once it is closed.

        A text that changes meanwhile is analysed again, so the report is on the text that is open on return.
        ``asked`` is as in `settled`.
        """
        while (target := self._current(uri)) is not None:
            wait = self._changed.get(target.uri, -math.inf) + self.pause - asyncio.get_running_loop().time()
            if wait > 0:
                await asyncio.sleep(wait)
                continue
            known = self._valid(target)
            if known is not None and self.told_of_changes:
                return target, known
            try:
                report = await self._report(target, asked)
            except Superseded:
                continue
            if self._current(uri) == target and self._valid(target) is report:
                return target, report
        return None

    def _valid(self, target: Target) -> Report | None:
        """Return the report on this very text, unless a file has changed."""
        known = self._known.get(target.uri)
        fits = known is not None and known[0] == target and target.uri not in self._outdated
        return known[1] if known is not None and fits else None

    async def _report(self, target: Target, asked: bool) -> Report:
        """Analyse a target, or join the analysis of the same text: each cell of a notebook asks for it.

        Raises Superseded.
        """
        running = self._running.get(target.uri)
        if running is None or running.target != target:
            running = self._submit(target, asked)
        elif asked and running.work is not None:
            self._worker.hurry(running.work)
        # Cancelling one request must not cancel the analysis for the others that wait for it.
        return await asyncio.shield(running.future)

    def _submit(self, target: Target, asked: bool) -> _Running:
        urgency = Urgency.TYPED if target.uri == self._typed else Urgency.OPEN
        urgency = Urgency.ASKED if asked else urgency
        running = _Running(target, asyncio.get_running_loop().create_future())
        self._running[target.uri] = running

        def is_stale() -> bool:
            return self._running.get(target.uri) is not running or self._current(target.uri) != target

        def begin() -> Callable[[], Report]:
            running.touched.clear()
            work, known = self._begin(target), self._valid(target)
            return lambda: known if known and known.record and known.record.holds() else work()

        def finished(done: asyncio.Future[Report]) -> None:
            self._finished(running, done)

        running.work = self._worker.submit(begin, urgency, is_stale)
        running.work.add_done_callback(finished)
        return running

    def _finished(self, running: _Running, done: asyncio.Future[Report]) -> None:
        target, future = running.target, running.future
        current = self._running.get(target.uri) is running
        if current:
            del self._running[target.uri]
        error = None if done.cancelled() else done.exception()
        report = Report()
        if error is None and not done.cancelled():
            report = done.result()
        elif error is not None and not isinstance(error, Superseded):
            self._failed(target, error)
            error = None
        if done.cancelled() or not current or error is not None or self._was_overtaken(report, running):
            if not future.done():
                future.set_exception(Superseded())
                future.exception()  # there may be no waiters left
            return
        self._known[target.uri] = (target, report)
        self._outdated.discard(target.uri)
        if not future.done():
            future.set_result(report)

    def _was_overtaken(self, report: Report, running: _Running) -> bool:
        """Return whether a file that a report depends on has changed meanwhile."""
        return bool(running.touched) and report.touched(running.touched)
