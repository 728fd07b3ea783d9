"""The configured baseline: its findings are not shown, and others are added to it on the user's request."""

from __future__ import annotations

import os
from typing import Any

from shardlint.api import Settings, editing
from shardlint.model.findings import Finding
from shardlint_server.analysis.worker import Urgency
from shardlint_server.features.confirm_command import finding_of
from shardlint_server.session import ShardlintServer

ADD = "shardlint.addToBaseline"


def register(server: ShardlintServer) -> None:
    """Register the command."""
    server.command(ADD)(add)


def is_offered(server: ShardlintServer, finding: Finding, settings: Settings) -> bool:
    """Return whether a finding can be added: the baseline exists, inside the workspace."""
    path = settings.baseline
    if path is None or not editing.may_be_known(finding, settings):
        return False
    real = os.path.realpath(path)
    folders = [os.path.join(os.path.realpath(folder), "") for folder in server.folders()]
    return os.path.isfile(real) and real.startswith(tuple(folders))


async def add(server: ShardlintServer, arguments: dict[str, Any]) -> bool:
    """Add a finding to the baseline; it is no longer shown from then on."""
    known = await server.analyses.settled(str(arguments.get("uri")))
    if known is None or known[1].analysis is None or known[1].settings is None:
        return False
    analysis, settings = known[1].analysis, known[1].settings
    finding = finding_of(analysis.findings, arguments)
    if finding is None or not is_offered(server, finding, settings):
        return False

    def write() -> str | None:
        return editing.add_known(analysis.source, [finding], settings)

    problem = await server.worker.submit(lambda: write, Urgency.ASKED)
    if problem is not None:
        server.warn(problem)
        return False
    server.generation += 1
    server.analyses.forget()
    server.renew_all()
    return True
