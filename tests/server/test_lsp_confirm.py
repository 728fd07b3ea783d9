"""JAX is asked when the user wants it, and the workspace's code is run only where it is trusted."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from lsp_actions import actions_at
from lsp_editor import PRELUDE, Editor, codes, eventually, marked
from lsp_notebook import Notebook
from lsprotocol import types

MISTAKE = 'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", «"model"»)))\n'


async def run(editor: Editor, command: types.Command | None) -> Any:
    """Execute a command of the server."""
    assert command is not None
    params = types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
    return await editor.workspace_execute_command_async(params)


async def confirmation(editor: Editor, uri: str, place: types.Range) -> types.Command | None:
    """The command that confirms what is found at a place."""
    actions = await actions_at(editor, uri, place, ["quickfix"])
    return next((action.command for action in actions if action.command is not None), None)


def progress_of(editor: Editor) -> list[str]:
    """What the bars of progress did."""
    return [str(one.kind) for reports in editor.progress_reports.values() for one in reports]  # type: ignore


async def test_a_finding_is_confirmed_in_place(modern_editor: Editor, tmp_path: Path) -> None:
    text, place = marked(PRELUDE + MISTAKE)
    uri = modern_editor.open(tmp_path / "train.py", text)
    answer = await run(modern_editor, await confirmation(modern_editor, uri, place))
    assert answer["confirmation"] == "confirmed"
    assert answer["said"].startswith("JAX ")
    assert modern_editor.diagnostic_refresh_count or await _refreshed(modern_editor)
    (diagnostic,) = await modern_editor.pull(uri)
    assert diagnostic.message.endswith(f"confirmed by {answer['said']}")
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    assert progress_of(modern_editor)[0] == "begin"
    assert progress_of(modern_editor)[-1] == "end"
    # It stays where the text moves, and goes with the mistake.
    modern_editor.change(uri, 2, "# a comment\n" + text)
    (diagnostic,) = await modern_editor.pull(uri)
    assert "confirmed by JAX" in diagnostic.message
    modern_editor.change(uri, 3, text.replace("10", "6"))
    (diagnostic,) = await modern_editor.pull(uri)
    assert "confirmed by JAX" not in diagnostic.message


async def _refreshed(editor: Editor) -> bool:
    await eventually(lambda: editor.diagnostic_refresh_count)
    return True


async def test_a_python_without_jax_is_named(connected: Editor, tmp_path: Path) -> None:
    bare = str(tmp_path / "nowhere" / "python")
    await connected.start(pulls=True, modern=True, options={"python": bare, "trusted": True})
    text, place = marked(PRELUDE + MISTAKE)
    uri = connected.open(tmp_path / "train.py", text)
    answer = await run(connected, await confirmation(connected, uri, place))
    assert answer == {"confirmation": "unconfirmed", "said": None}
    assert any(bare in message.message for message in connected.messages)


async def test_an_interpreter_of_the_workspace_is_not_run_unless_trusted(
    connected: Editor, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    python.chmod(0o755)
    await connected.start(pulls=True, modern=True, options={"python": str(python)}, folders=[tmp_path])
    text, place = marked(PRELUDE + MISTAKE)
    uri = connected.open(tmp_path / "train.py", text)
    assert await run(connected, await confirmation(connected, uri, place)) is None
    assert any("not trusted" in message.message for message in connected.messages)
    assert not (tmp_path / "ran").exists()


async def test_asking_may_be_cancelled(connected: Editor, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 500\n")
    python.chmod(0o755)
    await connected.start(pulls=True, modern=True, options={"python": str(python), "trusted": True})
    text, place = marked(PRELUDE + MISTAKE)
    uri = connected.open(tmp_path / "train.py", text)
    asking = asyncio.create_task(run(connected, await confirmation(connected, uri, place)))
    await eventually(lambda: progress_of(connected))
    await asyncio.sleep(1)
    (token,) = connected.progress_reports
    async with asyncio.timeout(20):
        connected.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token=token))
        assert await asking is None
        await connected.shutdown_session()  # it does not wait for the interpreter
    connected.capabilities = None  # so that it is not ended twice


# -- fixtures -----------------------------------------------------------------------------------

FIXTURE = PRELUDE + (
    "\n\ndef case_good():\n"
    '    jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))\n'
    "\n\ndef case_bad():\n"
    '    jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", "model")))  # expect: SHL202\n'
    "\n\ndef case_wrong():\n"
    "    raise KeyError('🧪')\n"
)


async def lenses(editor: Editor, uri: str) -> list[types.CodeLens]:
    found = await editor.text_document_code_lens_async(
        types.CodeLensParams(text_document=types.TextDocumentIdentifier(uri=uri))
    )
    return list(found or ())


def titles(found: list[types.CodeLens]) -> list[tuple[int, str]]:
    return [(lens.range.start.line, lens.command.title if lens.command else "") for lens in found]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / "fixtures" / name
    path.parent.mkdir()
    path.write_text(text)
    (folder / "shardlint.toml").write_text("")
    return path


async def test_a_fixture_is_run_and_what_jax_did_is_shown(connected: Editor, tmp_path: Path) -> None:
    await connected.start(
        pulls=True, modern=True, options={"trusted": True, "python": sys.executable}, folders=[tmp_path]
    )
    uri = connected.open(written(tmp_path, "model.py", FIXTURE), FIXTURE)
    before = await lenses(connected, uri)
    cases = [number for number, line in enumerate(FIXTURE.splitlines()) if line.startswith("def case_")]
    assert titles(before) == [
        (0, "Run this fixture on a fake mesh"),
        *((line, "Show what this compiles to") for line in cases),
    ]
    answer = await run(connected, before[0].command)
    assert answer["disagreements"] == 1
    await eventually(lambda: connected.code_lens_refreshes)
    shown = titles(await lenses(connected, uri))
    assert "1 disagreement" in shown[0][1]
    lines = FIXTURE.splitlines()
    by_line = {lines[line]: title for line, title in shown[1:] if title.startswith("JAX")}
    assert by_line["def case_good():"].endswith(": accepts")
    assert "IndivisibleError" in by_line["def case_bad():"]
    assert "KeyError" in by_line["def case_wrong():"]
    found = {diagnostic.code: diagnostic for diagnostic in await connected.pull(uri)}
    assert set(found) == {"SHL202", "SHL901"}
    assert lines[found["SHL901"].range.start.line].strip() == "raise KeyError('🧪')"
    # What was run is not what is there any more.
    connected.change(uri, 2, FIXTURE + "\n")
    assert titles(await lenses(connected, uri)) == titles(before)
    assert codes(await connected.pull(uri)) == ["SHL202"]
    assert await run(connected, before[0].command) is None
    assert any("save" in message.message for message in connected.messages)


async def test_a_notebook_is_run(connected: Editor, tmp_path: Path) -> None:
    import json

    await connected.start(pulls=True, modern=True, options={"trusted": True}, folders=[tmp_path])
    cells = [PRELUDE, "jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P('data', 'model')))\n"]
    prose = {"cell_type": "markdown", "metadata": {}, "source": ""}
    code: list[Any] = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for text in cells
    ]
    document = {"cells": [prose, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = written(tmp_path, "model.ipynb", json.dumps(document))
    notebook = Notebook(connected, path, cells)
    (lens,) = await lenses(connected, notebook.cell(1))
    assert not await lenses(connected, notebook.cell(2))
    answer = await run(connected, lens.command)
    assert answer is not None, connected.messages
    (shown,) = titles(await lenses(connected, notebook.cell(2)))
    assert "IndivisibleError" in shown[1]


SLOW = PRELUDE + "import time\ntime.sleep(500)\n"


async def test_a_run_may_be_cancelled(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True, options={"trusted": True}, folders=[tmp_path])
    uri = connected.open(written(tmp_path, "slow.py", SLOW), SLOW)
    (lens,) = await lenses(connected, uri)
    running = asyncio.create_task(run(connected, lens.command))
    await eventually(lambda: progress_of(connected))
    await asyncio.sleep(1)
    (token,) = connected.progress_reports
    connected.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token=token))
    async with asyncio.timeout(30):
        assert await running is None
    assert progress_of(connected)[-1] == "end"
    assert len(await lenses(connected, uri)) == 1


@pytest.mark.parametrize("options", [None, {"trusted": False}])
async def test_nothing_of_the_workspace_is_run_unless_it_is_trusted(
    connected: Editor, tmp_path: Path, options: object
) -> None:
    await connected.start(pulls=True, modern=True, options=options, folders=[tmp_path])
    # What the workspace itself says of trust counts for nothing.
    connected.set_configuration({"trusted": True, "python": sys.executable}, section="shardlint")
    connected.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    text = FIXTURE + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n"
    uri = connected.open(written(tmp_path, "model.py", text), text)
    assert await lenses(connected, uri) == []
    for name in ("shardlint.runFixture", "shardlint.compile"):
        command = types.Command(title="", command=name, arguments=[{"uri": uri}])
        assert await run(connected, command) is None
    assert any("not trusted" in message.message for message in connected.messages)
    assert not (tmp_path / "ran").exists()


async def test_a_file_that_is_no_fixture_is_not_run(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True, options={"trusted": True}, folders=[tmp_path])
    path = tmp_path / "train.py"
    path.write_text(FIXTURE)
    uri = connected.open(path, FIXTURE)
    assert await lenses(connected, uri) == []
    command = types.Command(title="", command="shardlint.runFixture", arguments=[{"uri": uri}])
    assert await run(connected, command) is None
    assert any("no fixture" in message.message for message in connected.messages)
