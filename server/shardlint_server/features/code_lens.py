"""*Run this fixture* above a fixture, and JAX's outcome above each of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from shardlint.api import Linter, editing, media, read_source
from shardlint_server.analysis.analyses import Report
from shardlint_server.documents.documents import Part, Target
from shardlint_server.features.confirm_command import refused
from shardlint_server.presentation.progress import progress
from shardlint_server.session import ShardlintServer

RUN = "shardlint.runFixture"


def register(server: ShardlintServer) -> None:
    """Register the lenses and their command."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions())(code_lenses)
    server.command(RUN)(run_fixture)


async def code_lenses(server: ShardlintServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the lenses of a file or cell; none unless the workspace's code may be run."""
    uri = params.text_document.uri
    if refused(server, of_workspace=True) is not None:
        return []
    known = await server.analyses.settled(uri)
    if known is None or not _is_fixture(*known):
        return []
    target, _ = known
    part = next((part for part in target.parts if part.uri == uri), None)
    return [] if part is None else list(_lenses(server, target, part))


def _is_fixture(target: Target, report: Report) -> bool:
    return report.settings is not None and Linter(report.settings).is_fixture(target.path)


def _lenses(server: ShardlintServer, target: Target, part: Part) -> Iterator[types.CodeLens]:
    ran = server.fixture_runs.result(target)
    if part == target.parts[0]:
        title = "Run this fixture on a fake mesh" if ran is None else f"{_summary(ran)} Run again"
        yield _lens(1, title, types.Command(title=title, command=RUN, arguments=[{"uri": target.uri}]))
    if ran is not None:
        for verdict in ran.verdicts:
            if verdict.cell == part.cell:
                title = f"JAX {ran.jax}: {verdict.said}" if ran.jax else verdict.said
                yield _lens(verdict.line, title, types.Command(title=title, command=""))


def _lens(line: int, title: str, command: types.Command) -> types.CodeLens:
    place = types.Position(line=line - 1, character=0)
    command.title = media.plain(command.title)
    return types.CodeLens(range=types.Range(place, place), command=command)


def _summary(ran: editing.Ran) -> str:
    if ran.problem is not None:
        return f"{ran.problem}."
    count, parts = len(ran.disagreements), len(ran.verdicts)
    summary = "no disagreement" if not count else f"{count} disagreement{'s' * (count != 1)}"
    return f"JAX {ran.jax}: {parts} part{'s' * (parts != 1)}, {summary}."


async def run_fixture(server: ShardlintServer, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Run a fixture that is open, and saved; show what JAX did above its parts, and where that is not
    what is announced.

    The result is a summary: ``said``, and the number of ``disagreements``; None where nothing was run.
    """
    if (refusal := refused(server, of_workspace=True)) is not None:
        server.warn(refusal)
        return None
    known = await server.analyses.latest(str(arguments.get("uri")))
    if known is None or known[1].analysis is None or known[1].settings is None:
        return None
    target, report = known
    if not _is_fixture(target, report):
        server.warn(f"{target.path} is no fixture: the key `fixtures` of the configuration says which are")
        return None
    source = await asyncio.to_thread(read_source, target.path)
    if [cell.written for cell in source.cells] != [part.text for part in _with_code(target, source)]:
        server.warn(f"save {target.path} first: what is run is the file")
        return None
    if server.fixture_runs.is_running(target.uri):
        return None
    assert report.analysis is not None and report.settings is not None
    runs = server.fixture_runs
    runs.forget(target.uri)
    ours = [finding for finding in report.analysis.findings if finding.code != "SHL901"]
    async with progress(server, f"Running {target.path} on a fake mesh") as bar:
        run = asyncio.ensure_future(runs.run(target, source, ours, report.settings, server.python))
        cancelled = asyncio.ensure_future(bar.cancelled.wait())
        try:
            await asyncio.wait((run, cancelled), return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                runs.interrupt(target.uri)
                await asyncio.wait((run,))
                runs.forget(target.uri)
                return None
            ran = run.result()
        finally:
            cancelled.cancel()
            runs.interrupt(target.uri)
    server.analyses.forget()
    server.renew_all()
    return {"said": media.plain(_summary(ran)), "disagreements": len(ran.disagreements)}


def _with_code(target: Target, source: editing.Source) -> list[Part]:
    """Return the parts of a source's cells."""
    cells = {cell.index for cell in source.cells}
    return [part for part in target.parts if part.cell in cells]
