"""Reports follow the files that a text imports: open ones as they are, others as they are on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lsp_editor import PRELUDE, Editor, codes, eventually
from lsprotocol import types

IMPORTS, _, MESH = PRELUDE.partition("mesh =")
MESH = "mesh =" + MESH
WRONG = MESH.replace('"model"', '"modle"')
PLACED = 'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))\n'
SIZED = "x = jax.device_put(jnp.zeros((8, size)), NamedSharding(mesh, P('data', 'model')))\n"

#: What the open file is, what the file that changes is before and after, and what is then found.
CASES: dict[str, tuple[str, str, str, str]] = {
    "a mesh": (IMPORTS + "from layout import mesh\n" + PLACED, IMPORTS + MESH, IMPORTS + WRONG, "SHL103"),
    "a constant": (PRELUDE + "from layout import size\n" + SIZED, "size = 16\n", "size = 10\n", "SHL202"),
    "a helper": (
        PRELUDE + "from layout import wide\nsize = wide(8)\n" + SIZED,
        "def wide(size):\n    return 2 * size\n",
        "def wide(size):\n    return 2 + size\n",
        "SHL202",
    ),
}


def last(editor: Editor, uri: str) -> list[str]:
    """The codes of the last report on a document."""
    return codes(next((sent.diagnostics for sent in reversed(editor.published) if sent.uri == uri), ()))


@pytest.mark.parametrize("case", CASES)
async def test_an_edit_of_an_open_file_is_seen_by_who_imports_it(
    editor: Editor, tmp_path: Path, case: str
) -> None:
    text, before, after, code = CASES[case]
    layout = tmp_path / "layout.py"
    layout.write_text(after)  # what is open counts, not this
    changing = editor.open(layout, before)
    uri = editor.open(tmp_path / "train.py", text)
    assert codes(await editor.report(uri)) == []
    editor.change(changing, 2, after)
    await eventually(lambda: last(editor, uri) == [code])
    place = types.Range(types.Position(0, 0), types.Position(1000, 0))
    editor.edit(changing, 3, place, before)
    await eventually(lambda: last(editor, uri) == [])
    editor.close(changing)
    await eventually(lambda: last(editor, uri) == [code])


async def test_what_is_open_is_seen_two_imports_away(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "between.py").write_text("from layout import size\nwide = 2 * size\n")
    (tmp_path / "layout.py").write_text("size = 8\n")
    text = PRELUDE + "from between import wide as size\n" + SIZED
    uri = editor.open(tmp_path / "train.py", text)
    assert codes(await editor.report(uri)) == []
    layout = editor.open(tmp_path / "layout.py", "size = 8\n")
    editor.change(layout, 2, "size = 5\n")
    await eventually(lambda: last(editor, uri) == ["SHL202"])
    between = editor.open(tmp_path / "between.py", "from layout import size\nwide = 4 * size\n")
    await eventually(lambda: last(editor, uri) == [])
    editor.close(between)
    await eventually(lambda: last(editor, uri) == ["SHL202"])


async def test_a_notebook_sees_what_is_open(editor: Editor, tmp_path: Path) -> None:
    from lsp_notebook import Notebook

    layout = editor.open(tmp_path / "layout.py", "size = 16\n")
    notebook = Notebook(editor, tmp_path / "a.ipynb", [PRELUDE + "from layout import size\n", SIZED])
    assert codes(await editor.report(notebook.cell(2))) == []
    editor.change(layout, 2, "size = 10\n")
    await eventually(lambda: last(editor, notebook.cell(2)) == ["SHL202"])


async def test_an_unsaved_new_file_shadows_a_module(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "layout.py").write_text("size = 16\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "between.py").write_text("from layout import size\n")
    uri = editor.open(inner / "train.py", PRELUDE + "from between import size\n" + SIZED)
    assert codes(await editor.report(uri)) == []
    nearer = editor.open(inner / "layout.py", "size = 10\n")
    await eventually(lambda: last(editor, uri) == ["SHL202"])
    editor.close(nearer)
    await eventually(lambda: last(editor, uri) == [])


async def test_an_unrelated_edit_renews_nothing_else(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "train.py", PRELUDE + PLACED)
    other = editor.open(tmp_path / "other.py", "size = 1\n")
    await editor.report(uri)
    await editor.report(other)
    count = len(editor.published)
    editor.change(other, 2, "size = 2\n")
    await editor.report(other, 2)
    assert [sent.uri for sent in editor.published[count:]] == [other]


# -- files on the disk --------------------------------------------------------------------------


def write_module(folder: Path) -> types.FileChangeType:
    (folder / "layout.py").write_text("size = 10\n")
    return types.FileChangeType.Changed


def write_shadow(folder: Path) -> types.FileChangeType:
    (folder / "inner").mkdir(exist_ok=True)
    (folder / "inner" / "layout.py").write_text("size = 10\n")
    return types.FileChangeType.Created


def write_package(folder: Path) -> types.FileChangeType:
    (folder / "inner" / "layout").mkdir(parents=True)
    (folder / "inner" / "layout" / "__init__.py").write_text("size = 10\n")
    return types.FileChangeType.Created


DISK: dict[str, tuple[str, Callable[[Path], types.FileChangeType]]] = {
    "a module": ("layout.py", write_module),
    "a new file nearer": ("inner/layout.py", write_shadow),
    "a new package nearer": ("inner/layout/__init__.py", write_package),
}


@pytest.mark.parametrize("case", DISK)
async def test_a_change_on_the_disk_is_pulled(modern_editor: Editor, tmp_path: Path, case: str) -> None:
    path, write = DISK[case]
    (tmp_path / ".git").mkdir()
    (tmp_path / "layout.py").write_text("size = 16\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "between.py").write_text("from layout import size\n")
    uri = modern_editor.open(tmp_path / "inner" / "train.py", PRELUDE + "from between import size\n" + SIZED)
    assert codes(await modern_editor.pull(uri)) == []
    refreshes = modern_editor.diagnostic_refresh_count
    modern_editor.files_changed(tmp_path / path, kind=write(tmp_path))
    await eventually(lambda: modern_editor.diagnostic_refresh_count > refreshes)
    assert codes(await modern_editor.pull(uri)) == ["SHL202"]


async def test_a_change_that_nothing_depends_on_asks_for_nothing(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True)
    uri = connected.open(tmp_path / "train.py", PRELUDE + PLACED)
    assert codes(await connected.pull(uri)) == []
    (tmp_path / "other.py").write_text("size = 10\n")
    connected.files_changed(tmp_path / "other.py", kind=types.FileChangeType.Created)
    (tmp_path / "pyproject.toml").write_text('[tool.shardlint]\nignore = ["SHL1"]\n')
    connected.files_changed(tmp_path / "pyproject.toml", kind=types.FileChangeType.Created)
    await eventually(lambda: connected.diagnostic_refresh_count == 1)
    assert codes(await connected.pull(uri)) == []
    assert connected.diagnostic_refresh_count == 1


async def test_rules_in_a_file_of_the_project_are_watched(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True)
    (tmp_path / "rules.yaml").write_text("rules:\n  - [embed, model]\n")
    (tmp_path / "shardlint.toml").write_text('[logical-axes]\nfile = "rules.yaml"\nkey = "rules"\n')
    text = PRELUDE + (
        "import flax.linen as nn\n\n\ndef place(params):\n"
        '    return nn.logical_to_mesh_sharding(P("embed"), mesh)\n'
    )
    uri = connected.open(tmp_path / "train.py", text)
    assert codes(await connected.pull(uri)) == []
    (tmp_path / "rules.yaml").write_text("rules:\n  - [embed, modle]\n")
    connected.files_changed(tmp_path / "rules.yaml")
    await eventually(lambda: connected.diagnostic_refresh_count == 1)
    assert codes(await connected.pull(uri)) != []


async def test_what_is_watched(modern_editor: Editor) -> None:
    (watched,) = [
        one for one in modern_editor.registered if one.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    ]
    options = watched.register_options
    patterns = " ".join(watcher["globPattern"] for watcher in options["watchers"])  # type: ignore[index]
    assert all(kind in patterns for kind in ("py,", "ipynb", "toml", "yaml", "gitignore"))
