"""Axis names as symbols: definition, references, highlight."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_asking import ENCODINGS, Asking, placed
from lsp_editor import PRELUDE, Editor
from lsp_notebook import Notebook
from lsprotocol import types

HEAD = PRELUDE.partition("mesh =")[0]
PROGRAM = (
    "\tpass\n"
    "x = '🧪🧪é'; x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P('data', «'model'»)))\n"
    "print('model', P('model'))\n"
    "total = lambda a: jax.lax.psum(a, 'model')\n"
    "f = jax.shard_map(total, mesh=mesh, in_specs=P(None, 'model'), out_specs=P())\n"
    "f(x)\n"
)
TEXT = PRELUDE + "if mesh.empty:\n" + PROGRAM


def words(text: str, name: str, skipped: int = 0) -> list[tuple[int, int]]:
    """Line and column (in UTF-16) of each literal of a name but the plain words of the program."""
    found = []
    for number, line in enumerate(text.split("\n")):
        for quote in "'\"":
            at = line.find(f"{quote}{name}{quote}")
            while at >= 0:
                found.append((number, len(line[:at].encode("utf-16-le")) // 2))
                at = line.find(f"{quote}{name}{quote}", at + 1)
    return sorted(found)[: len(found) - skipped]


def starts(places: list[types.Location] | list[types.DocumentHighlight]) -> list[tuple[int, int]]:
    return [(place.range.start.line, place.range.start.character) for place in places]


async def test_the_places_of_an_axis_in_its_document(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(TEXT)
    asking = Asking(editor, editor.open(tmp_path / "train.py", text), place.start)
    every = words(text, "model")
    mesh, spec, printed, loose, psum, in_spec = every
    (definition,) = await asking.definition()
    assert starts([definition]) == [mesh]
    highlights = await asking.highlights()
    assert starts(highlights) == [mesh, spec, psum, in_spec]
    kinds = types.DocumentHighlightKind
    assert [one.kind for one in highlights] == [kinds.Write, kinds.Read, kinds.Read, kinds.Read]
    assert highlights[1].range == place
    assert starts(await asking.references()) == [mesh, spec, psum, in_spec]
    assert starts(await asking.references(declaration=False)) == [spec, psum, in_spec]
    assert printed not in starts(await asking.references())
    assert loose not in starts(await asking.references())


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_columns_are_those_of_the_encoding(
    editors: dict[str, Editor], tmp_path: Path, encoding: str
) -> None:
    editor = editors[encoding]
    text, place = placed(TEXT, encoding)
    asking = Asking(editor, editor.open(tmp_path / "train.py", text), place.start)
    assert place in [one.range for one in await asking.highlights()]


async def test_an_axis_is_used_in_other_files(connected: Editor, tmp_path: Path) -> None:
    """One file is open and unsaved, one on the disk; a third has a mesh of its own."""
    (tmp_path / "layout.py").write_text(PRELUDE)
    (tmp_path / "eval.py").write_text(
        HEAD + "from layout import mesh\ny = NamedSharding(mesh, P(None, 'model'))\n"
    )
    (tmp_path / "other.py").write_text(PRELUDE + "z = NamedSharding(mesh, P('model'))\n")
    (tmp_path / "train.py").write_text("nothing = 0\n")
    await connected.start(folders=[tmp_path])
    text, place = placed(HEAD + "from layout import mesh\nx = NamedSharding(mesh, P(«'model'»))\n")
    uri = connected.open(tmp_path / "train.py", text)
    asking = Asking(connected, uri, place.start)
    (definition,) = await asking.definition()
    assert definition.uri == (tmp_path / "layout.py").as_uri()
    files = [Path(one.uri).name for one in await asking.references()]
    assert files == ["eval.py", "layout.py", "train.py"]
    connected.change(uri, 2, text.replace("'model'", "'data'"))
    assert [Path(one.uri).name for one in await asking.references()] == ["layout.py", "train.py"]


async def test_a_constant_is_where_an_axis_is_defined(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(
        HEAD
        + "ROWS = 'rows'\nmesh = Mesh(np.array(jax.devices()), (ROWS,))\n"
        + "x = NamedSharding(mesh, P(«'rows'»))\n"
    )
    asking = Asking(editor, editor.open(tmp_path / "train.py", text), place.start)
    assert starts(await asking.definition()) == words(text, "rows")[:1]


async def test_vmap_defines_its_own(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(
        PRELUDE + "jax.vmap(lambda r: jax.lax.psum(r, «'data'»), axis_name='data')(jnp.zeros((8, 16)))\n"
    )
    asking = Asking(editor, editor.open(tmp_path / "train.py", text), place.start)
    assert starts(await asking.definition()) == words(text, "data")[-1:]
    assert starts(await asking.references()) == words(text, "data")[1:]


@pytest.mark.parametrize("program", ["print(«'model'»)\n", "x = 1  # «model»\n", "«mesh»\n"])
async def test_what_is_no_axis_has_no_places(editor: Editor, tmp_path: Path, program: str) -> None:
    text, place = placed(PRELUDE + program)
    asking = Asking(editor, editor.open(tmp_path / "train.py", text), place.start)
    assert await asking.definition() == []
    assert await asking.references() == []
    assert await asking.highlights() == []
    assert await asking.prepared() is None


async def test_cells_of_a_notebook(editor: Editor, tmp_path: Path) -> None:
    cell, place = placed("mark = '🧪'; x = NamedSharding(mesh, P(«'model'»))\n")
    notebook = Notebook(editor, tmp_path / "train.ipynb", [PRELUDE, cell])
    asking = Asking(editor, notebook.cell(2), place.start)
    (definition,) = await asking.definition()
    assert definition.uri == notebook.cell(1)
    assert [one.range for one in await asking.highlights()] == [place]
    assert [one.uri for one in await asking.references()] == [notebook.cell(1), notebook.cell(2)]
