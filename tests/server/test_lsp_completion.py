"""Completion of axis names while a spec is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_asking import ENCODINGS, Asking, applied, placed
from lsp_editor import PRELUDE, Editor
from lsp_notebook import Notebook
from lsprotocol import types

OTHER = 'other = Mesh(np.array(jax.devices()).reshape(8), ("expert",))\n'
CASES = {
    "inside quotes": ("x = NamedSharding(mesh, P('data', '«»'))\n", ["data", "model", "expert"]),
    "a quote that was just typed": ("x = NamedSharding(mesh, P('data', \"«»\n", ["data", "model", "expert"]),
    "the mesh of the call first": ("x = NamedSharding(other, P('«»'))\n", ["expert", "data", "model"]),
    "in the middle of a name": ("x = NamedSharding(mesh, P('mo«»d'))\n", ["data", "model", "expert"]),
    "behind emoji": ("if 1:\n\tx = '🧪', NamedSharding(mesh, P('«»'))\n", ["data", "model", "expert"]),
    "a tuple of axes": ("x = P(('data', '«»'))\n", ["data", "model", "expert"]),
    "a collective": ("y = jax.lax.psum(x, '«»')\n", ["data", "model", "expert"]),
    "several lines of a call": (
        "x = NamedSharding(\n    mesh,\n    # the (rows\n    P(\n        None, '«»'\n",
        ["data", "model", "expert"],
    ),
    "the sizes of a mesh": ("size = other.shape['«»']\n", ["expert", "data", "model"]),
    "the shape of an array": ("w = jnp.zeros((8, 16))\nsize = w.shape['«»']\n", []),
    "no spec": ("print('«»')\n", []),
    "behind a string": ("x = NamedSharding(mesh, P('data'«»))\n", []),
    "in a comment": ("x = P(  # '«»\n", []),
    "no string": ("x = P(«»)\n", []),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("case", CASES)
async def test_the_axes_that_may_be_meant(
    editors: dict[str, Editor], tmp_path: Path, case: str, encoding: str
) -> None:
    editor = editors[encoding]
    program, names = CASES[case]
    text, place = placed(PRELUDE + OTHER + program, encoding)
    uri = editor.open(tmp_path / "train.py", PRELUDE + OTHER)
    await editor.report(uri)
    editor.change(uri, 2, text)
    items = await Asking(editor, uri, place.start).completions()
    assert [item.label for item in sorted(items, key=lambda item: item.sort_text or "")] == names


async def test_it_says_how_many_devices_and_replaces_the_name(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(PRELUDE + "x = '🧪', NamedSharding(mesh, P('mo«»d'))\n")
    items = await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).completions()
    model = next(item for item in items if item.label == "model")
    assert model.detail == "4 devices of (data=2, model=4)"
    assert isinstance(model.text_edit, types.TextEdit)
    assert applied(text, [model.text_edit]) == text.replace("'mod'", "'model'")


async def test_a_number_that_is_not_known_is_not_told(editor: Editor, tmp_path: Path) -> None:
    head = PRELUDE.replace(".reshape(2, 4)", "").replace(', "model"', ",")
    text, place = placed(head + "x = NamedSharding(mesh, P('«»'))\n")
    items = await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).completions()
    assert [item.detail for item in items] == ["of (data=device_count)"]


async def test_a_file_may_call_specs_as_it_likes(editor: Editor, tmp_path: Path) -> None:
    head = PRELUDE.replace("PartitionSpec as P", "PartitionSpec as Layout")
    text, place = placed(head + "x = NamedSharding(mesh, Layout('data'))\ny = Layout('«»')\n")
    items = await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).completions()
    assert [item.label for item in items] == ["data", "model"]


async def test_an_axis_that_vmap_binds(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(
        PRELUDE + "jax.vmap(lambda r: jax.lax.psum(r, 'rows') + jax.lax.pmax(r, '«»'), axis_name='rows')"
        "(jnp.zeros((8, 16)))\n"
    )
    items = await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).completions()
    assert {item.label: item.detail for item in items}["rows"] == "a mapped axis of size 8"


async def test_the_meshes_of_other_files_come_last(connected: Editor, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(PRELUDE.partition("mesh =")[0] + OTHER)
    await connected.start(folders=[tmp_path])
    text, place = placed(PRELUDE + "x = NamedSharding(mesh, P('data', '«»'))\n")
    asking = Asking(connected, connected.open(tmp_path / "train.py", text), place.start)
    at_data = types.Position(place.start.line, place.start.character - 6)
    await Asking(connected, asking.document.uri, at_data).references()  # the project is known from here on
    assert [item.label for item in await asking.completions()] == ["data", "model", "expert"]


async def test_a_cell_of_a_notebook(editor: Editor, tmp_path: Path) -> None:
    cell, place = placed("x = NamedSharding(mesh, P('«»'))\n")
    notebook = Notebook(editor, tmp_path / "train.ipynb", [PRELUDE, cell])
    items = await Asking(editor, notebook.cell(2), place.start).completions()
    assert [item.label for item in items] == ["data", "model"]
