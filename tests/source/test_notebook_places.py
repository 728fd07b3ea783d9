"""A cell's span is found in the notebook's JSON: taking its text out there takes it out of the cell."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardlint.model.spans import Span
from shardlint.source.notebooks.cells import read_cells
from shardlint.source.notebooks.json_positions import NotebookPlaces

TEXT = st.text(st.sampled_from('ab"\\\t\n\r/é𝒳\x0c\u2028\U0001f600{}[],:'), min_size=1, max_size=20)


def place(text: str, at: int) -> tuple[int, int]:
    """The line and column of an offset in a cell, as Python counts lines."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(before), len(before[-1]) + 1


@given(
    st.lists(TEXT, min_size=1, max_size=3),
    st.data(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_taking_out_a_span(
    cells: list[str], data: st.DataObject, ascii_only: bool, split: bool, indent: int | None
) -> None:
    cells = [cell.replace("\r\n", "\n") for cell in cells]
    listed = [
        {"cell_type": "code", "metadata": {"source": cell}, "source": cell.split("\n") if split else cell}
        for cell in cells
    ]
    if split:
        for one in listed:
            lines = one["source"]
            assert isinstance(lines, list)
            one["source"] = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    document = json.dumps({"nbformat": 4, "cells": listed}, ensure_ascii=ascii_only, indent=indent)
    index = data.draw(st.integers(0, len(cells) - 1))
    text = cells[index]
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    span = Span("n.ipynb", *place(text, begin), *place(text, end), cell=index)
    found = NotebookPlaces(document.encode()).span(span)
    assert (found.path, found.cell) == ("n.ipynb", index)
    rows = document.split("\n")
    first, last = (
        sum(len(row) + 1 for row in rows[: line - 1]) + column - 1
        for line, column in ((found.line, found.column), (found.end_line, found.end_column))
    )
    after = read_cells((document[:first] + document[last:]).encode())
    assert after[index][1] == text[:begin] + text[end:]
    assert [cell for i, cell in after if i != index] == [cell for i, cell in enumerate(cells) if i != index]


@pytest.mark.parametrize(
    "data",
    [b"", b"[", b"[]", b"{}", b'{"cells": 3}', b"\xff", b'{"cells": [{"cell_type": "code"}]}', b"[" * 10**5,
     b'{"cells": [{"cell_type": "code", "source": [1, {}]}]}'],
)  # fmt: skip
def test_what_is_no_notebook_has_no_places(data: bytes) -> None:
    for cell in (0, 5):
        found = NotebookPlaces(data).span(Span("n.ipynb", 3, 4, 3, 9, cell))
        assert (found.line, found.column, found.end_line, found.end_column) == (1, 1, 1, 1)


def test_a_byte_order_mark_has_no_column() -> None:
    document = '\ufeff{"cells": [{"cell_type": "code", "source": "x"}]}'
    found = NotebookPlaces(document.encode()).span(Span("n.ipynb", 1, 1, 1, 2, 0))
    assert document[1:][found.column - 1 : found.end_column - 1] == "x"
