"""Magics become blanks: what is left is Python, on the same lines and columns."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardlint.api import Linter, Settings
from shardlint.source.lexing import split_lines
from shardlint.source.notebooks.cells import blank_magics, is_indented
from shardlint.source.sources import source_from_cells

PYTHON = "x = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "%matplotlib inline\n",
        "!pip install jax\n",
        "!!ls\n",
        "?jax.jit\n",
        "jax.jit?\n",
        "jax.jit??\n",
        "%%bash\nls | grep 'it\n",
        "%%cython\ncdef int x\n",
        "\n%%html\n<b>it's</b>\n",
        "!echo it's (\n",
        "!pip install \\\n  jax\n",
        "%timeit -n 3 f(x)",
        "timeit -n 5 -r 5 pmap(jnp.dot)(mats, mats)\n",
        "pip install jax[cpu]==0.4.35",
        "cd ~/project\n",
    ],
)
def test_what_is_only_ipython_is_blank(text: str) -> None:
    blanked = blank_magics(text)
    assert not blanked.strip()
    assert [len(line) for line in split_lines(blanked)] == [len(line) for line in split_lines(text)]


@pytest.mark.parametrize("text", ["x = 1\npip install jax\n", "other install jax\n", "time.time x\n"])
def test_only_a_magic_alone_in_its_cell_needs_no_sign(text: str) -> None:
    assert blank_magics(text) == text


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("%%time\nx = 1\n", "      \nx = 1\n"),
        ("%%timeit -n 1\n%env A=1\nx = 1\n", "             \n        \nx = 1\n"),
        ("%%capture out\r\nx = 1\r\n", "             \r\nx = 1\r\n"),
        ("files = !ls -l\ny = 2\n", "files = __    \ny = 2\n"),
        ("t = %timeit -o f()\n", "t = __            \n"),
        ("a, b = !ls\n", "a, b = __ \n"),
        ("if x:\n    !ls\n", "if x:\n    0  \n"),
        ("!echo it's (\nx = 1\n", "            \nx = 1\n"),
        ("x = (1\n%2)\n", "x = (1\n%2)\n"),
        ("x = 5 \\\n% 2\n", "x = 5 \\\n% 2\n"),
        ('s = """\n%time\n!ls\n"""\n', 's = """\n%time\n!ls\n"""\n'),
        ("s = 'a = !b'\n", "s = 'a = !b'\n"),
        ("'a = !b'\n", "'a = !b'\n"),
        ("x = 5 % 2 != 1\n", "x = 5 % 2 != 1\n"),
        ("x %= 2\n", "x %= 2\n"),
        ("time = 3\n", "time = 3\n"),
        ("run (x)\n", "run (x)\n"),
        ("time -x\n", "time -x\n"),
        ("pip\n", "pip\n"),
        ("# why?\nx = 1  # really?\n", "# why?\nx = 1  # really?\n"),
        ("f(a=3)  # b = !ls\n", "f(a=3)  # b = !ls\n"),
    ],
)
def test_what_is_python_stays_in_its_place(text: str, python: str) -> None:
    assert blank_magics(text) == python
    ast.parse(python)


LINES = [
    "%time",
    "!ls 'a",
    "x = 1",
    "y = !ls",
    "f(",
    ")",
    '"""',
    "'''",
    "z?",
    "if x:",
    "    %a",
    "# c",
    "%%t",
    "\\",
    "",
]


@given(st.lists(st.sampled_from(LINES), max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
def test_lines_and_columns_never_move(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    blanked = blank_magics(text)
    assert [len(line) for line in split_lines(blanked)] == [len(line) for line in split_lines(text)]


@given(
    st.lists(
        st.sampled_from(["x = 1", "f(1)", "s = 'a % b'", "if x: y", "# c?", "a = b % c", ""]), max_size=10
    )
)
def test_python_is_left_alone(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert blank_magics(text) == text


INDENTED = " total = 0\n for x in range(3):\n  total += x\nprint(total)\n"


@pytest.mark.parametrize("text", [INDENTED, "\n \n" + INDENTED, INDENTED.replace("\n", "\r\n")])
def test_a_cell_that_ipython_dedents_is_no_syntax_error(text: str) -> None:
    source = source_from_cells("notebook.ipynb", [(0, "x = 1"), (1, text)])
    assert Linter(Settings()).check_source(source) == []


@pytest.mark.parametrize(
    "text", ["x = 1\n", "\n\n# note\nx = 1", "  # note\nx = 1", "%time\nx", "", "\n" * 99]
)
def test_other_cells_are_followed(text: str) -> None:
    assert not is_indented(text)
