"""Diagnostics of the whole workspace, and workspaces of several folders."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import PRELUDE, Editor, codes, eventually, folder_of, marked
from lsprotocol import types
from pygls.exceptions import JsonRpcException

MISTAKE, _ = marked('x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", «"model"»)))\n')
GOOD = MISTAKE.replace("10", "16")


async def whole(
    editor: Editor, before: dict[str, str] | None = None, **tokens: str
) -> types.WorkspaceDiagnosticReport:
    """Ask for the diagnostics of the workspace."""
    previous = [types.PreviousResultId(uri=uri, value=value) for uri, value in (before or {}).items()]
    return await editor.workspace_diagnostic_async(
        types.WorkspaceDiagnosticParams(previous_result_ids=previous, **tokens)
    )


def found(report: types.WorkspaceDiagnosticReport) -> dict[str, list[str]]:
    """The codes of what was found, by the file's name."""
    return {
        item.uri.rpartition("/")[2]: codes(item.items)
        for item in report.items
        if isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
    }


def results(report: types.WorkspaceDiagnosticReport) -> dict[str, str]:
    return {item.uri: item.result_id or "" for item in report.items}


def project(folder: Path) -> Path:
    """A project with a mistake, a good file, a file of another kind, one that is left out, and a notebook."""
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text('[tool.shardlint]\nextend-exclude = ["left_out"]\n')
    (folder / "bad.py").write_text(PRELUDE + MISTAKE)
    (folder / "good.py").write_text(PRELUDE + "from sizes import size\n" + GOOD.replace("16", "size"))
    (folder / "sizes.py").write_text("size = 16\n")
    (folder / "left_out").mkdir()
    (folder / "left_out" / "worse.py").write_text(PRELUDE + MISTAKE)
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for text in (PRELUDE, "s = '🧪'; " + MISTAKE)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "book.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False))
    return folder


async def start(editor: Editor, *folders: Path, **options: Any) -> types.InitializeResult:
    return await editor.start(pulls=True, modern=True, folders=folders, options=options or None)


async def test_every_file_is_checked(connected: Editor, tmp_path: Path) -> None:
    offered = (await start(connected, project(tmp_path))).capabilities.diagnostic_provider
    assert offered is not None
    assert offered.workspace_diagnostics
    report = await whole(connected)
    assert found(report) == {"bad.py": ["SHL202"], "good.py": [], "book.ipynb": ["SHL202"]}
    (book,) = [item for item in report.items if item.uri.endswith("book.ipynb")]
    assert isinstance(book, types.WorkspaceFullDocumentDiagnosticReport)
    place = book.items[0].range
    line = (tmp_path / "book.ipynb").read_text().split("\n")[place.start.line].encode("utf-16-le")
    written = line[2 * place.start.character : 2 * place.end.character].decode("utf-16-le")
    assert written == '\\"model\\"'


async def test_what_is_the_same_is_not_sent_again(connected: Editor, tmp_path: Path) -> None:
    await start(connected, project(tmp_path))
    first = results(await whole(connected))
    again = await whole(connected, first)
    assert {item.kind for item in again.items} == {"unchanged"}
    assert results(again) == first
    (tmp_path / "sizes.py").write_text("size = 10\n")
    connected.files_changed(tmp_path / "sizes.py")
    await eventually(lambda: connected.diagnostic_refresh_count)
    assert found(await whole(connected, first)) == {"good.py": ["SHL202"]}
    (tmp_path / "bad.py").unlink()
    connected.files_changed(tmp_path / "bad.py", kind=types.FileChangeType.Deleted)
    assert found(await whole(connected, first))["bad.py"] == []


async def test_open_files_count_as_they_are(connected: Editor, tmp_path: Path) -> None:
    await start(connected, project(tmp_path))
    uri = connected.open(tmp_path / "bad.py", PRELUDE + GOOD)
    connected.open(tmp_path / "sizes.py", "size = 10\n")
    report = await whole(connected)
    assert (found(report)["bad.py"], found(report)["good.py"]) == ([], ["SHL202"])
    assert [getattr(item, "version", None) for item in report.items if item.uri == uri] == [1]


async def test_parts_and_progress(connected: Editor, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text(PRELUDE + f"# {number}\n" + MISTAKE)
    connected.progress_reports["bar"] = []
    await start(connected, tmp_path)
    report = await whole(connected, work_done_token="bar", partial_result_token="parts")
    assert list(report.items) == []  # all of them came in parts
    items = [item["uri"] for part in connected.parts for item in part["items"]]
    assert sorted(items) == sorted((tmp_path / f"m{number}.py").as_uri() for number in range(30))
    bar = [str(value.kind) for value in connected.progress_reports["bar"]]  # type: ignore[attr-defined]
    assert (bar[0], bar[-1]) == ("begin", "end")
    assert len(bar) > 3


async def test_it_may_be_cancelled_and_makes_way_for_what_is_typed(connected: Editor, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"m{number}.py").write_text(PRELUDE + f"# {number}\n" + MISTAKE * 20)
    await start(connected, tmp_path)
    params = types.WorkspaceDiagnosticParams(previous_result_ids=[])
    asked = connected.protocol.send_request(types.WORKSPACE_DIAGNOSTIC, params, msg_id="all")
    await asyncio.sleep(1)
    uri = connected.open(tmp_path / "new.py", PRELUDE + MISTAKE)
    async with asyncio.timeout(20):
        assert codes(await connected.pull(uri)) == ["SHL202"]
    assert not asked.done()
    connected.cancel_request(types.CancelParams(id="all"))
    with pytest.raises(JsonRpcException):
        await asyncio.wrap_future(asked)


async def test_only_open_files_where_the_user_wants_that(connected: Editor, tmp_path: Path) -> None:
    answer = await start(connected, project(tmp_path), diagnosticMode="openFilesOnly")
    offered = answer.capabilities.diagnostic_provider
    assert offered is not None
    assert not offered.workspace_diagnostics


# -- several folders ----------------------------------------------------------------------------


async def test_each_folder_has_its_configuration(connected: Editor, tmp_path: Path) -> None:
    one, two, three = (project(tmp_path / name) for name in ("one", "two", "three"))
    (two / "pyproject.toml").write_text('[tool.shardlint]\nexclude = ["left_out"]\nignore = ["SHL202"]\n')
    await start(connected, one, two)
    report = await whole(connected)
    by_folder: dict[str, list[str]] = {Path(item.uri).parent.name: [] for item in report.items}
    for item in report.items:
        assert isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
        by_folder[Path(item.uri).parent.name] += codes(item.items)
    assert by_folder == {"one": ["SHL202", "SHL202"], "two": []}
    event = types.WorkspaceFoldersChangeEvent(added=[folder_of(three)], removed=[folder_of(one)])
    connected.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event=event))
    before = results(report)
    later = await whole(connected, before)
    full = {
        Path(item.uri).parent.name: codes(item.items)
        for item in later.items
        if isinstance(item, types.WorkspaceFullDocumentDiagnosticReport) and item.uri.endswith("bad.py")
    }
    assert full == {"one": [], "three": ["SHL202"]}


async def test_modules_are_those_of_the_same_folder(connected: Editor, tmp_path: Path) -> None:
    for name, size in (("one", 16), ("two", 10)):
        (tmp_path / name / "src" / "deep" / "er" / "still" / "more" / "and").mkdir(parents=True)
        (tmp_path / name / "sizes.py").write_text(f"size = {size}\n")
    await start(connected, tmp_path / "one", tmp_path / "two")
    text = PRELUDE + "from sizes import size\n" + GOOD.replace("16", "size")
    deep = Path("src", "deep", "er", "still", "more", "and", "train.py")
    assert codes(await connected.pull(connected.open(tmp_path / "one" / deep, text))) == []
    assert codes(await connected.pull(connected.open(tmp_path / "two" / deep, text))) == ["SHL202"]
