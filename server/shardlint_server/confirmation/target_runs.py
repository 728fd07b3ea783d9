"""Runs of the user's own programs on request, each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from shardlint_server.documents.documents import Target

T = TypeVar("T")

Started = Callable[[Any], None]
"""What receives the process, so that it can be stopped."""


class TargetRuns(Generic[T]):
    """Runs something for targets, at most two at a time, and keeps the last result of each."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix=name)
        self._results: dict[str, tuple[Target, T]] = {}
        self._children: dict[str, Any] = {}

    def is_running(self, uri: str) -> bool:
        """Return whether something is running for a target."""
        return uri in self._children

    def last(self, target: Target) -> T | None:
        """Return the last result for a target, whatever its text was."""
        ran = self._results.get(target.uri)
        return None if ran is None else ran[1]

    def result(self, target: Target) -> T | None:
        """Return the result for a target in its present form."""
        before, ran = self._results.get(target.uri, (None, None))
        return ran if before is not None and _texts(before) == _texts(target) else None

    async def of_target(self, target: Target, run: Callable[[Started], T]) -> T:
        """Run something in a thread, and keep what it returns."""

        def started(child: Any) -> None:
            self._children[target.uri] = child

        try:
            ran = await asyncio.get_running_loop().run_in_executor(self._executor, run, started)
        finally:
            self._children.pop(target.uri, None)
        self._results[target.uri] = (target, ran)
        return ran

    def interrupt(self, uri: str) -> None:
        """Stop the process of a target."""
        if (child := self._children.get(uri)) is not None:
            with contextlib.suppress(Exception):
                child.close()

    def forget(self, uri: str) -> None:
        """Drop the result for a target."""
        self._results.pop(uri, None)

    def close(self) -> None:
        """Stop all processes."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for uri in list(self._children):
            self.interrupt(uri)


def _texts(target: Target) -> tuple[str, ...]:
    return tuple(part.text for part in target.parts)
