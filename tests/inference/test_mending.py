"""A function that somebody types in costs what it says, and nothing around it."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from support.checking import codes, errors, places

from shardlint.inference.syntax.error_recovery import mended
from shardlint.inference.syntax.file_parts import functions_of, split

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*.py"))

MODEL = """\
import functools
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))


class Model:
    def __init__(self, width):
        self.width = width

    @property
    def spec(self):
        return P("data", "model")

    # What is typed in.
    def typed(
        self,
        x,
    ):
        x = x + 1

        return self.place(x)

    def place(self, x):
        return jax.device_put(x, NamedSharding(mesh, self.spec))

    def check(self):
        return jax.device_put(jnp.ones((8, 6, 3)), NamedSharding(mesh, P("data", "model", None, None)))


def first(x):
    return x


def last():
    model = Model(11)
    model.typed(jnp.ones((8, 6)))
    jax.device_put(jnp.ones((8, 6)), NamedSharding(mesh, P("tensor")))
    jax.device_put(jnp.ones((8, model.width)), NamedSharding(mesh, P("data", "model")))


last()
"""
#: What stands in place of `x = x + 1`. Each is no Python.
TYPED = {
    "an open call": "        x = self.place(",
    "an open bracket": "        spec = P('data', [",
    "a dot": "        self.",
    "an open string": "        name = 'da",
    "an open docstring": '        """Wha',
    "a header": "        if x.ndim == 2:",
    "a keyword": "        for",
    "less indented": "      x = 3",
    "a nested function": "        def inner(y):\n            return y +",
    "a closed bracket": "        x = 3)",
    "two mistakes": "        x = (\n        y = ]",
}


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
def test_what_stands_around_is_checked(typed: str) -> None:
    text = MODEL.replace("        x = x + 1", typed)
    with pytest.raises(SyntaxError):
        ast.parse(text)
    shift = typed.count("\n")
    (said,) = split("model.py", None, text).errors
    assert 18 <= said.line <= 26 + shift
    # The width is gone: `typed`, of which nobody knows what it does, has had the model.
    expected = [("SHL001", said.line), ("SHL201", 30 + shift), ("SHL103", 40 + shift)]
    assert sorted(places(errors(text))) == sorted(expected)
    assert places(errors(MODEL)) == [("SHL201", 30), ("SHL103", 40), ("SHL202", 41)]


def test_a_body_that_is_not_there_yet() -> None:
    text = MODEL.replace("def first(x):\n    return x\n", "def first(x):\n")
    assert sorted(codes(errors(text))) == ["SHL001", *sorted(codes(errors(MODEL)))]


@pytest.mark.parametrize(
    "text",
    ["x = (\ndef f():\n    return 1\n", "class A:\n    x = = 3\n", "if x:\n    def f():\n        return (\n"],
)
def test_what_is_broken_elsewhere_is_not_mended(text: str) -> None:
    parsed = split("model.py", None, text)
    assert parsed.errors and not parsed.complete


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_the_other_functions_are_as_they_were(file: Path) -> None:
    """A line that is cut off anywhere in a function leaves the texts and places of all others."""
    text, chance = file.read_text(encoding="utf-8"), random.Random(file.stem)
    before = {one.name: one for one in functions_of(split(str(file), None, text).parts)}
    kept = tried = 0
    for _ in range(12):
        one = chance.choice(list(before.values()))
        lines = text.splitlines(keepends=True)
        first, count = one.whole.first_line, one.whole.text.count("\n")
        body = one.header.text.count("\n") - 1
        at = first - 1 + chance.randrange(body, max(count, body + 1))
        lines[at] = lines[at][: chance.randrange(len(lines[at]))] + chance.choice("([{'.") + "\n"
        try:
            ast.parse("".join(lines))
        except SyntaxError as error:
            tried += 1
            if mended(lines, error) is None:
                continue
        else:
            continue
        kept += 1
        after = {other.name: other for other in functions_of(split(str(file), None, "".join(lines)).parts)}
        assert after.keys() == before.keys()
        for name in after.keys() - {one.name}:
            assert after[name].whole.text == before[name].whole.text
            assert after[name].whole.first_line == before[name].whole.first_line
    assert kept * 2 >= tried
