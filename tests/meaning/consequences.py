"""What programs do that JAX takes: they are run, on 8 devices, and their values kept."""

from __future__ import annotations

import os

from support.checking import check
from support.jax_answers import asks_jax

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

from typing import Any

import jax

from shardlint.model.findings import Finding
from shardlint.rules import all_rules


def run(program: str) -> dict[str, Any]:
    """Run a program of these tests and return its variables."""
    assert jax.device_count() == 8
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, "program.py", "exec"), scope)
    return scope


@asks_jax("meaning")
def value(program: str, expression: str = "None") -> Any:
    """Run a program, and return what an expression of its variables is then, of which there is a literal."""
    return eval(expression, run(program))


def found(program: str, code: str) -> list[Finding]:
    """Return the findings of a rule in a program."""
    findings = check(program, preview=True)
    return [finding for finding in findings if finding.code == code]


def pages(code: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the variables of the two programs of a rule's page: with the mistake, and without it."""
    (rule,) = (rule for rule in all_rules() if rule.code == code)
    return run(rule.bad), run(rule.good)
