"""JAX itself on the ends of programs: the arithmetic by which the suite decides what it rejects is right."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from cpython_oracle import HEADER, ended
from feature_programs import random_program
from support.sizes import size

PROGRAMS = size("SHARDLINT_ORACLE_PROGRAMS", 25, 50)


def line_where_jax_raises(text: str) -> int | None:
    """Run a program with the real JAX; return the line at which it raises, None if it does not."""
    space: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(text, "program.py", "exec", dont_inherit=True), space)
        except Exception as error:
            trace = error.__traceback__
            lines = []
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == "program.py":
                    lines.append(trace.tb_lineno)
                trace = trace.tb_next
            return lines[-1]
    return None


@pytest.mark.parametrize("part", range(2))
def test_jax_rejects_the_last_end_or_none(part: int) -> None:
    rejections = 0
    for number in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        program = random_program(f"jax {number}")
        if any(name.startswith("unknown_") or name == "numpy_random_unknown" for name in program.features):
            continue
        whole = ended(program.text)
        if whole is not None:
            expected = next((end.line for end in whole.ends if not end.accepted), None)
            rejections += expected is not None
            assert line_where_jax_raises(whole.text) == expected, whole.text
    assert rejections > PROGRAMS / 8


@pytest.mark.parametrize("way", ["size", "rank", "index", "member", "equal", "branch"])
@pytest.mark.parametrize("value", ["7", "0", "-3", "44", '"ab"', "[1, 2]", "True", '{"k": 1}', "(1,)"])
def test_each_kind_of_end(way: str, value: str) -> None:
    for number in (1, 2):  # the one is rejected if it is the last, the other accepted
        whole = ended(f"x = {value}\n_probe({number}, {way!r}, x)\n")
        assert whole is not None
        (end,) = whole.ends
        assert end.accepted == (number == 2)
        assert line_where_jax_raises(whole.text) == (None if end.accepted else end.line), whole.text


def test_an_end_that_is_not_reached_would_be_rejected() -> None:
    whole = ended("if False:\n    _probe(1, 'size', 3)\n")
    assert whole is not None
    assert whole.ends[0].accepted
    assert line_where_jax_raises(whole.text) is None
    assert line_where_jax_raises(whole.text.replace("if False", "if True")) == len(HEADER.splitlines()) + 2
