"""Renaming an axis across the files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_asking import ENCODINGS, Asking, applied, edits_of, placed
from lsp_editor import PRELUDE, Editor, codes
from lsp_notebook import Notebook
from lsprotocol import types
from pygls.exceptions import JsonRpcException

HEAD = PRELUDE.partition("mesh =")[0]
PROGRAM = (
    "for _ in range(1):\n\tprint('🧪🧪', 'model', NamedSharding(mesh, P('model')))\n"
    "x = '🧪🧪é'; x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P('data', r«'model'»)))\n"
    "size = mesh.shape['''model''']\n"
)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_every_name_of_the_axis_and_nothing_else(
    editors: dict[str, Editor], tmp_path: Path, encoding: str
) -> None:
    editor = editors[encoding]
    text, place = placed(PRELUDE + PROGRAM, encoding)
    uri = editor.open(tmp_path / "train.py", text)
    before = await editor.report(uri)
    asking = Asking(editor, uri, place.start)
    prepared = await asking.prepared()
    assert prepared is not None
    assert prepared.placeholder == "model"
    assert prepared.range.start.character == place.start.character + 1
    edits = edits_of(await asking.renamed("heads"))
    assert list(edits) == [uri]
    renamed = applied(text, edits[uri], encoding)
    assert renamed == text.replace("'model'", "'heads'").replace('"model"', '"heads"').replace(
        "'🧪🧪', 'heads'", "'🧪🧪', 'model'"
    )
    editor.change(uri, 2, renamed)
    after = await editor.report(uri, 2)
    assert codes(after) == codes(before) == ["SHL202"]
    assert after[0].message == before[0].message.replace("model", "heads")


async def test_files_that_are_open_and_files_on_the_disk(connected: Editor, tmp_path: Path) -> None:
    layout, other = tmp_path / "layout.py", tmp_path / "other.py"
    layout.write_text(PRELUDE)
    other.write_text(PRELUDE + "x = NamedSharding(mesh, P('model'))\n")
    (tmp_path / "eval.py").write_text(HEAD + "from layout import mesh\ny = NamedSharding(mesh, P('model'))\n")
    await connected.start(folders=[tmp_path])
    text, place = placed(HEAD + "from layout import mesh\nx = NamedSharding(mesh, P(None, «'model'»))\n")
    uri = connected.open(tmp_path / "train.py", text)
    edits = edits_of(await Asking(connected, uri, place.start).renamed("heads"))
    assert {Path(one).name for one in edits} == {"layout.py", "eval.py", "train.py"}
    assert '("data", "heads")' in applied(PRELUDE, edits[layout.as_uri()])
    unsaved = PRELUDE.replace('"data", ', '"data",\n    ')
    connected.open(layout, unsaved)
    edits = edits_of(await Asking(connected, uri, place.start).renamed("heads"))
    assert '"data",\n    "heads")' in applied(unsaved, edits[layout.as_uri()])


async def test_the_editor_can_preview_it(connected: Editor, tmp_path: Path) -> None:
    """What is known to be the axis is in one group; what may be it has to be confirmed."""
    await connected.start(pulls=True, modern=True)
    text, place = placed(
        PRELUDE
        + "x = NamedSharding(mesh, P(«'model'»))\ndef f(m):\n    return NamedSharding(m, P('model'))\n"
    )
    uri = connected.open(tmp_path / "train.py", text)
    edit = await Asking(connected, uri, place.start).renamed("heads")
    assert edit.document_changes is not None
    (change,) = edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == 1
    groups = edit.change_annotations or {}
    edits = [one for one in change.edits if isinstance(one, types.AnnotatedTextEdit)]
    assert len(edits) == len(change.edits)
    confirmed = [groups[one.annotation_id].needs_confirmation for one in edits]
    lines = [one.range.start.line for one in edits]
    last = text.count("\n") - 1
    assert list(zip(lines, confirmed, strict=True)) == [(5, False), (6, False), (last, True)]


async def test_without_a_preview_only_what_is_sure(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(
        PRELUDE
        + "x = NamedSharding(mesh, P(«'model'»))\ndef f(m):\n    return NamedSharding(m, P('model'))\n"
    )
    uri = editor.open(tmp_path / "train.py", text)
    edit = await Asking(editor, uri, place.start).renamed("heads")
    assert [one.range.start.line for one in edits_of(edit)[uri]] == [5, 6]


async def test_alternatives_are_renamed_together(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(
        HEAD + "def f(wide):\n"
        "    if wide:\n        mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))\n"
        "    else:\n        mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ('data', 'model'))\n"
        "    return NamedSharding(mesh, P(«'model'»))\n"
    )
    uri = editor.open(tmp_path / "train.py", text)
    edits = edits_of(await Asking(editor, uri, place.start).renamed("heads"))[uri]
    assert applied(text, edits) == text.replace("model", "heads")


REFUSED = {
    "an empty name": ("x = NamedSharding(mesh, P(«'model'»))\n", "", "not empty"),
    "a name the mesh has": ("x = NamedSharding(mesh, P(«'model'»))\n", "data", "an axis of the mesh"),
    "a quote": ("x = NamedSharding(mesh, P(«'model'»))\n", "a'b", "cannot stand"),
    "no axis": ("print(«'model'»)\n", "heads", "no name of an axis"),
    "a computed name": (
        "other = Mesh(np.array(jax.devices()).reshape(2, 4), tuple('a b'.split()))\n"
        "x = NamedSharding(other, P(«'a'»))\n",
        "rows",
        "computed",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_renamed_is_said(editor: Editor, tmp_path: Path, case: str) -> None:
    program, name, reason = REFUSED[case]
    text, place = placed(PRELUDE + program)
    asking = Asking(editor, editor.open(tmp_path / "train.py", text), place.start)
    with pytest.raises(JsonRpcException, match=reason):
        await asking.renamed(name)


async def test_cells_of_an_open_notebook_and_none_of_a_closed_one(connected: Editor, tmp_path: Path) -> None:
    await connected.start(folders=[tmp_path])
    cell, place = placed("mark = '🧪'; x = NamedSharding(mesh, P(«'model'»))\n")
    notebook = Notebook(connected, tmp_path / "train.ipynb", [PRELUDE, cell])
    edits = edits_of(await Asking(connected, notebook.cell(2), place.start).renamed("heads"))
    assert applied(cell, edits[notebook.cell(2)]) == cell.replace("model", "heads")
    assert applied(PRELUDE, edits[notebook.cell(1)]) == PRELUDE.replace("model", "heads")
    (tmp_path / "layout.py").write_text(PRELUDE)
    closed = (
        '{"cells": [{"cell_type": "code", "source": %s}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    source = (HEAD + "from layout import mesh\nx = NamedSharding(mesh, P('model'))\n").replace("\n", "\\n")
    (tmp_path / "closed.ipynb").write_text(closed % f'"{source}"')
    uri = connected.open(tmp_path / "layout.py", PRELUDE)
    at = types.Position(5, PRELUDE.split("\n")[5].index('"model"'))
    with pytest.raises(JsonRpcException, match=r"closed\.ipynb"):
        await Asking(connected, uri, at).renamed("heads")
