"""Programs as users write them: the findings expected, and JAX itself on eight fake devices."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

import pytest
from programs import ERRORS, SETUP, SILENT
from support.jax_answers import answers

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.model.findings import Finding, Severity

RUN = """
import json, sys
for name, text in json.load(sys.stdin):
    try:
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
        print(json.dumps([name, None]))
    except Exception as error:
        print(json.dumps([name, type(error).__name__]))
"""


def check(program: str) -> list[Finding]:
    """Return the errors found in a program."""
    source = source_from_text("program.py", "# shardlint: devices=8\n" + SETUP + program + "\n")
    return [f for f in Linter(Settings()).check_source(source) if f.severity is Severity.ERROR]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str | None]:
    """What each program raises in JAX, None for those that run."""
    programs = {name: f"{SETUP}{text}\n" for name, text, _ in ERRORS}
    programs |= {name: f"{SETUP}{text}\n" for name, text in SILENT}
    return answers(programs, ask, RUN)


def ask(programs: Mapping[str, str]) -> dict[str, str | None]:
    # The last one: what it sets stays.
    ordered = sorted(programs.items(), key=lambda program: "for good" in program[0])
    result = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(ordered),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    # JAX may print as well.
    return dict(json.loads(line) for line in result.stdout.splitlines() if line.startswith("["))


@pytest.mark.parametrize(("name", "program", "codes"), ERRORS, ids=[name for name, *_ in ERRORS])
def test_mistakes_are_found_and_raise(
    name: str, program: str, codes: set[str], outcomes: dict[str, str | None]
) -> None:
    assert {finding.code for finding in check(program)} == codes
    assert outcomes[name] is not None


@pytest.mark.parametrize(("name", "program"), SILENT, ids=[name for name, _ in SILENT])
def test_nothing_is_said_of_programs_that_run(
    name: str, program: str, outcomes: dict[str, str | None]
) -> None:
    assert check(program) == []
    assert outcomes[name] is None
