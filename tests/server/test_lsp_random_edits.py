"""After any edit the server reports what a fresh check of the text finds.

``SHARDLINT_RANDOM_EDITS=3000`` makes so many edits in all, and ``SHARDLINT_RANDOM_SEED`` others.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import PRELUDE, Editor
from lsp_notebook import Notebook
from lsprotocol import types
from pygls.workspace import PositionCodec
from random_edits import RandomEdits
from support.sizes import size

from shardlint.api import Linter, Settings, load_settings, read_source, source_from_cells
from shardlint.inference.programs.module_loader import forget
from shardlint.source import Source
from shardlint_server.documents.conversion import Text, split_lines, to_diagnostic

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FILES = (
    "attention.py",
    "dense_layouts.py",
    "flax_parameters.py",
    "meshes.py",
    "spec_language.py",
    "shard_map_calls.py",
)
EDITS = size("SHARDLINT_RANDOM_EDITS", 15, 40)
SEED = int(os.environ.get("SHARDLINT_RANDOM_SEED", "20261122"))
#: The edits of each test, of which there are one for each file, two files together, and a notebook.
COUNT = max(1, EDITS // (len(FILES) + 2))
UTF16 = PositionCodec(encoding=types.PositionEncodingKind.Utf16)
Shown = list[dict[str, Any]]


def check_afresh(source: Source) -> Shown:
    """What a process that knows nothing yet would report on a source, on its path."""
    forget()
    ours = [module for name, module in sys.modules.items() if name.startswith("shardlint.")]
    for cache in (value for module in ours for value in vars(module).values()):
        if not isinstance(cache, type) and hasattr(cache, "cache_clear"):
            cache.cache_clear()
    texts = {cell.index: split_lines(cell.written) for cell in source.cells}

    def locate(span: Any) -> Text:
        if span.path == source.path and texts:
            index = span.cell if span.cell in texts else next(iter(texts))
            return Text(source.path if index is None else f"{index}", texts[index])
        return Text(span.path, split_lines(Path(span.path).read_bytes().decode()))

    settings: Settings = load_settings(source.path)
    findings = Linter(settings).check_source(source)
    return [
        {**shown, "cell": finding.span.cell}
        for finding in findings
        for shown in to_shown([to_diagnostic(finding, locate, UTF16)])
    ]


def to_shown(diagnostics: Sequence[types.Diagnostic]) -> Shown:
    """What is compared of diagnostics: all but addresses."""
    return [
        {
            "code": found.code,
            "range": repr(found.range),
            "message": found.message,
            "severity": found.severity,
            "tags": list(found.tags or ()),
            "related": [
                (repr(related.location.range), related.message) for related in found.related_information or ()
            ],
        }
        for found in diagnostics
    ]


def compare(given: Sequence[types.Diagnostic], fresh: Shown, cell: int | None, text: str) -> None:
    expected = [
        {key: value for key, value in one.items() if key != "cell"} for one in fresh if one["cell"] == cell
    ]
    key = functools.partial(json.dumps, default=str, sort_keys=True)
    assert sorted(to_shown(given), key=key) == sorted(expected, key=key), f"after an edit to\n{text!r}"


def change(editor: Editor, uri: str, version: int, changes: Sequence[Any]) -> None:
    document = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
    editor.text_document_did_change(
        types.DidChangeTextDocumentParams(text_document=document, content_changes=changes)
    )


async def start(editor: Editor) -> None:
    await editor.start(pulls=True, options={"debounce": 0})


@pytest.mark.parametrize("name", FILES)
async def test_edits_of_a_file(connected: Editor, tmp_path: Path, name: str) -> None:
    await start(connected)
    path = tmp_path / "fixtures" / name
    edits = RandomEdits((FIXTURES / name).read_text(encoding="utf-8"), SEED + FILES.index(name))
    uri = connected.open(path, edits.text)
    for version in range(2, COUNT + 2):
        change(connected, uri, version, edits.next())
        compare(await connected.pull(uri), check_afresh(as_source(path, edits.text)), None, edits.text)


def as_source(path: Path, text: str) -> Source:
    return read_source(str(path), text.encode("utf-8", "surrogatepass"))


LAYOUT = PRELUDE + (
    'axes = ("data", "model")\nwidth = 16\n\n\ndef place(x, spec):\n'
    "    return jax.device_put(x, NamedSharding(mesh, spec))\n\n\ndef wide(n):\n    return 2 * n\n"
)
TRAIN = (
    "import jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
    "from layout import mesh, place, wide, width\n\n"
    'x = place(jnp.zeros((8, width)), P("data", "model"))\n'
    'y = NamedSharding(mesh, P("data", "modle"))  # 🧪\n\n\n'
    'def step(x):\n\treturn place(jnp.zeros((8, wide(5))), P(None, "model"))\n'
)


async def test_edits_of_two_files(connected: Editor, tmp_path: Path) -> None:
    """Both are open, and other files are on the disk; a fresh check reads what is open from another disk."""
    await start(connected)
    opened, disk = tmp_path / "opened", tmp_path / "saved!"  # of one length, so that nothing moves
    for folder in (opened, disk):
        folder.mkdir()
    (opened / "layout.py").write_text("mesh = None\n")
    layout, train = RandomEdits(LAYOUT, SEED), RandomEdits(TRAIN, SEED + 1)
    uris = [
        connected.open(opened / name, text) for name, text in (("layout.py", LAYOUT), ("train.py", TRAIN))
    ]
    for version in range(2, COUNT + 2):
        number = version % 2
        edits = (layout, train)[number]
        change(connected, uris[number], version, edits.next())
        (disk / "layout.py").write_bytes(layout.text.encode())
        for uri, name, text in zip(uris, ("layout.py", "train.py"), (layout.text, train.text), strict=True):
            fresh = check_afresh(as_source(disk / name, text))
            compare(await connected.pull(uri), fresh, None, f"{layout.text}\n-- and --\n{train.text}")


async def test_edits_of_a_notebook(connected: Editor, tmp_path: Path) -> None:
    await start(connected)
    cells = json.loads((FIXTURES / "tensor_parallel.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"][:4]
    path = tmp_path / "fixtures" / "book.ipynb"
    notebook = Notebook(connected, path, texts)
    edits = [RandomEdits(text, SEED + number) for number, text in enumerate(texts)]
    for version in range(2, COUNT + 2):
        number = version % len(texts)
        content = types.NotebookDocumentCellContentChanges(
            document=types.VersionedTextDocumentIdentifier(uri=notebook.cell(number + 1), version=version),
            changes=edits[number].next(),
        )
        notebook.change(types.NotebookDocumentCellChanges(text_content=[content]))
        now = [(index, one.text) for index, one in enumerate(edits, start=1)]
        fresh = check_afresh(source_from_cells(str(path), now))
        for index, _ in now:
            compare(await connected.pull(notebook.cell(index)), fresh, index, f"{now!r}")
