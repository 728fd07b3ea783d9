"""The fixtures run in this session, with JAX's behaviour; each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from shardlint.api import Settings, editing
from shardlint.model.findings import Finding
from shardlint_server.documents.documents import Target


class FixtureRuns:
    """Runs fixtures, and keeps their results while their text is unchanged."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix="fixtures")
        self._ran: dict[str, tuple[tuple[str, ...], editing.Ran]] = {}
        self._children: dict[str, Any] = {}

    def is_running(self, uri: str) -> bool:
        """Return whether a fixture is running."""
        return uri in self._children

    def result(self, target: Target) -> editing.Ran | None:
        """Return the result of running a target in its present form."""
        texts, ran = self._ran.get(target.uri, ((), None))
        return ran if texts == _texts(target) else None

    def of(self, target: Target) -> Sequence[Finding]:
        """Return the findings of a target's run."""
        ran = self.result(target)
        return ran.disagreements if ran is not None else ()

    async def run(
        self,
        target: Target,
        source: editing.Source,
        findings: Sequence[Finding],
        settings: Settings,
        python: str | None,
    ) -> editing.Ran:
        """Run a fixture: the user's own code."""

        def started(child: Any) -> None:
            self._children[target.uri] = child

        def run() -> editing.Ran:
            return editing.run_fixture(source, findings, settings, python, started)

        try:
            ran = await asyncio.get_running_loop().run_in_executor(self._executor, run)
        finally:
            self._children.pop(target.uri, None)
        self._ran[target.uri] = (_texts(target), ran)
        return ran

    def interrupt(self, uri: str) -> None:
        """Stop the process of a fixture."""
        if (child := self._children.get(uri)) is not None:
            with contextlib.suppress(Exception):
                child.close()

    def forget(self, uri: str) -> None:
        """Drop the result of a fixture."""
        self._ran.pop(uri, None)

    def close(self) -> None:
        """Stop all processes."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for uri in list(self._children):
            self.interrupt(uri)


def _texts(target: Target) -> tuple[str, ...]:
    return tuple(part.text for part in target.parts)
