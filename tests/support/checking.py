"""Findings and uses in the text of one program, on 8 devices unless settings say otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shardlint.api import Linter, Settings, source_from_text
from shardlint.inference import InferenceSettings, Noticed, analyze
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.versions import parse_target
from shardlint.model.findings import Finding, Severity
from shardlint.model.uses import Use


def check(text: str, path: str = "program.py", target: str | None = None, **settings: Any) -> list[Finding]:
    """Return what is found in a program, for a target."""
    if target is not None:
        settings["target_jax"] = parse_target(target)
    return Linter(Settings(**{"devices": 8, **settings})).check_source(source_from_text(path, text))


def errors(text: str, path: str = "program.py", target: str | None = None, **settings: Any) -> list[Finding]:
    """Return the errors among what is found in a program."""
    found = check(text, path, target, **settings)
    return [finding for finding in found if finding.severity is Severity.ERROR]


def codes(findings: Iterable[Finding]) -> list[str]:
    """Return the code of each finding."""
    return [finding.code for finding in findings]


def severities(findings: Iterable[Finding]) -> list[str]:
    """Return the severity of each finding: ``error``, ``warning`` or ``info``."""
    return [str(finding.severity) for finding in findings]


def places(findings: Iterable[Finding], head: str = "") -> list[tuple[str, int]]:
    """Return the code of each finding and its line, counted below the lines of a head."""
    return [(finding.code, finding.span.line - head.count("\n")) for finding in findings]


def uses(text: str, noticed: Noticed | None = None, **settings: Any) -> list[Use]:
    """Return the uses that inference records in a program, which must be Python."""
    inference = InferenceSettings(**{"devices": 8, **settings})
    found = analyze([source_from_text("program.py", text)], inference, noticed)
    recorded = [use for use in found if isinstance(use, Use)]
    assert len(recorded) == len(found), found
    return recorded


def rejected(text: str, **settings: Any) -> list[Use]:
    """Return the uses of a program that JAX rejects."""
    return [use for use in uses(text, **settings) if isinstance(use.verdict, Rejected)]
