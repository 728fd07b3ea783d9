"""What shardlint says of programs that place arrays and pass them on, beside what JAX does with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from argument_programs import PRELUDE, PROGRAMS

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Severity


@pytest.fixture(scope="module")
def outcomes(ask_jax: Callable[[Mapping[str, str]], dict[str, Any]]) -> dict[str, Any]:
    """What JAX raises in each program."""
    return ask_jax({name: f"{PRELUDE}\n{name}\n" for name in PROGRAMS})


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_verdict_is_jaxs(program: str, outcomes: dict[str, Any]) -> None:
    source = source_from_text("program.py", f"{PRELUDE}\n{program}\n")
    findings = Linter(Settings(devices=8)).check_source(source)
    errors = tuple(finding.code for finding in findings if finding.severity is Severity.ERROR)
    assert (outcomes[program] is not None) == bool(errors), (outcomes[program], errors)
    assert errors == PROGRAMS[program]
