"""Notebooks in an editor that is sent diagnostics."""

from __future__ import annotations

from pathlib import Path

from lsp_editor import PRELUDE, Editor, codes, marked
from lsprotocol import types

MISTAKE, PLACE = marked(
    '🧪 = 1; x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", «"modle"»)))\n'.replace(
        "🧪", "é"
    )
)


class Notebook:
    """A notebook as a client has it open: a first cell of prose, then the cells given."""

    def __init__(self, editor: Editor, path: Path, cells: list[str]) -> None:
        self.editor = editor
        self.identifier = types.VersionedNotebookDocumentIdentifier(uri=path.as_uri(), version=1)
        prose = types.NotebookCell(kind=types.NotebookCellKind.Markup, document=self.cell(0))
        documents = [self.document(number, text) for number, text in enumerate(cells, start=1)]
        editor.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                notebook_document=types.NotebookDocument(
                    uri=path.as_uri(),
                    notebook_type="jupyter-notebook",
                    version=1,
                    cells=[prose, *(self.code(document) for document in documents)],
                ),
                cell_text_documents=documents,
            )
        )

    def cell(self, number: int) -> str:
        """Return the URI of a cell, as VS Code makes it."""
        return self.identifier.uri.replace("file:", "vscode-notebook-cell:") + f"#W{number}sZmlsZQ%3D%3D"

    def document(self, number: int, text: str, language: str = "python") -> types.TextDocumentItem:
        return types.TextDocumentItem(uri=self.cell(number), language_id=language, version=1, text=text)

    def code(self, document: types.TextDocumentItem) -> types.NotebookCell:
        return types.NotebookCell(kind=types.NotebookCellKind.Code, document=document.uri)

    def change(self, cells: types.NotebookDocumentCellChanges) -> None:
        self.identifier.version += 1
        self.editor.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                notebook_document=self.identifier, change=types.NotebookDocumentChangeEvent(cells=cells)
            )
        )

    def edit(self, number: int, version: int, text: str) -> None:
        """Replace the text of a cell."""
        content = types.NotebookDocumentCellContentChanges(
            document=types.VersionedTextDocumentIdentifier(uri=self.cell(number), version=version),
            changes=[types.TextDocumentContentChangeWholeDocument(text=text)],
        )
        self.change(types.NotebookDocumentCellChanges(text_content=[content]))

    def splice(self, start: int, deleted: list[int], inserted: list[types.TextDocumentItem]) -> None:
        """Replace cells by others; ``start`` counts the prose cell."""
        self.change(
            types.NotebookDocumentCellChanges(
                structure=types.NotebookDocumentCellChangeStructure(
                    array=types.NotebookCellArrayChange(
                        start=start,
                        delete_count=len(deleted),
                        cells=[self.code(document) for document in inserted],
                    ),
                    did_open=inserted,
                    did_close=[types.TextDocumentIdentifier(uri=self.cell(number)) for number in deleted],
                )
            )
        )

    def close(self, numbers: list[int]) -> None:
        self.editor.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(
                notebook_document=types.NotebookDocumentIdentifier(uri=self.identifier.uri),
                cell_text_documents=[
                    types.TextDocumentIdentifier(uri=self.cell(number)) for number in numbers
                ],
            )
        )


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
