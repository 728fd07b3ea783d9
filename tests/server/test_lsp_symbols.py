"""Symbols of documents and the workspace, type definitions, semantic tokens, and the page of a layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_asking import Asking, placed
from lsp_editor import PRELUDE, Editor
from lsp_notebook import Notebook
from lsprotocol import types

from shardlint.api import Linter, Settings, editing, read_source

ROWS = "rows = jax.vmap(lambda r: jax.lax.psum(r, 'rows'), axis_name='rows')(jnp.zeros((8, 16)))\n"
PLACED = "x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P('data')))\n"


def identified(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri=uri)


async def symbols_of(editor: Editor, uri: str) -> list[tuple[str, str | None]]:
    """The names and containers of a document's symbols, as a client is told that knows no nesting."""
    found = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(identified(uri)))
    flat = [one for one in found or () if isinstance(one, types.SymbolInformation)]
    return [(one.name, one.container_name) for one in flat]


async def tokens_of(editor: Editor, uri: str, text: str) -> list[tuple[str, int, int]]:
    """The texts of a document's tokens, with their type and modifiers."""
    found = await editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(identified(uri)))
    assert found is not None
    lines, line, start, tokens = text.split("\n"), 0, 0, []
    for at in range(0, len(found.data), 5):
        down, along, length, kind, modifiers = found.data[at : at + 5]
        line, start = line + down, along if down else start + along
        units = lines[line].encode("utf-16-le")[2 * start : 2 * (start + length)]
        tokens.append((units.decode("utf-16-le"), kind, modifiers))
    return tokens


async def test_meshes_and_axes_are_symbols(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "train.py", PRELUDE + PLACED + ROWS)
    around = "mesh (data=2, model=4)"
    assert await symbols_of(editor, uri) == [
        (around, None), ("data", around), ("model", around), ("rows", "mapped axis of size 8"),
    ]  # fmt: skip


async def test_a_mesh_is_named_by_what_it_is_bound_to(editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE.partition("mesh =")[0] + (
        "def make():\n    return jax.make_mesh((2,), ('a',))\n"
        "with jax.make_mesh((8,), ('b',)) as inner:\n    print(inner)\n"
        "typed: Mesh = jax.make_mesh((4,), ('c',))\nprint(make())\n"
    )
    uri = editor.open(tmp_path / "train.py", text)
    names = [name for name, _ in await symbols_of(editor, uri) if "(" in name]
    assert names == ["make_mesh (a=2)", "inner (b=8)", "typed (c=4)"]


async def test_symbols_of_the_workspace(connected: Editor, tmp_path: Path) -> None:
    (tmp_path / "layout.py").write_text(PRELUDE)
    await connected.start(folders=[tmp_path])
    uri = connected.open(tmp_path / "train.py", PRELUDE.replace("mesh =", "other ="))

    async def found(query: str) -> set[tuple[str, str]]:
        answer = await connected.workspace_symbol_async(types.WorkspaceSymbolParams(query=query))
        return {(one.name.partition(" ")[0], Path(one.location.uri).name) for one in answer or ()}

    assert await found("mdl") == {("model", "layout.py"), ("model", "train.py")}
    assert await found("OTHER") == {("other", "train.py")}
    connected.change(uri, 2, "")
    await connected.report(uri, 2)
    assert await found("mesh") == {("mesh", "layout.py")}


async def test_the_type_of_an_array_is_its_mesh(editor: Editor, tmp_path: Path) -> None:
    layout = tmp_path / "layout.py"
    layout.write_text(PRELUDE)
    head = PRELUDE.partition("mesh =")[0] + "from layout import mesh\n"
    for marked in ("print(«x»)", "NamedSharding(«mesh», P())", "NamedSharding(mesh, P(«'data'»))"):
        text, place = placed(f"{head}{PLACED}{marked}\n")
        uri = editor.open(tmp_path / "train.py", text)
        params = types.TypeDefinitionParams(identified(uri), place.start)
        found = await editor.text_document_type_definition_async(params)
        assert isinstance(found, list | tuple)
        assert {one.uri for one in found if isinstance(one, types.Location)} == {layout.as_uri()}
        editor.close(uri)


async def test_the_mesh_that_is_imported_is_known(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "layout.py").write_text(PRELUDE)
    text, place = placed("from layout import «mesh» as grid\n")
    uri = editor.open(tmp_path / "train.py", text)
    assert "(data=2, model=4)" in await Asking(editor, uri, place.start).hover()


async def test_tokens_are_axes_and_meshes(editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE + "'🧪'; " + PLACED
    uri = editor.open(tmp_path / "train.py", text)
    axis, mesh, defined = 0, 1, 1
    assert await tokens_of(editor, uri, text) == [
        ("mesh", mesh, 0), ("data", axis, defined), ("model", axis, defined), ("mesh", mesh, 0),
        ("data", axis, 0),
    ]  # fmt: skip
    line = types.Range(types.Position(6, 0), types.Position(6, 1))
    params = types.SemanticTokensRangeParams(identified(uri), line)
    found = await editor.text_document_semantic_tokens_range_async(params)
    assert found is not None
    assert (len(found.data), found.data[0]) == (10, 6)


async def test_tokens_and_symbols_of_a_cell(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(editor, tmp_path / "book.ipynb", [PRELUDE, PLACED])
    assert await tokens_of(editor, notebook.cell(2), PLACED) == [("mesh", 1, 0), ("data", 0, 0)]
    assert await symbols_of(editor, notebook.cell(2)) == []
    assert len(await symbols_of(editor, notebook.cell(1))) == 3


async def test_the_page_of_a_layout(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "train.py", PRELUDE + PLACED)

    async def page(line: int) -> str:
        params = {"textDocument": {"uri": uri}, "line": line}
        answer = await editor.protocol.send_request_async("shardlint/layout", params)
        return str(answer.html)

    shown = await page(6)
    assert shown.count("class=card") == 1
    for told in ("train.py, line 7", "f32[4, 16]", "<svg class=mesh", "default-src 'none'", "--vscode-"):
        assert told in shown
    assert "No array" in await page(0)


def test_what_is_stored_on_disk_has_all_symbols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "layout.py").write_text(PRELUDE + PLACED)
    monkeypatch.setenv("SHARDLINT_CACHE_DIR", str(tmp_path / "stored"))
    source, found = read_source(str(tmp_path / "layout.py")), []
    for _ in range(2):
        analyzer, save = editing.storing(str(tmp_path))
        analysis = Linter(Settings(editing=True), None, analyzer).analysis(source)
        save()
        axes = sorted((axis.name, axis.kind, axis.occurrences) for axis in analysis.axes.axes)
        found.append((analysis.symbols, axes))
    assert (tmp_path / "stored").is_dir()
    assert found[0] == found[1]
    assert [len(occurrences) for _, _, occurrences in found[1][1]] == [2, 1]


async def test_counts_are_of_the_project_once_it_was_looked_through(
    connected: Editor, tmp_path: Path
) -> None:
    (tmp_path / "layout.py").write_text(PRELUDE)
    head = PRELUDE.partition("mesh =")[0] + "from layout import mesh\n"
    (tmp_path / "other.py").write_text(head + PLACED)
    await connected.start(pulls=True, modern=True, folders=[tmp_path])
    text, place = placed(head + PLACED.replace("'data'", "«'data'»"))
    (tmp_path / "train.py").write_text(text)
    uri = connected.open(tmp_path / "train.py", text)
    asking = Asking(connected, uri, place.start)
    assert "used 1 time in this file and what it imports" in await asking.hover()
    await connected.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
    for _ in range(200):
        if "used 2 times in the project" in (said := await asking.hover()):
            break
    assert "used 2 times in the project" in said
    connected.change(uri, 2, text + "# edited\n")
    assert "in this file" in await asking.hover()
