"""Which mesh is set, and what may not be set, in random programs: as JAX says."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import jax
import pytest
from context_programs import SETUP, program
from probing import SCALE, Tally, evaluate
from test_mesh_expressions import agree

from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Rejected

CASES = 120


def run(text: str) -> tuple[dict[int, Any], Exception | None, int]:
    """What Python finds at the probes, and what it raises on which line of the program."""
    probes: dict[int, Any] = {}
    raised, line = None, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(SETUP + text, "<program>", "exec"), {"probe": probes.__setitem__})
        except Exception as error:
            raised = error
            frames = traceback.extract_tb(error.__traceback__)
            line = [frame.lineno or 0 for frame in frames if frame.filename == "<program>"][-1]
        finally:
            jax.set_mesh(None)
    return probes, raised, line


def test_programs_agree_with_jax() -> None:
    raised = found = accepted = 0
    tally = Tally()
    for number in range(round(CASES * SCALE)):
        text = program(f"contexts {number}")
        probes, error, line = run(text)
        told = evaluate(SETUP + text)
        rejected = [
            (use.place.resolve().line, use.verdict) for use in told.uses if isinstance(use.verdict, Rejected)
        ]
        if error is None:
            accepted += 1
            assert not rejected, (text, rejected)
        else:
            raised += 1
            found += bool(rejected)
            if rejected:
                classes = {cls.__name__ for cls in type(error).__mro__}
                assert rejected[0][0] == line, (text, error, line, rejected)
                assert rejected[0][1].exception in classes, (text, error, rejected)
        for i, real in probes.items():
            try:
                agree(told.probes.get(i, Unknown("not reached")), real, tally)
            except AssertionError as difference:
                raise AssertionError((text, i, real, told.probes.get(i))) from difference
    assert raised >= CASES * SCALE // 5 and accepted >= CASES * SCALE // 5, (raised, accepted)
    assert found >= 0.9 * raised, (found, raised)
    assert tally.leaves - tally.unknown >= 0.8 * tally.leaves, tally


@pytest.mark.parametrize("manager", ["jax.set_mesh(auto)", "use_abstract_mesh(ab)"])
def test_what_sets_a_mesh_is_no_decorator(manager: str) -> None:
    text = f"@{manager}\ndef f(x):\n    return x\n"
    _, error, line = run(text)
    told = [use for use in evaluate(SETUP + text).uses if isinstance(use.verdict, Rejected)]
    assert type(error).__name__ == "TypeError"
    assert [use.verdict.exception for use in told if isinstance(use.verdict, Rejected)] == ["TypeError"]
    assert [use.place.resolve().line for use in told] == [line]
