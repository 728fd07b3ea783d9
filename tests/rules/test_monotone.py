"""Findings stay when a caller is added that tells nothing new."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from support.checking import check, places
from support.sizes import scale

from shardlint.rules import all_rules
from shardlint.rules.base import AnyRule

_FIXTURES = Path(__file__).parents[2] / "fixtures"
#: How many times as many random programs as usual.
_SCALE = scale("SHARDLINT_MONOTONE_SCALE", 1 / 3)
#: Ways to call ``{name}()`` at the end of a program, or to have somebody who may.
_CALLERS = (
    "{name}()\n",
    'if __name__ == "__main__":\n    {name}()\n',
    "def run():\n    {name}()\n\n\nrun()\n",
    "def run(function):\n    return function()\n\n\nrun({name})\n",
)

Found = set[tuple[str, int]]


def found(text: str, target: str | None = None) -> Found:
    return set(places(check(text, target=target)))


def in_function(text: str) -> str:
    """A program as the body of a function that nobody calls, a line further down."""
    lines = [f"    {line}" if line.strip() else "" for line in text.splitlines()]
    return "\n".join(["def main():", *lines, "    return None", "", ""])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_program_of_a_page_in_a_function_that_is_called(rule: AnyRule) -> None:
    text, target = rule.bad, rule.target
    whole = {(code, line + 1) for code, line in found(text, target)}
    uncalled = found(in_function(text), target)
    for caller in _CALLERS:
        called = found(in_function(text) + caller.format(name="main"), target)
        assert whole | uncalled <= called, caller


def _quiet_cases() -> list[tuple[Path, str]]:
    """The cases of fixtures that raise nothing: whoever calls one goes on."""
    cases = []
    for path in sorted(_FIXTURES.glob("*.py")):
        text = path.read_text()
        for node in ast.parse(text).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("case_"):
                continue
            if "# expect:" not in (ast.get_source_segment(text, node) or ""):
                cases.append((path, node.name))
    return cases


@pytest.mark.parametrize("seed", range(round(8 * _SCALE)))
def test_a_case_of_a_fixture_that_is_called(seed: int) -> None:
    draw = random.Random(seed)
    path, name = draw.choice(_quiet_cases())
    text, caller = path.read_text(), draw.choice(_CALLERS)
    assert found(text) <= found(f"{text}\n\n{caller.format(name=name)}")


_LOGICAL = """
import flax.linen as nn
import jax.numpy as jnp


def main():
    x = jnp.ones((8, 16))
    with nn.logical_axis_rules((("batch", "data"), ("mlp", "model"))):
        nn.with_logical_constraint(x, ("batch", "{name}"))
    nn.with_logical_constraint(x, ("batch", "batch"))
    {more}


"""


@pytest.mark.parametrize(
    "more",
    [
        "pass",
        "nn.with_logical_constraint(x, ('mpl', None), rules=(('mlp', 'model'),))",
        "nn.with_logical_constraint(x, ('mlp', 'batch'), (('mlp', 'model'),), "
        "fallback=nn.spmd.RulesFallback.NO_CONSTRAINT)",
    ],
)
@pytest.mark.parametrize("name", ["mpl", "data", "bacth"])
def test_logical_names_are_wrong_whether_or_not_there_is_a_mesh(name: str, more: str) -> None:
    text = _LOGICAL.format(name=name, more=more)
    exec(text + "main()", {})
    before = found(text)
    named = {"SHL505", "SHL508"}
    assert {code for code, _ in before if code in named} == named
    for caller in _CALLERS:
        after = found(text + caller.format(name="main"))
        assert {one for one in after if one[0] in named} == {one for one in before if one[0] in named}
