"""Push diagnostics: for clients that do not pull."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from lsprotocol import types

from shardlint_server.analysis.analyses import Analyses


class Publisher:
    """Publishes the report on each open target, once per pause in typing.

    It records the documents it published for, to clear those of a closed file or a deleted cell.
    """

    def __init__(self, analyses: Analyses, send: Callable[[types.PublishDiagnosticsParams], None]) -> None:
        self._analyses = analyses
        self._send = send
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._published: dict[str, set[str]] = {}

    def schedule(self, uri: str) -> None:
        """Publish for the target with this URI soon, replacing any scheduled publication."""
        self._cancel(uri)
        self._tasks[uri] = asyncio.get_running_loop().create_task(self._publish(uri))

    def renew(self, uris: Iterable[str]) -> None:
        """Publish again for those of these targets that are open."""
        for uri in uris:
            if uri in self._tasks:
                self.schedule(uri)

    def schedule_all(self) -> None:
        """Publish again for every open target."""
        self.renew(list(self._tasks))

    def clear(self, uri: str) -> None:
        """Clear all diagnostics of a closed target."""
        self._cancel(uri)
        for document in self._published.pop(uri, ()):
            self._send(types.PublishDiagnosticsParams(uri=document, diagnostics=[]))

    def _cancel(self, uri: str) -> None:
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    async def _publish(self, uri: str) -> None:
        latest = await self._analyses.latest(uri)
        if latest is None:
            return
        target, report = latest
        documents = {part.uri for part in target.parts}
        for gone in self._published.get(uri, set()) - documents:
            self._send(types.PublishDiagnosticsParams(uri=gone, diagnostics=[]))
        self._published[uri] = documents
        for part in target.parts:
            self._send(
                types.PublishDiagnosticsParams(
                    uri=part.uri, version=part.version, diagnostics=report.diagnostics.get(part.uri, ())
                )
            )
