"""Python files in an editor that is sent diagnostics."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_editor import PRELUDE, Editor, codes, eventually, marked
from lsprotocol import types

MISTAKES = {
    "unknown axis": (
        "SHL103",
        'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", «"modle"»)))\n',
    ),
    "spec too long": (
        "SHL201",
        'x = jax.device_put(jnp.zeros((16,)), NamedSharding(mesh, P(None, «"model"»)))\n',
    ),
    "indivisible dimension": (
        "SHL202",
        'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", «"model"»)))\n',
    ),
    "after emoji": (
        "SHL103",
        'mark = "🧪🧪é"; x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P(«"🧪"», None)))\n',
    ),
    "after a tab": (
        "SHL202",
        "if mesh.size:\n"
        '\tx = jax.device_put(\n\t\tjnp.zeros((8, 10)), NamedSharding(mesh, P(\t"data",\t«"model"»))\n\t)\n',
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
async def test_a_mistake_is_shown_under_the_entry_of_the_spec(
    editor: Editor, tmp_path: Path, case: str
) -> None:
    code, mistake = MISTAKES[case]
    text, place = marked(PRELUDE + mistake)
    (diagnostic,) = await editor.report(editor.open(tmp_path / "train.py", text))
    assert diagnostic.range == place
    assert diagnostic.code == code
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    assert diagnostic.source == "shardlint"


async def test_the_mesh_is_a_related_place(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(
        tmp_path / "train.py", PRELUDE + MISTAKES["unknown axis"][1].replace("«", "").replace("»", "")
    )
    (diagnostic,) = await editor.report(uri)
    lines = {
        related.location.range.start.line
        for related in diagnostic.related_information or ()
        if related.location.uri == uri
    }
    assert (
        PRELUDE.splitlines().index('mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))')
        in lines
    )


async def test_where_the_mesh_the_shape_and_the_spec_come_from_is_related(
    editor: Editor, tmp_path: Path
) -> None:
    text = PRELUDE + (
        'spec = P("data", "model")  # 🧪\n'
        "sharding = NamedSharding(mesh, spec)\n"
        'mark = "🧪"; x = jnp.zeros((8, 10))\n'
        "y = jax.device_put(x, sharding)\n"
    )
    uri = editor.open(tmp_path / "train.py", text)
    (diagnostic,) = await editor.report(uri)
    lines = text.split("\n")
    assert lines[diagnostic.range.start.line].startswith("y =")
    written = {
        related.message: _written(lines, related.location.range)
        for related in diagnostic.related_information or ()
    }
    mesh = PRELUDE.splitlines()[-1].removeprefix("mesh = ")
    assert written == {
        "`mesh` has the axes (data=2, model=4)": mesh,
        "`x` has shape (8, 10)": "jnp.zeros((8, 10))",
        'P("data", "model") is written here': '"model"',
    }


def _written(lines: list[str], place: types.Range) -> str:
    line = lines[place.start.line].encode("utf-16-le")
    return line[2 * place.start.character : 2 * place.end.character].decode("utf-16-le")


async def test_a_mistake_comes_and_goes_with_the_text(editor: Editor, tmp_path: Path) -> None:
    text, _ = marked(PRELUDE + MISTAKES["unknown axis"][1])
    uri = editor.open(tmp_path / "train.py", text)
    assert codes(await editor.report(uri, 1)) == ["SHL103"]
    editor.change(uri, 2, text.replace("modle", "model"))
    assert await editor.report(uri, 2) == ()
    editor.change(uri, 3, text)
    assert codes(await editor.report(uri, 3)) == ["SHL103"]


async def test_an_incremental_edit_after_emoji_lands_where_it_should(editor: Editor, tmp_path: Path) -> None:
    text, place = marked(PRELUDE + MISTAKES["after emoji"][1])
    uri = editor.open(tmp_path / "train.py", text)
    assert codes(await editor.report(uri, 1)) == ["SHL103"]
    editor.edit(uri, 2, place, '"data"')
    assert await editor.report(uri, 2) == ()


async def test_an_edit_below_a_form_feed_lands_where_it_should(editor: Editor, tmp_path: Path) -> None:
    text, place = marked("# \x0c \u2028 \x85\n" + PRELUDE + MISTAKES["unknown axis"][1])
    uri = editor.open(tmp_path / "train.py", text)
    assert [found.range for found in await editor.report(uri, 1)] == [place]
    editor.edit(uri, 2, place, '"model"')
    assert await editor.report(uri, 2) == ()
    editor.edit(uri, 3, place, '"modle"')
    assert [found.range for found in await editor.report(uri, 3)] == [place]


async def test_only_the_last_of_fast_edits_is_reported(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "train.py", "")
    await editor.report(uri, 1)
    text, _ = marked(PRELUDE + MISTAKES["unknown axis"][1])
    for version in range(2, 40):
        editor.change(uri, version, text[: len(text) * version // 40])
    editor.change(uri, 40, text)
    assert codes(await editor.report(uri, 40)) == ["SHL103"]
    versions = [sent.version for sent in editor.published if sent.version is not None]
    assert versions == sorted(versions)
    assert len(versions) == len(editor.published) < 10


async def test_saving_a_file_renews_the_reports_on_those_that_import_it(
    editor: Editor, tmp_path: Path
) -> None:
    layout = tmp_path / "layout.py"
    layout.write_text(PRELUDE.replace('"model"', '"modle"'))
    text = PRELUDE.partition("mesh =")[0] + "from layout import mesh\n"
    text += 'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))\n'
    uri = editor.open(tmp_path / "train.py", text)
    assert codes(await editor.report(uri)) == ["SHL103"]
    layout.write_text(PRELUDE)
    identifier = types.TextDocumentIdentifier(uri=layout.as_uri())
    editor.text_document_did_save(types.DidSaveTextDocumentParams(text_document=identifier))
    await eventually(lambda: editor.published[-1].diagnostics == ())


async def test_closing_a_file_clears_it(editor: Editor, tmp_path: Path) -> None:
    text, _ = marked(PRELUDE + MISTAKES["indivisible dimension"][1])
    uri = editor.open(tmp_path / "train.py", text)
    assert codes(await editor.report(uri)) == ["SHL202"]
    editor.close(uri)
    assert await editor.report(uri, None) == ()


async def test_a_path_in_any_script(editor: Editor, tmp_path: Path) -> None:
    text, place = marked(PRELUDE + MISTAKES["unknown axis"][1])
    path = tmp_path / "büro 研究 #1" / "模型🧪 100%.py"
    uri = editor.open(path, text)
    (diagnostic,) = await editor.report(uri)
    assert diagnostic.range == place
    assert {related.location.uri for related in diagnostic.related_information or ()} == {uri}


async def test_an_untitled_text(editor: Editor) -> None:
    text, _ = marked(PRELUDE + MISTAKES["unknown axis"][1])
    uri = editor.open_document("untitled:Untitled-1", text)
    assert codes(await editor.report(uri)) == ["SHL103"]
