"""Diagnostics of the whole workspace, including files that are not open: for a client that pulls them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

from lsprotocol import types
from pygls import uris

from shardlint.api import Linter, editing
from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.analysis.project_files import FEW
from shardlint_server.analysis.worker import Superseded, Urgency
from shardlint_server.features.diagnostics import result_id
from shardlint_server.presentation.progress import Bar, late_progress, progress
from shardlint_server.session import ShardlintServer

#: Seconds between two parts of an answer.
_INTERVAL = 0.25
T = TypeVar("T")
Item = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport


@dataclass(frozen=True, slots=True)
class _Known:
    """The findings of a file that is not open."""

    record: editing.Record
    items: Sequence[types.Diagnostic]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of the workspace; of one that ``is_small`` the analyses are kept."""

    path: str
    is_small: bool


class WorkspaceReports:
    """Reports on the files of the workspace, kept while the files they depend on are unchanged."""

    def __init__(self, server: ShardlintServer) -> None:
        self._server = server
        self._known: dict[str, _Known] = {}
        #: The generation of the last complete answer, and its result ids by URI.
        self._last: tuple[int, dict[str, str]] = (-1, {})
        #: The generation in which the user cancelled an answer.
        self._cancelled = -1
        self._counting: asyncio.Task[None] | None = None

    async def answer(
        self, params: types.WorkspaceDiagnosticParams, bar: Bar
    ) -> types.WorkspaceDiagnosticReport:
        """Report on every file; in parts, where the client accepts partial results."""
        before = {one.uri: one.value for one in params.previous_result_ids}
        generation, last = self._last
        same = generation == self._server.generation and before == last
        if self._server.analyses.told_of_changes and (same or self._cancelled == self._server.generation):
            return types.WorkspaceDiagnosticReport(
                items=[_unchanged(uri, result) for uri, result in before.items()]
            )
        generation = self._server.generation
        sender = _Sender(self._server, params.partial_result_token)
        results: dict[str, str] = {}
        paths = await self._submit(self._paths)
        try:
            for number, (path, folder) in enumerate(paths.items()):
                if bar.cancelled.is_set():
                    # A client that asks again and again is not given what its user has cancelled.
                    self._cancelled = generation
                    return sender.end()
                bar.report(path.rpartition("/")[2], number, len(paths))
                uri = uris.from_fs_path(path)
                assert uri is not None
                for item in await self._of_file(uri, path, folder, before):
                    results[item.uri] = item.result_id or ""
                    sender.send(item)
        finally:
            self._server.projects.save_soon()
        for gone in before.keys() - results.keys():
            sender.send(types.WorkspaceFullDocumentDiagnosticReport(uri=gone, items=[]))
        self._known = {path: known for path, known in self._known.items() if path in paths}
        for small in {folder.path for folder in paths.values() if folder.is_small}:
            self._count(small)
        self._last = (generation, results)
        return sender.end()

    async def _of_file(self, uri: str, path: str, folder: _Folder, before: dict[str, str]) -> list[Item]:
        opened = await self._server.analyses.latest(uri)
        if opened is not None:
            target, report = opened
            return [
                _item(part.uri, report.diagnostics.get(part.uri, ()), before, part.version)
                for part in target.parts
            ]
        return [_item(uri, await self._submit(partial(self._check, path, folder)), before)]

    def _count(self, folder: str) -> None:
        """Have the axes of a small folder known, so that hovers can tell how often one is used."""
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._server.projects.count(folder))

    async def _submit(self, work: Callable[[dict[str, bytes]], T]) -> T:
        """Run work at the lowest urgency."""
        while True:
            try:
                return await self._server.worker.submit(
                    lambda: self._server.in_worker(work), Urgency.WORKSPACE
                )
            except Superseded:
                continue

    def touched(self, paths: Collection[str]) -> bool:
        """Return whether a change of files may change the findings of a file that is not open."""
        return any(known.record.touched(paths) for known in self._known.values())

    # -- in the thread that analyses --------------------------------------------------------------

    def _paths(self, opened: dict[str, bytes]) -> dict[str, _Folder]:
        """Return the relevant files of all folders, with the folder of each."""
        configuration = self._server.configuration
        found: dict[str, _Folder] = {}
        with editing.opened(opened):
            for folder in self._server.folders():
                options = configuration.options_of(folder)
                if not options.enable or options.diagnosticMode == "openFilesOnly":
                    continue
                settings = configuration.settings_of_folder(folder)
                linter = Linter(settings, configuration.settings_of_folder)
                _, sources = linter.read_paths([folder], lambda *_: editing.look())
                is_small = len(sources) <= FEW
                if options.diagnosticMode == "auto" and not is_small:
                    continue
                for source in sources:
                    found.setdefault(source.path, _Folder(folder, is_small))
        return found

    def _check(self, path: str, folder: _Folder, opened: dict[str, bytes]) -> Sequence[types.Diagnostic]:
        known = self._known.get(path)
        with editing.opened(opened):
            if known is not None and known.record.holds():
                return known.items
        with editing.opened(opened), editing.recorded() as record:
            analysed = self._server.projects.on_disk(folder.path, path, opened)
            analysed.record.include()
            items = self._server.linter.on_disk(analysed.analysis, opened)
        if folder.is_small:
            self._server.projects.keep(folder.path, analysed)
        self._known[path] = _Known(record, items)
        return items


class _Sender:
    """Sends an answer in parts, or keeps it together."""

    def __init__(self, server: ShardlintServer, token: types.ProgressToken | None) -> None:
        self._server = server
        self._token = token
        self._items: list[Item] = []
        self._sent = time.monotonic()

    def send(self, item: Item) -> None:
        """Send a report, with others."""
        self._items.append(item)
        if self._token is not None and time.monotonic() - self._sent > _INTERVAL:
            self._flush()

    def end(self) -> types.WorkspaceDiagnosticReport:
        """Return the rest of the answer."""
        if self._token is not None and self._items:
            self._flush()
        return types.WorkspaceDiagnosticReport(items=self._items)

    def _flush(self) -> None:
        assert self._token is not None
        part = types.WorkspaceDiagnosticReportPartialResult(items=self._items)
        self._server.protocol.notify(types.PROGRESS, types.ProgressParams(token=self._token, value=part))
        self._items, self._sent = [], time.monotonic()


def register(server: ShardlintServer) -> None:
    """Answer a client that asks for the diagnostics of the workspace."""
    reports = WorkspaceReports(server)
    server.elsewhere = reports.touched

    async def diagnose(
        server: ShardlintServer, params: types.WorkspaceDiagnosticParams
    ) -> types.WorkspaceDiagnosticReport:
        """Report on the workspace; what is cancelled ends at once."""
        try:
            title = "Checking the workspace"
            if params.work_done_token is None:
                # VS Code gives no token, and accepts one of ours.
                async with late_progress(server, title) as bar:
                    return await reports.answer(params, bar)
            async with progress(server, title, params.work_done_token) as bar:
                return await reports.answer(params, bar)
        except asyncio.CancelledError:
            server.worker.look()
            raise

    server.feature(types.WORKSPACE_DIAGNOSTIC)(diagnose)


def _item(
    uri: str, items: Sequence[types.Diagnostic], before: dict[str, str], version: int | None = None
) -> Item:
    result = result_id(items)
    if before.get(uri) == result:
        return _unchanged(uri, result, version)
    return types.WorkspaceFullDocumentDiagnosticReport(
        uri=uri, items=items, version=version, result_id=result
    )


def _unchanged(uri: str, result: str, version: int | None = None) -> Item:
    return types.WorkspaceUnchangedDocumentDiagnosticReport(uri=uri, result_id=result, version=version)
