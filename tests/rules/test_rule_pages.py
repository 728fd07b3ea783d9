"""Each rule's page holds a broken and a repaired program: both do in JAX what the page says."""

from __future__ import annotations

import re
from typing import Any

import jax
import pytest
from support.jax_answers import jax_raises

import jax_says
from shardlint.api import Linter, Settings, source_from_text
from shardlint.laws.versions import parse_target
from shardlint.model.findings import Severity
from shardlint.rules import AnyRule, all_rules

RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[str, dict[str, Any] | None]:
    """What JAX raised in each program of the rules that are tested, by code and kind."""
    collected = (getattr(item, "callspec", None) for item in request.session.items)
    rules = {
        spec.params["rule"].code: spec.params["rule"] for spec in collected if spec and "rule" in spec.params
    }
    programs = {
        f"{code} {kind}": getattr(rule, kind) for code, rule in rules.items() for kind in ("bad", "good")
    }
    return jax_raises(programs)


@RULES
def test_the_broken_program_does_in_jax_what_the_page_says(rule: AnyRule, outcomes: dict) -> None:
    raised = outcomes[f"{rule.code} bad"]
    assert (raised and raised["classes"][0]) == rule.raises


@RULES
def test_the_site_shows_what_this_jax_says(rule: AnyRule, outcomes: dict) -> None:
    """The class, and the message where it is the release that the table ends with."""
    raised = outcomes[f"{rule.code} bad"]
    command = f"python -m tests.versions.measure {jax.__version__} --sections pages"
    if rule.code not in jax_says.table().get(jax.__version__, {}):
        pytest.skip(f"not measured: {command}")
    shown = jax_says.table()[jax.__version__][rule.code]
    assert (raised and {"raises": raised["classes"][0], "message": raised["message"]}) == shown, command


@pytest.mark.parametrize("release", jax_says.table())
def test_what_a_release_accepts_is_no_error_for_it(release: str) -> None:
    linter = Linter(Settings(devices=8, target_jax=parse_target(release), preview=True))
    for rule in all_rules():
        if jax_says.table()[release].get(rule.code, rule) is None:
            found = linter.check_source(source_from_text("program.py", rule.bad))
            errors = [finding for finding in found if finding.severity is Severity.ERROR]
            # Measuring puts a stand-in where an old release lacks `jax.shard_map`.
            assert all(finding.code == "SHL803" for finding in errors), rule.code


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
