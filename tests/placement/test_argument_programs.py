"""What shardlint says of programs that place arrays and pass them on, beside what JAX does with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from argument_programs import PRELUDE, PROGRAMS

from shardlint.api import Linter, Settings, source_from_text
from shardlint.findings import Severity

_RUNNER = Path(__file__).parents[1] / "rules" / "run_examples.py"


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str] | None]:
    """What JAX raises in each program."""
    programs = {name: f"{PRELUDE}\n{name}\n" for name in PROGRAMS}
    run = subprocess.run(
        [sys.executable, str(_RUNNER)], input=json.dumps(programs), capture_output=True, text=True, check=True
    )
    found: dict[str, list[str] | None] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_verdict_is_jaxs(program: str, outcomes: dict[str, list[str] | None]) -> None:
    source = source_from_text("program.py", f"{PRELUDE}\n{program}\n")
    findings = Linter(Settings(devices=8)).check_source(source)
    errors = tuple(finding.code for finding in findings if finding.severity is Severity.ERROR)
    assert (outcomes[program] is not None) == bool(errors), (outcomes[program], errors)
    assert errors == PROGRAMS[program]
