"""The fixtures in an editor: the same findings as on the command line, on the same lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsp_editor import Editor
from lsp_notebook import Notebook
from lsprotocol import types

from shardlint.api import Linter, load_settings
from shardlint.model.findings import Finding

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FILES = sorted(file for suffix in ("*.py", "*.ipynb") for file in FIXTURES.rglob(suffix))

Shown = tuple[str, int, bool]
"""A finding as both show it: its code, its line from 0, and whether it is expected."""


def shown(diagnostics: tuple[types.Diagnostic, ...]) -> list[Shown]:
    return sorted(
        (str(found.code), found.range.start.line, found.severity == types.DiagnosticSeverity.Hint)
        for found in diagnostics
    )


def reported(findings: tuple[Finding, ...], cell: int | None) -> list[Shown]:
    return sorted(
        (found.code, found.span.line - 1, found.expected) for found in findings if found.span.cell == cell
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
async def test_the_editor_shows_what_check_reports(pulling_editor: Editor, file: Path) -> None:
    findings = Linter(load_settings(str(file))).check_paths([str(file)]).findings
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        uri = pulling_editor.open(file, text)
        assert shown(await pulling_editor.pull(uri)) == reported(findings, None)
        return
    cells = enumerate(json.loads(text)["cells"])
    code = {index: "".join(cell["source"]) for index, cell in cells if cell["cell_type"] == "code"}
    notebook = Notebook(pulling_editor, file, list(code.values()))
    for number, index in enumerate(code, start=1):
        assert shown(await pulling_editor.pull(notebook.cell(number))) == reported(findings, index)
