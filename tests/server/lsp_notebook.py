"""A notebook that a test has open in an editor."""

from __future__ import annotations

from pathlib import Path

from lsp_editor import Editor, marked
from lsprotocol import types

MISTAKE, PLACE = marked(
    'mark = "🧪"; x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", «"modle"»)))\n'
)
"""A cell with an unknown axis, and where it stands."""


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
        editor.closing[path.as_uri()] = lambda: self.close(list(range(1, len(cells) + 1)))

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
        del self.editor.closing[self.identifier.uri]
        self.editor.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(
                notebook_document=types.NotebookDocumentIdentifier(uri=self.identifier.uri),
                cell_text_documents=[
                    types.TextDocumentIdentifier(uri=self.cell(number)) for number in numbers
                ],
            )
        )
