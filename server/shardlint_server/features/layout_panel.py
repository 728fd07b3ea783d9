"""The request ``shardlint/layout``: a page about the arrays on a line, for panels that follow the cursor."""

from __future__ import annotations

import os
from typing import Any

from shardlint.api import editing
from shardlint_server.analysis.worker import Urgency
from shardlint_server.session import ShardlintServer

LAYOUT = "shardlint/layout"


def register(server: ShardlintServer) -> None:
    """Register the handler for the request."""
    server.feature(LAYOUT)(layout)


async def layout(server: ShardlintServer, params: Any) -> dict[str, Any] | None:
    """Return the page about a line (from 0) of a document, as it is being edited; None if it is not open.

    ``{"textDocument": {"uri": …}, "line": 7}`` is answered by ``{"title": …, "html": …}``.
    """
    uri, line = getattr(getattr(params, "textDocument", None), "uri", None), getattr(params, "line", None)
    if not isinstance(uri, str) or not isinstance(line, int):
        return None
    insight = await server.insights.settled(uri, asked=True)
    part = None if insight is None else insight.part(uri)
    if insight is None or part is None:
        return None
    cell = "" if part.cell is None else f", cell {part.cell + 1}"
    title = f"{os.path.basename(insight.target.path)}{cell}, line {line + 1}"
    values = insight.knowledge.on_line(line + 1, part.cell)
    page = await server.worker.submit(lambda: lambda: editing.layout_page(title, values), Urgency.ASKED)
    return {"title": title, "html": page}
