"""Inlay hints behind specs and in bodies of shard_map."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_asking import ENCODINGS, Asking, placed
from lsp_editor import PRELUDE, Editor, eventually
from lsp_notebook import Notebook
from lsprotocol import types

SPEC = "mark = '🧪é'; x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P('data')«»))\n"
BODY = (
    "def body(a«»):\n\tb = a.T\n\treturn b.T\n"
    "jax.shard_map(body, mesh=mesh, in_specs=P('data'), out_specs=P('data'))(jnp.zeros((8, 16)))\n"
)
START = types.Position(0, 0)


def label(hint: types.InlayHint) -> str:
    assert not isinstance(hint.label, str)
    return "".join(part.value for part in hint.label)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_hint_stands_behind_its_spec(
    editors: dict[str, Editor], tmp_path: Path, encoding: str
) -> None:
    editor = editors[encoding]
    text, place = placed(PRELUDE + SPEC, encoding)
    uri = editor.open(tmp_path / "train.py", text)
    (hint,) = await Asking(editor, uri, START).hints()
    assert (label(hint), hint.position, hint.padding_left) == ("→ f32[4, 16]", place.start, True)


async def test_local_shapes_stand_in_the_body(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(PRELUDE + BODY)
    hints = await Asking(editor, editor.open(tmp_path / "train.py", text), START).hints()
    spec = "→ f32[4, 16]"
    assert [label(hint) for hint in hints] == [": f32[4, 16]", ": f32[16, 4]", spec, spec]
    assert hints[0].position == place.start
    assert hints[1].position == types.Position(place.start.line + 1, 2)


async def test_only_those_in_the_range(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(PRELUDE + SPEC + SPEC.replace("«»", ""))
    uri = editor.open(tmp_path / "train.py", text)
    assert len(await Asking(editor, uri, START).hints()) == 2
    assert len(await Asking(editor, uri, START).hints(last=place.start.line + 1)) == 1
    below = types.Position(place.start.line + 1, 0)
    assert [hint.position.line for hint in await Asking(editor, uri, below).hints()] == [below.line]


@pytest.mark.parametrize(
    ("shown", "left"),
    [({"shards": False}, ":"), ({"localShapes": False}, "→"), ({"shards": False, "localShapes": False}, "")],
)
async def test_each_kind_can_be_turned_off(
    connected: Editor, tmp_path: Path, shown: dict[str, bool], left: str
) -> None:
    await connected.start(options={"inlayHints": shown})
    text, _ = placed(PRELUDE + BODY)
    hints = await Asking(connected, connected.open(tmp_path / "train.py", text), START).hints()
    assert {label(hint)[0] for hint in hints} == ({left} if left else set())


async def test_the_editor_is_asked_to_ask_again_when_an_imported_file_changes(
    modern_editor: Editor, tmp_path: Path
) -> None:
    layout, text = tmp_path / "layout.py", PRELUDE.partition("mesh =")[0] + "from layout import mesh\n"
    layout.write_text(PRELUDE)
    uri = modern_editor.open(tmp_path / "train.py", text + SPEC.replace("«»", ""))
    (hint,) = await Asking(modern_editor, uri, START).hints()
    assert label(hint) == "→ f32[4, 16]"
    refreshes = modern_editor.inlay_hint_refreshes
    layout.write_text(PRELUDE.replace("reshape(2, 4)", "reshape(4, 2)"))
    modern_editor.files_changed(layout)
    await eventually(lambda: modern_editor.inlay_hint_refreshes > refreshes)
    await modern_editor.pull(uri)
    (hint,) = await Asking(modern_editor, uri, START).hints()
    assert label(hint) == "→ f32[2, 16]"


async def test_a_cell_of_a_notebook(editor: Editor, tmp_path: Path) -> None:
    cell, place = placed(SPEC)
    notebook = Notebook(editor, tmp_path / "train.ipynb", [PRELUDE, "print(mesh)\n", cell])
    assert await Asking(editor, notebook.cell(2), START).hints() == []
    (hint,) = await Asking(editor, notebook.cell(3), START).hints()
    assert hint.position == place.start


async def test_a_hint_is_resolved_to_what_is_known_and_a_link_to_the_mesh(
    editor: Editor, tmp_path: Path
) -> None:
    text, _ = placed(PRELUDE + SPEC)
    uri = editor.open(tmp_path / "train.py", text)
    (hint,) = await Asking(editor, uri, START).hints()
    resolved = await editor.inlay_hint_resolve_async(hint)
    assert isinstance(resolved.tooltip, types.MarkupContent)
    for told in ("`f32[8, 16]`", 'spec: `P("data")`', "8 devices", "│ 0-3 │", "`train.py:6`"):
        assert told in resolved.tooltip.value
    assert not isinstance(resolved.label, str)
    location = resolved.label[0].location
    assert location is not None
    assert (location.uri, location.range.start) == (uri, types.Position(5, 7))


async def test_the_number_of_devices_is_told_to_those_who_want_it(connected: Editor, tmp_path: Path) -> None:
    await connected.start(options={"inlayHints": {"devices": True}})
    text, _ = placed(PRELUDE + SPEC)
    (hint,) = await Asking(connected, connected.open(tmp_path / "train.py", text), START).hints()
    assert label(hint) == "→ f32[4, 16] × 8 devices"
