"""An editor that pulls diagnostics."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsp_editor import PRELUDE, Editor, codes, eventually, marked
from lsp_notebook import MISTAKE, PLACE, Notebook
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled


async def test_a_file(pulling_editor: Editor, tmp_path: Path) -> None:
    text, place = marked(
        PRELUDE + 'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", «"model"»)))\n'
    )
    uri = pulling_editor.open(tmp_path / "train.py", text)
    (diagnostic,) = await pulling_editor.pull(uri)
    assert (diagnostic.code, diagnostic.range) == ("SHL202", place)
    pulling_editor.change(uri, 2, text.replace("10", "16"))
    assert await pulling_editor.pull(uri) == ()


async def test_the_cells_of_a_notebook(pulling_editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(pulling_editor, tmp_path / "mesh.ipynb", [PRELUDE, MISTAKE])
    first, second = await asyncio.gather(
        pulling_editor.pull(notebook.cell(1)), pulling_editor.pull(notebook.cell(2))
    )
    assert first == ()
    assert codes(second) == ["SHL103"]
    assert second[0].range == PLACE


async def test_a_pull_may_be_cancelled(pulling_editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE + MISTAKE
    uri = pulling_editor.open(tmp_path / "train.py", text)
    pulling_editor.change(uri, 2, text + "\n")
    params = types.DocumentDiagnosticParams(text_document=types.TextDocumentIdentifier(uri=uri))
    asked = pulling_editor.protocol.send_request(types.TEXT_DOCUMENT_DIAGNOSTIC, params, msg_id="one")
    pulling_editor.cancel_request(types.CancelParams(id="one"))
    with pytest.raises(JsonRpcRequestCancelled):
        await asyncio.wrap_future(asked)
    assert codes(await pulling_editor.pull(uri)) == ["SHL103"]


async def test_a_file_that_is_not_open_has_nothing(pulling_editor: Editor, tmp_path: Path) -> None:
    assert await pulling_editor.pull((tmp_path / "elsewhere.py").as_uri()) == ()


async def test_who_pulls_is_not_sent_reports(pulling_editor: Editor, tmp_path: Path) -> None:
    uri = pulling_editor.open(tmp_path / "train.py", PRELUDE)
    await pulling_editor.pull(uri)
    pulling_editor.close(uri)
    await pulling_editor.pull(uri)
    assert pulling_editor.published == []


async def test_a_save_asks_to_pull_anew(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True)
    identifier = types.TextDocumentIdentifier(uri=connected.open(tmp_path / "layout.py", PRELUDE))
    connected.text_document_did_save(types.DidSaveTextDocumentParams(text_document=identifier))
    await eventually(lambda: connected.diagnostic_refresh_count == 1)


async def test_pull_is_offered_to_who_can(connected: Editor) -> None:
    offered = (await connected.start(pulls=True)).capabilities.diagnostic_provider
    assert offered is not None
    assert offered.inter_file_dependencies


async def test_pull_is_not_offered_to_who_cannot(connected: Editor) -> None:
    assert (await connected.start()).capabilities.diagnostic_provider is None
