"""Code actions: what is offered, and what the text is after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_actions import actions_at, after, chosen
from lsp_editor import PRELUDE, Editor, codes, marked
from lsp_notebook import MISTAKE as CELL
from lsp_notebook import PLACE as CELL_PLACE
from lsp_notebook import Notebook
from lsprotocol import types

WHOLE = types.Range(types.Position(0, 0), types.Position(10_000, 0))
MISSPELT = (
    'mark = "🧪"\tand 1; x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", «"modle"»)))'
)
BARE = 'step = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P(«()», "model")))'


def kinds(actions: list[types.CodeAction]) -> set[str]:
    return {str(getattr(action.kind, "value", action.kind)) for action in actions}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
async def test_a_misspelt_axis_becomes_the_right_one_and_nothing_else_changes(
    modern_editor: Editor, tmp_path: Path, ending: str
) -> None:
    text, place = marked(PRELUDE + MISSPELT + "\n# the end\t\n")
    text = text.replace("\n", ending)
    uri = modern_editor.open(tmp_path / "train.py", text)
    actions = await actions_at(modern_editor, uri, place)
    action = await chosen(modern_editor, actions, 'Write "model"')
    assert action.kind == types.CodeActionKind.QuickFix
    assert not action.is_preferred
    assert codes(action.diagnostics or ()) == ["SHL103"]
    assert after(action, uri, text) == text.replace("modle", "model")
    other = await chosen(modern_editor, actions, 'Write "data"')
    assert after(other, uri, text) == text.replace('"modle"', '"data"')


async def test_a_safe_fix_is_preferred(modern_editor: Editor, tmp_path: Path) -> None:
    text, place = marked(PRELUDE + BARE + "\n")
    uri = modern_editor.open(tmp_path / "train.py", text)
    action = await chosen(modern_editor, await actions_at(modern_editor, uri, place), "Write None")
    assert action.is_preferred
    assert after(action, uri, text) == text.replace("P(()", "P(None")


async def test_a_tuple_is_wrapped_in_a_spec_with_its_import(modern_editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE.replace(", PartitionSpec as P", "") + 'layout = NamedSharding(mesh, ("data", None))\n'
    uri = modern_editor.open(tmp_path / "train.py", text)
    action = await chosen(modern_editor, await actions_at(modern_editor, uri, WHOLE), "Make it a")
    expected = text.replace('("data", None)', 'P("data", None)').replace(
        "import Mesh, NamedSharding\n",
        "import Mesh, NamedSharding\nfrom jax.sharding import PartitionSpec as P\n",
    )
    assert after(action, uri, text) == expected


async def test_nothing_is_offered_elsewhere(modern_editor: Editor, tmp_path: Path) -> None:
    text, _ = marked(PRELUDE + MISSPELT + "\n")
    uri = modern_editor.open(tmp_path / "train.py", text)
    start = types.Position(0, 0)
    assert not await actions_at(modern_editor, uri, types.Range(start, start), ["quickfix"])


async def test_only_what_is_asked_for(modern_editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE + "".join(marked(line)[0] + "\n" for line in (MISSPELT, BARE))
    uri = modern_editor.open(tmp_path / "train.py", text)
    assert kinds(await actions_at(modern_editor, uri, WHOLE, ["quickfix"])) == {"quickfix"}
    for only in ("source", "source.fixAll", "source.fixAll.shardlint"):
        assert kinds(await actions_at(modern_editor, uri, WHOLE, [only])) == {"source.fixAll.shardlint"}
    assert kinds(await actions_at(modern_editor, uri, WHOLE, ["source.organizeImports"])) == set()
    assert kinds(await actions_at(modern_editor, uri, WHOLE, ["refactor"])) == {"refactor.rewrite"}


# -- all that is safe ---------------------------------------------------------------------------

UNTIDY = (
    'a = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P((), "model")))  # 🧪\n'
    "b = 1  # shardlint: ignore[SHL202]\n"
    'c = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P("", "modle")))\n'
)
TIDY = (
    'a = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P(None, "model")))  # 🧪\n'
    "b = 1\n"
    'c = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P(None, "modle")))\n'
)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
async def test_all_that_is_safe_is_fixed_and_nothing_else(
    modern_editor: Editor, tmp_path: Path, ending: str
) -> None:
    text, expected = ((PRELUDE + part).replace("\n", ending) for part in (UNTIDY, TIDY))
    uri = modern_editor.open(tmp_path / "train.py", text)
    actions = await actions_at(modern_editor, uri, WHOLE, ["source.fixAll"])
    assert all(action.edit is None for action in actions)  # it is computed when it is chosen
    action = await chosen(modern_editor, actions, "Fix all")
    assert after(action, uri, text) == expected


async def test_all_is_fixed_without_an_end_of_the_last_line(modern_editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE + UNTIDY.splitlines()[0].removesuffix("  # 🧪")
    uri = modern_editor.open(tmp_path / "train.py", text)
    actions = await actions_at(modern_editor, uri, WHOLE, ["source.fixAll"])
    action = await chosen(modern_editor, actions, "Fix all")
    assert after(action, uri, text) == text.replace("P(()", "P(None")


async def test_all_is_fixed_as_the_text_is_when_it_is_chosen(modern_editor: Editor, tmp_path: Path) -> None:
    uri = modern_editor.open(tmp_path / "train.py", PRELUDE + UNTIDY)
    actions = await actions_at(modern_editor, uri, WHOLE, ["source.fixAll"])
    longer = PRELUDE + "\n\n# more\n" + UNTIDY
    modern_editor.change(uri, 2, longer)
    action = await chosen(modern_editor, actions, "Fix all")
    assert after(action, uri, longer, version=2) == PRELUDE + "\n\n# more\n" + TIDY


async def test_a_client_that_does_not_resolve_is_given_the_edit(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "train.py", PRELUDE + UNTIDY)
    assert "source.fixAll.shardlint" not in kinds(await actions_at(editor, uri, WHOLE))
    (action,) = await actions_at(editor, uri, WHOLE, ["source.fixAll"])
    assert action.edit is not None
    assert action.edit.document_changes is None  # nor does it take versions
    assert after(action, uri, PRELUDE + UNTIDY) == PRELUDE + TIDY


async def test_the_cells_of_a_notebook_are_fixed_together(modern_editor: Editor, tmp_path: Path) -> None:
    cells = [PRELUDE, "%time 1\n" + UNTIDY, UNTIDY.partition("\n")[0]]
    notebook = Notebook(modern_editor, tmp_path / "a.ipynb", cells)
    actions = await actions_at(modern_editor, notebook.cell(2), WHOLE, ["source.fixAll"])
    action = await chosen(modern_editor, actions, "Fix all")
    assert after(action, notebook.cell(1), PRELUDE) == PRELUDE
    assert after(action, notebook.cell(2), cells[1]) == "%time 1\n" + TIDY
    assert after(action, notebook.cell(3), cells[2]) == TIDY.partition("\n")[0]


async def test_a_fix_in_a_cell(modern_editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(modern_editor, tmp_path / "a.ipynb", [PRELUDE, CELL])
    actions = await actions_at(modern_editor, notebook.cell(2), CELL_PLACE)
    action = await chosen(modern_editor, actions, 'Write "model"')
    assert after(action, notebook.cell(2), CELL) == CELL.replace("modle", "model")
    assert not await actions_at(modern_editor, notebook.cell(1), WHOLE, ["quickfix"])


# -- comments that ignore -----------------------------------------------------------------------


async def test_a_finding_is_ignored_with_a_reason(modern_editor: Editor, tmp_path: Path) -> None:
    text, place = marked(PRELUDE + MISSPELT + "  # as it was\n")
    uri = modern_editor.open(tmp_path / "train.py", text)
    action = await chosen(
        modern_editor, await actions_at(modern_editor, uri, place), "Ignore SHL103 on this line"
    )
    ignored = after(action, uri, text)
    assert ignored == text.replace("  # as it was", "  # as it was  # shardlint: ignore[SHL103] say why")
    modern_editor.change(uri, 2, ignored)
    assert await modern_editor.pull(uri) == ()


async def test_the_reason_is_typed_where_the_client_takes_snippets(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True, snippets=True)
    text, place = marked(PRELUDE + MISSPELT + "\n")
    uri = connected.open(tmp_path / "train.py", text)
    action = await chosen(connected, await actions_at(connected, uri, place), "Ignore SHL103 on this line")
    assert after(action, uri, text).endswith("  # shardlint: ignore[SHL103] ${1:why}\n")


async def test_a_comment_that_ignores_nothing_is_removed(modern_editor: Editor, tmp_path: Path) -> None:
    text = PRELUDE + "x = 1  # shardlint: ignore[SHL103]\r\n"
    uri = modern_editor.open(tmp_path / "train.py", text)
    (diagnostic,) = await modern_editor.pull(uri)
    assert (diagnostic.code, diagnostic.tags) == ("SHL012", (types.DiagnosticTag.Unnecessary,))
    action = await chosen(
        modern_editor, await actions_at(modern_editor, uri, diagnostic.range), "Remove the comment"
    )
    assert action.is_preferred
    assert after(action, uri, text) == PRELUDE + "x = 1\r\n"


# -- axis types ---------------------------------------------------------------------------------

EXPLICIT = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = «jax.make_mesh((2, 4), ("data", "model"))»


@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))


f(jnp.ones((8, 4)))
"""


async def test_a_mesh_is_given_the_axis_types_that_a_call_takes(
    modern_editor: Editor, tmp_path: Path
) -> None:
    text, place = marked(EXPLICIT)
    uri = modern_editor.open(tmp_path / "train.py", text)
    (diagnostic,) = await modern_editor.pull(uri)
    assert diagnostic.code == "SHL701"
    actions = await actions_at(modern_editor, uri, diagnostic.range)
    action = await chosen(modern_editor, actions, "Make the axes Auto")
    repaired = after(action, uri, text)
    assert "axis_types=(AxisType.Auto, AxisType.Auto))" in repaired
    modern_editor.change(uri, 2, repaired)
    assert await modern_editor.pull(uri) == ()
    modern_editor.change(uri, 3, text)
    written = await actions_at(modern_editor, uri, place, ["refactor.rewrite"])
    action = await chosen(modern_editor, written, "say that the axes are Explicit")
    modern_editor.change(uri, 4, after(action, uri, text, version=3))
    assert codes(await modern_editor.pull(uri)) == ["SHL701"]
    assert not await actions_at(modern_editor, uri, place, ["refactor.rewrite"])


async def test_in_utf_8_places_count_bytes(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True, encodings=[types.PositionEncodingKind.Utf8])
    text, _ = marked(PRELUDE + MISSPELT + "\n")
    uri = connected.open(tmp_path / "train.py", text)
    (diagnostic,) = await connected.pull(uri)
    line = text.split("\n")[diagnostic.range.start.line].encode()
    assert line[diagnostic.range.start.character : diagnostic.range.end.character] == b'"modle"'
    action = await chosen(connected, await actions_at(connected, uri, diagnostic.range), 'Write "model"')
    assert action.edit is not None
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    (edit,) = change.edits
    assert edit.range == diagnostic.range
