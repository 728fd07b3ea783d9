"""A bar of progress in the editor, which its user may cancel."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from lsprotocol import types

from shardlint.api import media
from shardlint_server.session import ShardlintServer

#: Seconds after which work shows its progress.
_MOMENT = 0.5


class Bar:
    """Shows progress. ``cancelled`` is set when the user cancels."""

    def __init__(self, server: ShardlintServer, token: types.ProgressToken | None) -> None:
        self._server = server
        self._token = token
        self._shown = -1
        self.cancelled = asyncio.Event()

    def follow(self, shown: Bar) -> None:
        """Report on the bar of another, and be cancelled with it."""
        self._token, self.cancelled = shown._token, shown.cancelled

    def report(self, message: str, done: int, of: int) -> None:
        """Report progress; a value that would look the same is not sent."""
        percentage = 100 * done // max(of, 1)
        if self._token is None or percentage == self._shown:
            return
        self._shown = percentage
        self._server.work_done_progress.report(
            self._token, types.WorkDoneProgressReport(message=media.message(message), percentage=percentage)
        )


@asynccontextmanager
async def late_progress(server: ShardlintServer, title: str) -> AsyncIterator[Bar]:
    """Show a bar of our own for work that takes longer than a moment."""
    bar = Bar(server, None)

    async def show() -> None:
        await asyncio.sleep(_MOMENT)
        async with progress(server, title) as shown:
            bar.follow(shown)
            await asyncio.Event().wait()

    shows = asyncio.create_task(show())
    try:
        yield bar
    finally:
        shows.cancel()
        with suppress(asyncio.CancelledError):
            await shows


@asynccontextmanager
async def progress(
    server: ShardlintServer, title: str, token: types.ProgressToken | None = None
) -> AsyncIterator[Bar]:
    """Show a bar, under the client's ``token``, or under one of ours if the client accepts that."""
    window = server.client_capabilities.window
    if token is None and window is not None and window.work_done_progress:
        token = str(uuid.uuid4())
        try:
            await server.work_done_progress.create_async(token)
        except Exception:
            token = None  # it said that it would take one, and does not
    bar = Bar(server, token)
    if token is None:
        yield bar
        return
    shown = server.work_done_progress
    loop = asyncio.get_running_loop()
    shown.begin(
        token, types.WorkDoneProgressBegin(title=media.message(title), cancellable=True, percentage=0)
    )
    shown.tokens[token].add_done_callback(
        lambda future: loop.call_soon_threadsafe(bar.cancelled.set) if future.cancelled() else None
    )
    try:
        yield bar
    finally:
        shown.tokens.pop(token, None)
        shown.end(token, types.WorkDoneProgressEnd())
