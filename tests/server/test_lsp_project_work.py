"""Work on the whole project makes way, ends when cancelled, and shows itself; wrong requests are answered."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import PRELUDE, Editor, codes, eventually
from lsp_notebook import Notebook
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from shardlint_server.server import build_server

MISTAKE = "x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, 'model')))\n"
INVALID = -32602


def many(folder: Path, count: int = 150) -> None:
    for number in range(count):
        (folder / f"m{number}.py").write_text(PRELUDE + f"# {number}\n" + MISTAKE * 20)


def references_at(uri: str, line: int, character: int) -> types.ReferenceParams:
    return types.ReferenceParams(
        text_document=types.TextDocumentIdentifier(uri=uri),
        position=types.Position(line=line, character=character),
        context=types.ReferenceContext(include_declaration=True),
    )


async def test_references_make_way_for_diagnostics_and_end_when_cancelled(
    connected: Editor, tmp_path: Path
) -> None:
    many(tmp_path)
    await connected.start(
        pulls=True, modern=True, folders=[tmp_path], options={"diagnosticMode": "openFilesOnly"}
    )
    text = PRELUDE + MISTAKE
    uri = connected.open(tmp_path / "open.py", text)
    assert codes(await connected.pull(uri)) == ["SHL202"]
    line = text[: text.index("'model'")].count("\n")
    column = text.splitlines()[line].index("'model'") + 2
    params = references_at(uri, line, column)
    asked = connected.protocol.send_request(types.TEXT_DOCUMENT_REFERENCES, params, msg_id="refs")
    await asyncio.sleep(1)
    assert not asked.done()
    other = connected.open(tmp_path / "other.py", PRELUDE + MISTAKE)
    async with asyncio.timeout(20):
        assert codes(await connected.pull(other)) == ["SHL202"]
    assert not asked.done()
    connected.cancel_request(types.CancelParams(id="refs"))
    with pytest.raises(JsonRpcException):
        await asyncio.wrap_future(asked)
    begun = time.monotonic()
    connected.change(other, 2, PRELUDE + MISTAKE + "\n")
    async with asyncio.timeout(20):
        assert codes(await connected.pull(other)) == ["SHL202"]
    assert time.monotonic() - begun < 10


async def test_references_find_every_file_and_show_progress_if_they_take_long(
    connected: Editor, tmp_path: Path
) -> None:
    (tmp_path / "layout.py").write_text(PRELUDE)
    head = PRELUDE.partition("mesh =")[0] + "from layout import mesh\n"
    for number in range(60):
        (tmp_path / f"m{number}.py").write_text(f"{head}# {number}\n{MISTAKE}")
    await connected.start(
        pulls=True, modern=True, folders=[tmp_path], options={"diagnosticMode": "openFilesOnly"}
    )
    text = head + MISTAKE
    uri = connected.open(tmp_path / "open.py", text)
    line = text[: text.index("'model'")].count("\n")
    column = text.splitlines()[line].index("'model'") + 2
    found = await connected.text_document_references_async(references_at(uri, line, column))
    assert found is not None
    assert {Path(one.uri).name for one in found} == {
        "layout.py",
        "open.py",
        *(f"m{number}.py" for number in range(60)),
    }
    bars = [str(value.kind) for values in connected.progress_reports.values() for value in values]  # type: ignore[attr-defined]
    assert not bars or (bars[0], bars[-1]) == ("begin", "end")


WRONG: list[Any] = [{}, None, {"textDocument": 3, "position": []}]


@pytest.mark.parametrize("params", WRONG)
def test_parameters_that_are_wrong_are_answered(params: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = build_server()
    sent: list[tuple[Any, Any]] = []

    def send(number: Any, result: Any = None, error: Any = None) -> None:
        sent.append((number, error))

    shown: list[Any] = []
    monkeypatch.setattr(server.protocol, "_send_response", send)
    monkeypatch.setattr(server, "window_show_message", shown.append)
    monkeypatch.setattr(server, "window_log_message", lambda message: None)
    message = {"jsonrpc": "2.0", "id": 7, "method": types.TEXT_DOCUMENT_HOVER, "params": params}
    with pytest.raises(JsonRpcException) as wrong:
        server.protocol.structure_message(message)
    server.report_server_error(wrong.value, JsonRpcException)
    ((number, error),) = sent
    assert (number, error.code, shown) == (7, INVALID, [])
    with pytest.raises(JsonRpcException):
        server.protocol.structure_message(
            {"jsonrpc": "2.0", "method": types.TEXT_DOCUMENT_DID_OPEN, "params": params}
        )
    assert len(sent) == 1


async def test_a_notebook_is_reported_in_its_cells_or_in_its_file(connected: Editor, tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    cells = [PRELUDE, MISTAKE]
    path.write_text(
        json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": text} for text in cells]})
    )
    await connected.start(pulls=True, modern=True, folders=[tmp_path])

    async def reported(before: dict[str, str]) -> tuple[dict[str, int], dict[str, str]]:
        params = types.WorkspaceDiagnosticParams(
            previous_result_ids=[types.PreviousResultId(uri, value) for uri, value in before.items()]
        )
        report = await connected.workspace_diagnostic_async(params)
        counts = {item.uri: len(getattr(item, "items", "?")) for item in report.items}
        return counts, {item.uri: item.result_id or "" for item in report.items}

    first = await connected.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
    (closed,) = first.items
    assert isinstance(closed, types.WorkspaceFullDocumentDiagnosticReport)
    assert closed.items[0].message.partition("\n")[0].endswith("(cell 2, line 1)")
    counts, before = await reported({})
    assert counts == {path.as_uri(): 1}
    notebook = Notebook(connected, path, cells)
    await eventually(lambda: connected.diagnostic_refresh_count)
    counts, before = await reported(before)
    assert counts.pop(path.as_uri()) == 0
    assert sum(counts.values()) == 1
    refreshed = connected.diagnostic_refresh_count
    notebook.close([1, 2])
    connected.closing.pop(path.as_uri(), None)
    await eventually(lambda: connected.diagnostic_refresh_count > refreshed)
    counts, _ = await reported({uri: one for uri, one in before.items() if one})
    assert counts[path.as_uri()] == 1
    assert all(count == 0 for uri, count in counts.items() if uri != path.as_uri())
