"""Defaults that are read without libcst: None, True and False, as Python itself gives them."""

from __future__ import annotations

import inspect
import random

import pytest

from shardlint.inference.syntax.file_parts import FunctionPart, split

READ, EVALUATED = ("None", "True", "False"), ("1", "0", "1.0", "'x'", "()", "...", "-1")


def signature(chance: random.Random) -> str:
    """A signature with parameters of all kinds, of which any may have a default that another one allows."""
    values = READ if chance.random() < 0.6 else (*READ, *EVALUATED)
    positional = [f"p{n}" for n in range(chance.randrange(5))]
    first = chance.randrange(len(positional) + 1)
    written = [p if n < first else f"{p}={chance.choice(values)}" for n, p in enumerate(positional)]
    if written and chance.random() < 0.4:
        written.insert(chance.randrange(1, len(written) + 1), "/")
    keywords = [f"k{n}" for n in range(chance.randrange(4))]
    written += ["*"] * bool(keywords)
    written += [k if chance.random() < 0.4 else f"{k}={chance.choice(values)}" for k in keywords]
    return ", ".join(written)


@pytest.mark.parametrize("seed", range(200))
def test_defaults_are_those_of_python(seed: int) -> None:
    text = f"def f({signature(random.Random(seed))}):\n    pass\n"
    made: dict[str, object] = {}
    exec(text, made)
    parameters = inspect.signature(made["f"]).parameters.values()  # type: ignore[arg-type]
    expected = {p.name: p.default for p in parameters if p.default is not p.empty}
    [part] = split("program.py", None, text).parts
    assert isinstance(part, FunctionPart)
    assert part.plain == all(value is None or isinstance(value, bool) for value in expected.values())
    assert not part.plain or dict(part.defaults) == expected


def test_a_function_with_a_decorator_is_evaluated() -> None:
    [part] = split("program.py", None, "@wrap\ndef f(a=None):\n    pass\n").parts
    assert isinstance(part, FunctionPart) and not part.plain
