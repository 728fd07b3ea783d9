"""Each rule's page holds a broken and a repaired program: both do in JAX what the page says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shardlint.rules import AnyRule, all_rules

RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str] | None]:
    """What JAX raised in each program, by code and kind."""
    programs = {
        f"{rule.code} {kind}": getattr(rule, kind) for rule in all_rules() for kind in ("bad", "good")
    }
    answer = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_examples.py"))],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout.splitlines()[-1])


@RULES
def test_the_broken_program_does_in_jax_what_the_page_says(rule: AnyRule, outcomes: dict) -> None:
    raised = outcomes[f"{rule.code} bad"]
    assert (raised and raised[0]) == rule.raises


@RULES
def test_the_repaired_program_runs(rule: AnyRule, outcomes: dict) -> None:
    assert outcomes[f"{rule.code} good"] is None


@RULES
def test_the_page_has_its_sections_in_order(rule: AnyRule) -> None:
    headings = re.findall(r"^## (.+)$", rule.docs, re.MULTILINE)
    assert headings == [
        "What it does",
        "Why is this bad?",
        "Example",
        "Use instead",
        "What JAX says",
        "References",
    ]
    assert rule.docs.startswith(f"# {rule.name} ({rule.code})\n")


@RULES
def test_the_page_names_the_exception_that_its_example_raises(rule: AnyRule) -> None:
    if rule.raises:
        assert f"`{rule.raises}`" in rule.docs.partition("## What JAX says")[2]
