"""Notebooks in an editor that is sent diagnostics."""

from __future__ import annotations

from pathlib import Path

from lsp_editor import PRELUDE, Editor, codes
from lsp_notebook import MISTAKE, PLACE, Notebook


async def test_a_mistake_is_shown_on_its_cell(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(editor, tmp_path / "mesh.ipynb", [PRELUDE, MISTAKE])
    (diagnostic,) = await editor.report(notebook.cell(2))
    assert diagnostic.range == PLACE
    assert diagnostic.code == "SHL103"
    assert {related.location.uri for related in diagnostic.related_information or ()} >= {notebook.cell(1)}
    assert await editor.report(notebook.cell(1)) == ()


async def test_an_edit_of_one_cell_changes_the_report_on_another(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(editor, tmp_path / "mesh.ipynb", [PRELUDE, MISTAKE])
    assert codes(await editor.report(notebook.cell(2))) == ["SHL103"]
    notebook.edit(1, 2, PRELUDE.replace('"model"', '"modle"'))
    assert await editor.report(notebook.cell(1), 2) == ()
    assert editor.published[-1].uri == notebook.cell(2)
    assert editor.published[-1].diagnostics == ()


async def test_fixing_the_cell_clears_it(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(editor, tmp_path / "mesh.ipynb", [PRELUDE, MISTAKE])
    assert codes(await editor.report(notebook.cell(2))) == ["SHL103"]
    notebook.edit(2, 2, MISTAKE.replace("modle", "model"))
    assert await editor.report(notebook.cell(2), 2) == ()


async def test_cells_come_and_go(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(editor, tmp_path / "mesh.ipynb", [PRELUDE, MISTAKE])
    assert codes(await editor.report(notebook.cell(2))) == ["SHL103"]
    sql = notebook.document(3, "SELECT 1", language="sql")
    notebook.splice(2, [2], [sql, notebook.document(4, MISTAKE)])
    assert codes(await editor.report(notebook.cell(4))) == ["SHL103"]
    assert await editor.report(notebook.cell(2), None) == ()
    assert notebook.cell(3) not in {sent.uri for sent in editor.published}


async def test_magics_are_no_mistakes(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(
        editor, tmp_path / "mesh.ipynb", ["%matplotlib inline\n!pip list\n" + PRELUDE, MISTAKE]
    )
    assert codes(await editor.report(notebook.cell(2))) == ["SHL103"]
    assert await editor.report(notebook.cell(1)) == ()


async def test_closing_a_notebook_clears_its_cells(editor: Editor, tmp_path: Path) -> None:
    notebook = Notebook(editor, tmp_path / "mesh.ipynb", [PRELUDE, MISTAKE])
    assert codes(await editor.report(notebook.cell(2))) == ["SHL103"]
    notebook.close([1, 2])
    assert await editor.report(notebook.cell(2), None) == ()
