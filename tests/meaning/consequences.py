"""What programs do that JAX takes: they are run, on 8 devices, and their values kept."""

from __future__ import annotations

import os

from support.checking import check
from support.jax_answers import asks_jax

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

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


def of_pages(code: str, expression: str) -> Any:
    """Run the programs of a rule's page, and return what an expression of their variables is.

    ``bad`` holds those of the program with the mistake, ``good`` those of the other.
    """
    (rule,) = (rule for rule in all_rules() if rule.code == code)
    return _of_both(rule.bad, rule.good, expression)


@asks_jax("meaning")
def _of_both(bad: str, good: str, expression: str) -> Any:
    ran = {"bad": SimpleNamespace(**run(bad)), "good": SimpleNamespace(**run(good))}
    return eval(expression, {"np": np, **ran})
