"""Each rule's broken program has the finding of its rule; the repaired one has no error."""

from __future__ import annotations

import pytest
from support.checking import check

from shardlint.model.findings import Severity
from shardlint.rules import AnyRule, all_rules

RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)


@RULES
def test_the_broken_program_has_the_finding_of_its_rule(rule: AnyRule) -> None:
    found = {finding.code: finding for finding in check(rule.bad, target=rule.target or None, preview=True)}
    assert rule.code in found
    told = {Severity.ERROR} if rule.raises else {Severity.WARNING, Severity.INFO}
    assert found[rule.code].severity in told
    assert [code for code, finding in found.items() if finding.severity is Severity.ERROR] == (
        [rule.code] if rule.raises else []
    )


@RULES
def test_the_repaired_program_has_no_error_and_not_that_finding(rule: AnyRule) -> None:
    found = check(rule.good, target=rule.target or None, preview=True)
    assert [f for f in found if f.severity is Severity.ERROR or f.code == rule.code] == []
