"""Nodes that are written for others, as edits of the text."""

from __future__ import annotations

import libcst as cst
import pytest

from shardlint.fixes.rewrites.fix_request import in_place_of, literal
from shardlint.fixes.syntax.program_tree import CannotFix, Tree
from shardlint.fixes.text_edits import changed, changes


def rewritten(text: str, old: str, new: str) -> tuple[str, int]:
    """A text with another expression for those that are written so, and the characters that edits touch."""
    tree = Tree("f.py", None, text)
    found = [
        node for node in tree.nodes if tree.written(node) == old and isinstance(node, cst.BaseExpression)
    ]
    edits = tree.edits({node: in_place_of(new) for node in found})
    touched = sum(edit.span.end_column - edit.span.column + len(edit.text) for edit in edits)
    return changed(text, changes(text, edits)), touched


@pytest.mark.parametrize(
    ("text", "old", "new", "after", "touched"),
    [
        ("f(a,b)\n", "a", "c", "f(c,b)\n", 2),
        ("f((a), b)\n", "a", "c", "f((c), b)\n", 2),
        ("x\n\f\ny = f(a)\n", "f(a)", "f(a, b)", "x\n\f\ny = f(a, b)\n", 3),
        ("x\n\fy = f(a)\n", "f(a)", "f(a, b)", "x\n\fy = f(a, b)\n", 3),
        ("if x:\r\n\tf(a,\r\n\t\tb)\r\n", "a", "c", "if x:\r\n\tf(c,\r\n\t\tb)\r\n", 2),
        ("if x:\r\tf(a,\r\tb)\r", "b", "c", "if x:\r\tf(a,\r\tc)\r", 2),
        ('f("é", a)\n', "a", "b", 'f("é", b)\n', 2),
        ('f(["data", (1, 2)])\n', '["data", (1, 2)]', 'g(["data", (1, 2)])', 'f(g(["data", (1, 2)]))\n', 3),
    ],
)
def test_only_what_differs_is_an_edit(text: str, old: str, new: str, after: str, touched: int) -> None:
    assert rewritten(text, old, new) == (after, touched)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("x = a\n", "a", "a"),
        ('x = 1 if y else("a")\n', '("a")', "b"),
        ('x = 1 if y else"a"\n', '"a"', "None"),
        ('x = ""if y else 1\n', '""', "None"),
        ("x = (\n", "x", "y"),
    ],
)
def test_what_would_change_nothing_or_run_into_a_word_is_refused(text: str, old: str, new: str) -> None:
    with pytest.raises(CannotFix):
        rewritten(text, old, new)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('("a" "b")', "ab"),
        ("None", None),
        ("False", False),
        ("0x0", 0),
        ("None_", ...),
        ('f"a"', ...),
        ('f"a" "b"', ...),
        ("9" * 5000, ...),
        (r'"\N{no such letter}"', ...),
    ],
)
def test_a_literal_has_its_value(text: str, value: object) -> None:
    assert literal(cst.parse_expression(text)) == value
