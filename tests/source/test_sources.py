"""Reading files: encodings, line ends, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardlint.source import read_source, source_from_cells, source_from_text
from shardlint.source import sources as sources_module


def written(tmp_path: Path, data: bytes, name: str = "a.py") -> str:
    path = tmp_path / name
    path.write_bytes(data)
    return str(path)


def test_text_keeps_its_line_ends(tmp_path: Path) -> None:
    source = read_source(written(tmp_path, b"x = 1\r\ny = 2\rz = 3\n"))
    assert [cell.text for cell in source.cells] == ["x = 1\r\ny = 2\rz = 3\n"]
    assert source.cells[0].index is None
    assert source.problems == ()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"), "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n‘’\n".encode("cp1252"), None),
    ],
)
def test_text_is_decoded_as_python_does(tmp_path: Path, data: bytes, text: str | None) -> None:
    (cell,) = read_source(written(tmp_path, data)).cells
    assert cell.text == (text if text is not None else data.decode("cp1252"))


@pytest.mark.parametrize(
    ("data", "kind", "line"),
    [
        (b"x = 1\ny = '\xff'\n", "unreadable", 2),
        (b"# coding: nonsense\nx = 1\n", "unreadable", 1),
        ("x = 1\n".encode("utf-16"), "unreadable", 1),
    ],
)
def test_what_is_no_text_is_a_problem(tmp_path: Path, data: bytes, kind: str, line: int) -> None:
    source = read_source(written(tmp_path, data))
    assert source.cells == ()
    (problem,) = source.problems
    assert (problem.kind, problem.place.resolve().line) == (kind, line)


def test_a_missing_path_and_a_folder_are_problems(tmp_path: Path) -> None:
    assert [p.kind for p in read_source(str(tmp_path / "no.py")).problems] == ["missing"]
    assert [p.kind for p in read_source(str(tmp_path)).problems] == ["unreadable"]


def test_a_huge_file_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources_module, "MAX_BYTES", 100)
    assert [p.kind for p in read_source(written(tmp_path, b"x = 1\n" * 17)).problems] == ["too-large"]
    assert read_source(written(tmp_path, b"x = 1\n" * 16)).problems == ()


def notebook(*cells: tuple[str, object]) -> bytes:
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": t, "source": s} for t, s in cells]}).encode()


def test_a_notebook_is_its_code_cells_with_their_index(tmp_path: Path) -> None:
    data = notebook(("markdown", "# Title"), ("code", ["x = 1\n", "y = 2"]), ("raw", "z"), ("code", "w = 3"))
    source = read_source(written(tmp_path, data, "a.ipynb"))
    assert [(cell.index, cell.text) for cell in source.cells] == [(1, "x = 1\ny = 2"), (3, "w = 3")]


def test_an_old_notebook_keeps_its_cells_in_worksheets(tmp_path: Path) -> None:
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}
    source = read_source(written(tmp_path, json.dumps(old).encode(), "a.ipynb"))
    assert [(cell.index, cell.text) for cell in source.cells] == [(0, "x = 1")]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{"cells": [\n', 2),
        (b"[]", 1),
        (b'{"cells": 3}', 1),
        (b"[" * 100_000, 1),
        (b"", 1),
    ],
)
def test_a_broken_notebook_is_a_problem(tmp_path: Path, data: bytes, line: int) -> None:
    source = read_source(written(tmp_path, data, "a.ipynb"))
    assert source.cells == ()
    assert [(p.kind, p.place.resolve().line) for p in source.problems] == [("broken-notebook", line)]


def test_cells_that_are_no_cells_are_passed_over(tmp_path: Path) -> None:
    data = json.dumps({"cells": [3, {"cell_type": "code"}, {"cell_type": "code", "source": 5}]}).encode()
    source = read_source(written(tmp_path, data, "a.ipynb"))
    assert [(cell.index, cell.text) for cell in source.cells] == [(1, "")]


def test_a_cell_that_is_too_deep_leaves_the_others() -> None:
    source = source_from_cells("n.ipynb", [(0, "x = 1\n"), (2, "y = " + "(" * 2000), (3, "z = x\n")])
    assert [(p.kind, p.place.resolve().cell) for p in source.problems] == [("too-deep", 2)]
    assert [cell.text for cell in source.cells] == ["x = 1\n", "from _unreadable_cell import *\n", "z = x\n"]
    assert source.cells[1].written.startswith("y = ((")


def test_a_file_that_is_too_deep_has_no_cells() -> None:
    source = source_from_text("a.py", "x = 1\ny = " + "(" * 2000)
    assert (source.cells, [p.place.resolve().line for p in source.problems]) == ((), [2])


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("# shardlint: devices=8\n", 8),
        ("x = 1  # shardlint: ignore, devices = 16\n", 16),
        ('x = "# shardlint: devices=8"\n', None),
        ("%env XLA_FLAGS=--xla_force_host_platform_device_count=4\n", 4),
        ("# nothing\n", None),
    ],
)
def test_a_file_may_state_the_number_of_devices(text: str, devices: int | None) -> None:
    assert source_from_cells("n.ipynb", [(0, "y = 1\n"), (1, text)]).devices == devices
