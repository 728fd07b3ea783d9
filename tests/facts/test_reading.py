# ruff: noqa: E501
"""Comments to shardlint as they are written: what is read of each, and what is said of those that cannot be."""

from __future__ import annotations

import pytest

from shardlint.source.comments.facts import BrokenFact, MeshFact, RevealRequest, ShapeFact, read_notes
from shardlint.source.comments.suppressions import device_count, suppressions

REVEAL = RevealRequest()


@pytest.mark.parametrize(
    ("comment", "items"),
    [
        ("mesh=v5e-256", [MeshFact("v5e-256")]),
        ("mesh = (data=2, model=4)", [MeshFact(None, (("data", 2), ("model", 4)))]),
        ("x: (batch, t, 4096)", [ShapeFact("x", ("batch", "t", "4096"))]),
        ("mesh=v5e-256, x: (8,), reveal", [MeshFact("v5e-256"), ShapeFact("x", ("8",)), REVEAL]),
        ("x: ()", [ShapeFact("x", ())]),
        ("x: f32[]", [ShapeFact("x", (), "float32")]),
        ("x: bf16(4*d, _)", [ShapeFact("x", ("4*d", "_"), "bfloat16")]),
        ("x: float8_e4m3fn[..., 8]", [ShapeFact("x", ("...", "8"), "float8_e4m3fn")]),
        ("self.w: (cfg.d_model, n//2 + 1)", [ShapeFact("self.w", ("cfg.d_model", "n//2 + 1"))]),
        ("reveal", [REVEAL]),
        ("devices=8", []),
        ("devices=8, reveal", [REVEAL]),
        ("ignore[SHL202] x: (", []),
        ("ignore-file", []),
    ],
)
def test_items(comment: str, items: list[object]) -> None:
    assert [note.item for note in read_notes(f"x = 1  # shardlint: {comment}\n")] == items


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("revael", "did you mean `reveal`"),
        ("ingore[SHL202]", "did you mean `ignore`"),
        ("x: (4, 5", "`x: (4, 5` is no fact"),
        ("x: (4;5)", "`4;5` is no size of `x`"),
        ("x: (-1, 4)", "`-1` is no size"),
        ("x: f33(4)", "did you mean `f32`"),
        ("mesh=(data=0)", "`data=0` is no mesh axis"),
        ("mesh=(data=2, data=2)", "given twice"),
        ("mesh=data=2", "is no mesh"),
        ("", "nothing is told"),
        ("what is this", "cannot read"),
    ],
)
def test_what_cannot_be_read_is_said(comment: str, words: str) -> None:
    (note,) = read_notes(f"x = 1  # shardlint: {comment}\n")
    assert isinstance(note.item, BrokenFact)
    assert words in note.item.message


def test_where_they_stand_and_what_they_speak_of() -> None:
    text = "# shardlint: x: (8,)\n\n# words\n  # shardlint: reveal\nx = f()  # shardlint: y: (4,), reveal\n"
    found = [(n.code_line, n.line, n.column, n.end_column) for n in read_notes(text)]
    assert found == [(5, 1, 14, 21), (5, 4, 16, 22), (5, 5, 23, 30), (5, 5, 32, 38)]


def test_no_comment_is_none() -> None:
    assert read_notes('x = "# shardlint: reveal"\n# shardlinter: reveal\n') == ()


def test_beside_suppressions_and_devices() -> None:
    text = "# shardlint: devices=4, x: (8,)\n# shardlint: ignore[SHL202]\nx = f()  # shardlint: reveal\n"
    assert [type(n.item) for n in read_notes(text)] == [ShapeFact, RevealRequest]
    assert device_count(text) == 4
    assert [(s.first, s.codes) for s in suppressions(text)] == [(3, ("SHL202",))]
