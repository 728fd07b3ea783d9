"""Confirmation by JAX on the user's request: of a finding, by a small generated program."""

from __future__ import annotations

import asyncio
from typing import Any

from shardlint.api import media
from shardlint.model.findings import Finding
from shardlint_server.confirmation import interpreters
from shardlint_server.documents.conversion import said_of
from shardlint_server.presentation.progress import progress
from shardlint_server.session import ShardlintServer

CONFIRM = "shardlint.confirm"


def register(server: ShardlintServer) -> None:
    """Register the command."""
    server.command(CONFIRM)(confirm)


def arguments_for(uri: str, finding: Finding) -> dict[str, Any]:
    """Return the command's arguments, which identify a finding."""
    return {
        "uri": uri,
        "code": finding.code,
        "message": media.plain(finding.message),
        "line": finding.span.line,
    }


async def confirm(server: ShardlintServer, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Confirm a finding on a fake mesh; its message includes JAX's outcome from then on.

    The result is also the outcome: ``confirmation`` and ``said``; None where the finding no longer exists.
    """
    if (refusal := refused(server)) is not None:
        server.warn(refusal)
        return None
    known = await server.analyses.settled(str(arguments.get("uri")))
    if known is None or known[1].analysis is None or known[1].settings is None:
        return None
    settings, finding = known[1].settings, finding_of(known[1].analysis.findings, arguments)
    if finding is None:
        return None
    shunned = server.shunned(known[0].path)
    python = interpreters.found(server.python, shunned)
    if shunned and (refusal := interpreters.refusal(python, shunned)) is not None:
        server.warn(refusal)
        return None
    async with progress(server, f"Confirming {finding.code} on a fake mesh") as bar:
        answer = asyncio.ensure_future(server.witnesses.ask(finding, settings, python, shunned))
        cancelled = asyncio.ensure_future(bar.cancelled.wait())
        try:
            await asyncio.wait((answer, cancelled), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                server.witnesses.interrupt()
                return None
            confirmed, notes = answer.result()
        finally:
            cancelled.cancel()
            if not answer.done():
                server.witnesses.interrupt()
    for note in notes:
        server.warn(note)
    server.analyses.forget()
    server.renew_all()
    return {"confirmation": str(confirmed.confirmation), "said": said_of(confirmed)}


def finding_of(findings: tuple[Finding, ...], arguments: dict[str, Any]) -> Finding | None:
    """Return the finding that the arguments identify: it may have moved since."""
    candidates = [
        f
        for f in findings
        if (f.code, media.plain(f.message)) == (arguments.get("code"), arguments.get("message"))
    ]
    line = arguments.get("line")
    return min(
        candidates, key=lambda f: abs(f.span.line - (line if isinstance(line, int) else 0)), default=None
    )


def refused(server: ShardlintServer, of_workspace: bool = False) -> str | None:
    """Return the reason why nothing may be run, None if it may; ``of_workspace`` is true for workspace
    code.
    """
    if not server.executes:
        return "nothing is run over TCP"
    if of_workspace and not server.options.trusted:
        return "the workspace is not trusted, and its code is not run (option `trusted`)"
    return None
