"""Whatever program Hypothesis makes: no crash, and one answer. ``SHARDLINT_FUZZED=5000`` makes more."""

from __future__ import annotations

import ast
import os
from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from made_programs import PROGRAMS
from support.sizes import size

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Finding

COUNT = size("SHARDLINT_FUZZED", 20, 60)
SETTINGS = replace(Settings(), devices=8)
_FUZZED = settings(
    max_examples=COUNT,
    deadline=None,
    derandomize="SHARDLINT_FUZZED" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def findings(text: str, exhaustive: bool = False) -> list[Finding]:
    linter = Linter(replace(SETTINGS, exhaustive=exhaustive))
    return linter.check_source(source_from_text("made.py", text))


@_FUZZED
@given(PROGRAMS)
def test_programs_are_checked(text: str) -> None:
    try:
        ast.parse(text)
    except SyntaxError:
        # A name that is assigned and walked over, or declared twice: Python refuses some of what is made.
        return
    found = findings(text)
    assert "SHL009" not in {one.code for one in found}
    assert findings(text) == found
    assert findings(text, exhaustive=True) == found


def test_what_is_made_matters() -> None:
    """Most of the programs parse, and some have mistakes: else this suite would find nothing."""
    met: Counter[str] = Counter()

    @settings(_FUZZED, max_examples=60, derandomize=True)
    @given(PROGRAMS)
    def look(text: str) -> None:
        codes = {one.code for one in findings(text)}
        met["parses"] += "SHL001" not in codes
        met["has findings"] += bool(codes - {"SHL001"})
        met["made"] += 1

    look()
    assert met["parses"] > 0.6 * met["made"]
    assert met["has findings"] >= 3
