"""Edits change what they say and nothing else: line ends, tabs, marks, encodings, a notebook's JSON."""

from __future__ import annotations

import json
import os
import random
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardlint.fixes.documents import CannotChange, Document, read_document, write
from shardlint.model.findings import Edit
from shardlint.model.spans import Span
from shardlint.source.lexing import NEWLINE
from shardlint.source.notebooks.cells import read_cells

ROOT = Path(__file__).resolve().parents[2]
REAL = sorted((ROOT / "fixtures").rglob("*.py"))[:12] + sorted((ROOT / "shardlint").rglob("*.py"))[:6]
NOTEBOOKS = sorted((ROOT / "fixtures").rglob("*.ipynb"))
WRITTEN = ["", "x", "é", "line\n", 'a "b"\\', "\t# c", "1\n2\n"]


def place(text: str, offset: int) -> tuple[int, int, int]:
    """Line, column and true offset: none lies inside a line end of two characters."""
    line, start = 1, 0
    for match in NEWLINE.finditer(text):
        if match.start() < offset < match.end():
            offset = match.start()
        if match.end() > offset:
            break
        line, start = line + 1, match.end()
    return line, offset - start + 1, offset


def random_edits(text: str, cell: int | None, rng: random.Random) -> tuple[list[Edit], str]:
    """Edits that do not overlap, and the text after them by plain slicing."""
    offsets = sorted(rng.sample(range(len(text) + 1), min(8, len(text) + 1)))
    newline = match[0] if (match := NEWLINE.search(text)) else "\n"
    edits, pieces, at = [], [], 0
    for first, second in zip(offsets[::2], offsets[1::2], strict=False):
        line, column, start = place(text, first)
        end_line, end_column, stop = place(text, second if rng.random() < 0.6 else first)
        if start < at:
            continue
        new = rng.choice(WRITTEN)
        edits.append(Edit(Span("f", line, column, end_line, end_column, cell), new))
        pieces += [text[at:start], new.replace("\n", newline)]
        at = stop
    rng.shuffle(edits)
    return edits, "".join([*pieces, text[at:]])


def dressed(text: str, rng: random.Random) -> tuple[bytes, str]:
    """A file as others write it: with other line ends, tabs, a mark, another encoding."""
    text = text.replace("    ", rng.choice(["    ", "\t"]))
    text = text.replace("\n", rng.choice(["\n", "\r\n", "\r"]))
    kind = rng.randrange(3)
    if kind == 1:
        return text.encode("utf-8-sig"), "utf-8-sig"
    if kind == 2:
        return ("# coding: latin-1\n# é\n" + text).encode("latin-1", "replace"), "latin-1"
    return text.encode(), "utf-8"


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_file_keeps_everything_else(path: Path) -> None:
    rng = random.Random(path.name)
    for _ in range(6):
        data, encoding = dressed(path.read_text(encoding="utf-8"), rng)
        document = Document("f.py", data)
        edits, wanted = random_edits(document.text, None, rng)
        after = document.edited(edits)
        assert after.data == wanted.encode(encoding)


@given(st.text(alphabet="ab \t\r\n\"'\\#é😀"), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_any_text_keeps_everything_else(text: str, rng: random.Random) -> None:
    edits, wanted = random_edits(text, None, rng)
    assert Document("f.py", text.encode()).edited(edits).data == wanted.encode()


def notebook(rng: random.Random) -> str:
    """A notebook in one of many ways of writing JSON."""
    lines = ["import jax\n", "x = 'é😀'\n", "\n", "if x:\r\n", '\ty = "a\\nb"  # c\n', "z"]
    cells: list[dict[str, object]] = []
    for number in range(5):
        source = rng.sample(lines, rng.randrange(1, 6))
        cells.append(
            {
                "cell_type": rng.choice(["code", "code", "markdown"]),
                "execution_count": number,
                "metadata": {"z": 1, "a": [1.50, 2e5]},
                "outputs": [{"data": {"text/plain": ["é"]}, "source": ["no cell\n"]}],
                "source": rng.choice([source, "".join(source)]),
            }
        )
    whole = {"cells": cells, "nbformat": 4, "source": ["neither"], "metadata": {"cells": []}}
    indent = rng.choice([None, 1, 4, "\t"])
    text = json.dumps(whole, indent=indent, ensure_ascii=rng.random() < 0.5)
    return text.replace("\n", "\r\n") if rng.random() < 0.3 else text + "\n" * rng.randrange(2)


def differ(data: bytes, rng: random.Random) -> None:
    cells = read_cells(data)
    edits: list[Edit] = []
    wanted = dict(cells)
    for index, text in cells:
        if rng.random() < 0.6:
            ours, wanted[index] = random_edits(text, index, rng)
            edits += ours
    after = Document("f.ipynb", data).edited(edits).data
    assert dict(read_cells(after)) == wanted
    for position, _ in cells:
        # What an edit does not touch is byte for byte the same, cell by cell.
        if not any(edit.span.cell == position for edit in edits):
            assert wanted[position] == dict(cells)[position]
    before_json, after_json = json.loads(data.decode("utf-8-sig")), json.loads(after.decode("utf-8-sig"))
    for whole in (before_json, after_json):
        for cell in whole["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = type(cell["source"]).__name__
    assert list(walk(before_json)) == list(walk(after_json))


def walk(value: object) -> Iterator[object]:
    """All of a JSON value, with the order of its keys."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from walk(item)
    elif isinstance(value, list):
        yield len(value)
        for item in value:
            yield from walk(item)
    else:
        yield repr(value)


def test_random_notebooks_keep_everything_else() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        differ((b"\xef\xbb\xbf" if seed % 5 == 0 else b"") + notebook(rng).encode(), rng)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_real_notebooks_keep_everything_else(path: Path) -> None:
    for seed in range(10):
        differ(path.read_bytes(), random.Random(seed))


def test_lines_that_an_edit_does_not_touch_are_the_same_bytes() -> None:
    text = '{"cells": [{"cell_type":"code", "source":[ "a = \\u00e9\\n",\n  "b = 1\\/2\\n",\n"c"]} ]}'
    edit = Edit(Span("f", 2, 1, 2, 2, 0), "bb")
    after = Document("f.ipynb", text.encode()).edited([edit]).data.decode()
    assert after == text.replace('"b = ', '"bb = ')
    line = Edit(Span("f", 1, 1, 1, 1, 0), "import é\n")
    after = Document("f.ipynb", text.encode()).edited([line]).data.decode()
    assert after == text.replace('[ "a', '[ "import \\u00e9\\n",\n  "a')


def test_what_an_encoding_lacks_is_refused() -> None:
    document = Document("f.py", b"# coding: latin-1\nx = 1\n")
    with pytest.raises(CannotChange, match="latin-1, has no '轴'"):
        document.edited([Edit(Span("f.py", 2, 1, 2, 1), "轴")])


def test_an_edit_of_another_text_is_refused() -> None:
    with pytest.raises(CannotChange, match="was left as it is"):
        Document("f.py", b"x\n").edited([Edit(Span("f.py", 7, 1, 7, 2), "y")])


def test_writing_keeps_the_mode_and_what_links_point_at(tmp_path: Path) -> None:
    path, link = tmp_path / "a.py", tmp_path / "link.py"
    path.write_bytes(b"x\n")
    path.chmod(0o754)
    link.symlink_to(path)
    write(Document(str(link), b"x\n"), Document(str(link), b"y\n"))
    assert link.is_symlink()
    assert path.read_bytes() == b"y\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert sorted(os.listdir(tmp_path)) == ["a.py", "link.py"]


def test_what_somebody_else_wrote_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"theirs\n")
    with pytest.raises(CannotChange, match="changed by somebody else"):
        write(Document(str(path), b"x\n"), Document(str(path), b"y\n"))
    assert path.read_bytes() == b"theirs\n"


def test_a_read_only_or_vanished_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"x\n")
    path.chmod(0o444)
    with pytest.raises(CannotChange, match=r"a\.py cannot be written: it is read-only"):
        write(Document(str(path), b"x\n"), Document(str(path), b"y\n"))
    assert path.read_bytes() == b"x\n"
    with pytest.raises(CannotChange, match="cannot be read: No such file"):
        read_document(str(tmp_path / "gone.py"))


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"x\n")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotChange, match="No space left"):
        write(Document(str(path), b"x\n"), Document(str(path), b"y\n"))
    assert path.read_bytes() == b"x\n"
    assert os.listdir(tmp_path) == ["a.py"]
