"""The commands that run the user's own programs: as fixtures, and to see what the compiler makes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from shardlint.api import Linter, compiling, editing, media, read_source
from shardlint_server.analysis.analyses import Report
from shardlint_server.confirmation.target_runs import TargetRuns
from shardlint_server.documents.documents import Part, Target
from shardlint_server.features.confirm_command import refused
from shardlint_server.presentation.progress import progress
from shardlint_server.session import ShardlintServer

RUN = "shardlint.runFixture"
COMPILE = "shardlint.compile"

T = TypeVar("T")


def register(server: ShardlintServer) -> None:
    """Register the commands."""
    server.command(RUN)(run_fixture)
    server.command(COMPILE)(compile_program)


async def run_fixture(server: ShardlintServer, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Run a fixture that is open, and saved; show what JAX did above its parts, and where that is not
    what is announced.

    The result is a summary: ``said``, and the number of ``disagreements``; None where nothing was run.
    """
    found = await _runnable(server, arguments)
    if found is None:
        return None
    target, report, source = found
    if not is_fixture(target, report):
        server.warn(f"{target.path} is no fixture: the key `fixtures` of the configuration says which are")
        return None
    runs = server.fixture_runs
    assert report.analysis is not None and report.settings is not None
    ours = [finding for finding in report.analysis.findings if finding.code != "SHL901"]
    run = runs.run(target, source, ours, report.settings, server.python)
    ran = await _supervised(server, runs, target, f"Running {target.path} on a fake mesh", run)
    return (
        None if ran is None else {"said": media.plain(summary(ran)), "disagreements": len(ran.disagreements)}
    )


async def compile_program(server: ShardlintServer, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Run a program that is open, and saved, and show at its lines what the compiler makes of them.

    The result is a summary, ``said``, a ``problem`` if something did not run, and the ``page`` of the report
    as HTML; None where nothing was run.
    """
    found = await _runnable(server, arguments)
    if found is None:
        return None
    target, report, source = found
    assert report.settings is not None
    run = server.compilations.run(target, source, report.settings, server.python)
    title = f"Compiling {target.path} for a fake mesh"
    compiled = await _supervised(server, server.compilations, target, title, run)
    if compiled is None:
        return None
    if compiled.problem is not None:
        server.warn(compiled.problem)
    problem = None if compiled.problem is None else media.plain(compiled.problem)
    return {"said": media.plain(compiled.said), "problem": problem, "page": compiled.page}


def is_fixture(target: Target, report: Report) -> bool:
    """Return whether the configuration says that a target is a fixture."""
    return report.settings is not None and Linter(report.settings).is_fixture(target.path)


def summary(ran: editing.Ran) -> str:
    """Return the outcome of a fixture in a sentence."""
    if ran.problem is not None:
        return f"{ran.problem}."
    count, parts = len(ran.disagreements), len(ran.verdicts)
    said = "no disagreement" if not count else f"{count} disagreement{'s' * (count != 1)}"
    return f"JAX {ran.jax}: {parts} part{'s' * (parts != 1)}, {said}."


async def _runnable(
    server: ShardlintServer, arguments: dict[str, Any]
) -> tuple[Target, Report, editing.Source] | None:
    """Return an open document that may be run, as it is on the disk; warn of what is in the way."""
    if (refusal := refused(server, of_workspace=True)) is not None:
        server.warn(refusal)
        return None
    known = await server.analyses.latest(str(arguments.get("uri")))
    if known is None or known[1].analysis is None or known[1].settings is None:
        return None
    target, report = known
    source = await asyncio.to_thread(read_source, target.path)
    if [cell.written for cell in source.cells] != [part.text for part in _with_code(target, source)]:
        server.warn(f"save {target.path} first: what is run is the file")
        return None
    return target, report, source


async def _supervised(
    server: ShardlintServer, runs: TargetRuns[T], target: Target, title: str, run: Coroutine[Any, Any, T]
) -> T | None:
    """Run with progress that the user may cancel; None where that happened, or where it runs already."""
    if runs.is_running(target.uri):
        run.close()
        return None
    runs.forget(target.uri)
    async with progress(server, title) as bar:
        running = asyncio.ensure_future(run)
        cancelled = asyncio.ensure_future(bar.cancelled.wait())
        try:
            await asyncio.wait((running, cancelled), return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                runs.interrupt(target.uri)
                await asyncio.wait((running,))
                runs.forget(target.uri)
                return None
            ran = running.result()
        finally:
            cancelled.cancel()
            runs.interrupt(target.uri)
    server.analyses.forget()
    server.renew_all()
    return ran


def _with_code(target: Target, source: editing.Source) -> list[Part]:
    """Return the parts of a source's cells."""
    cells = {cell.index for cell in source.cells}
    return [part for part in target.parts if part.cell in cells]


def texts_of(target: Target) -> dict[int | None, str]:
    """Return the text of each part of a target."""
    return {part.cell: part.text for part in target.parts}


def compiled_lines(server: ShardlintServer, target: Target) -> tuple[list[compiling.CompiledLine], bool]:
    """Return the lines of a target that was compiled, where they are now, and whether it was edited since."""
    compiled = server.compilations.last(target)
    if compiled is None:
        return [], False
    texts = texts_of(target)
    return compiled.lines_in(texts), compiled.is_stale(texts)
