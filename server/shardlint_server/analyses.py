"""Analyses off the event loop: after a pause in typing, one at a time, and never for a stale text."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from lsprotocol import types

from shardlint.api import Analysis
from shardlint_server.documents import Target

PAUSE = 0.15
"""Seconds without a change before an analysis starts."""


@dataclass(frozen=True, slots=True)
class Report:
    """The diagnostics of each part of a target, by the part's URI, and the analysis they came from.

    Where the analysis failed there are none, and ``analysis`` is None.
    """

    diagnostics: Mapping[str, Sequence[types.Diagnostic]] = field(default_factory=dict)
    analysis: Analysis | None = None


@dataclass(frozen=True, slots=True)
class _Running:
    target: Target
    future: asyncio.Future[Report]


class Analyses:
    """Reports on what is open now.

    Args:
        current: what a URI belongs to as it is now, None when it is closed.
        analyse: the report on a target; called in a thread, never twice at once.
        failed: told of an exception in ``analyse``; the target's report is then empty.
    """

    def __init__(
        self,
        current: Callable[[str], Target | None],
        analyse: Callable[[Target], Report],
        failed: Callable[[Target, BaseException], None],
    ) -> None:
        self._current = current
        self._analyse = analyse
        self._failed = failed
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._changed: dict[str, float] = {}
        self._wanted: dict[str, Target] = {}
        self._running: dict[str, _Running] = {}
        self._known: dict[str, tuple[Target, Report]] = {}

    def changed(self, uri: str) -> None:
        """Note that the target with this URI was just edited."""
        self._changed[uri] = asyncio.get_running_loop().time()

    def closed(self, uri: str) -> None:
        """Forget a target, and its analysis if that has not begun."""
        self._changed.pop(uri, None)
        self._wanted.pop(uri, None)
        self._running.pop(uri, None)
        self._known.pop(uri, None)

    def shutdown(self) -> None:
        """Drop what waits; what runs ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def known(self, uri: str) -> tuple[Target, Report] | None:
        """The last report on the target that a URI belongs to, which may be on a text that changed since."""
        target = self._current(uri)
        return None if target is None else self._known.get(target.uri)

    async def settled(self, uri: str) -> tuple[Target, Report] | None:
        """Report on the target that a URI belongs to as `latest` does, at once where its text is known."""
        known = self.known(uri)
        return known if known is not None and known[0] == self._current(uri) else await self.latest(uri)

    async def latest(self, uri: str) -> tuple[Target, Report] | None:
        """Report on the target that a URI belongs to; None once it is closed.

        A text that changes meanwhile is analysed anew, so the report is on what is open on return.
        """
        while (target := self._current(uri)) is not None:
            wait = self._changed.get(target.uri, -math.inf) + PAUSE - asyncio.get_running_loop().time()
            if wait > 0:
                await asyncio.sleep(wait)
                continue
            report = await self._report(target)
            if self._current(uri) == target:
                self._known[target.uri] = (target, report)
                return target, report
        return None

    async def _report(self, target: Target) -> Report:
        """Analyse a target, or join the analysis of the same text: each cell of a notebook asks for it."""
        running = self._running.get(target.uri)
        if running is None or running.target != target:
            running = _Running(target, self._submit(target))
            self._running[target.uri] = running
        try:
            # A request that is cancelled must not take the analysis from the others that wait for it.
            return await asyncio.shield(running.future)
        except Exception:
            return Report()

    def _submit(self, target: Target) -> asyncio.Future[Report]:
        def finished(future: asyncio.Future[Report]) -> None:
            if (running := self._running.get(target.uri)) and running.future is future:
                del self._running[target.uri]
            if not future.cancelled() and (error := future.exception()) is not None:
                self._failed(target, error)

        self._wanted[target.uri] = target
        future = asyncio.get_running_loop().run_in_executor(self._executor, self._analyse_wanted, target)
        future.add_done_callback(finished)
        return future

    def _analyse_wanted(self, target: Target) -> Report:
        if self._wanted.get(target.uri) is not target:
            return Report()  # replaced or closed while it waited for its turn: nobody will look at it
        try:
            return self._analyse(target)
        except Exception:
            raise
        except BaseException as panic:
            # A panic in libcst's native parser is no Exception, and would end the event loop.
            raise RuntimeError(f"the analysis broke off: {panic!r}") from panic
