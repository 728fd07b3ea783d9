"""JUnit's XML, read back by a library that CI tools are made with."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Failure, JUnitXml, Skipped
from made_findings import made_up, of_all_rules

from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span
from shardlint.output.formats import junit

#: What the schema of Jenkins (junit-10) knows of the elements that are used: attributes, and what they hold.
KNOWN = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, {"testsuite"}),
    "testsuite": (
        {
            "name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id",
            "package", "file",
        },
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name", "assertions", "time", "classname", "status", "class", "file", "line"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": ({"message", "type"}, set()),
    "skipped": ({"message", "type"}, set()),
    "system-out": (set(), set()),
}  # fmt: skip


def read(findings: list[Finding]) -> JUnitXml:
    text = junit.render(findings)
    assert text.isascii()
    for element in ElementTree.fromstring(text).iter():
        attributes, inside = KNOWN[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= inside
    report = JUnitXml.fromstring(text.encode())
    assert (report.tests, report.failures, report.errors) == (
        sum(len(list(suite)) for suite in report),
        sum(isinstance(result, Failure) for suite in report for case in suite for result in case.result),
        0,
    )
    return report


def test_nothing_found_is_a_test_that_passes() -> None:
    report = read([])
    ((case,),) = report
    assert (report.tests, report.failures, case.is_passed) == (1, 0, True)


def test_findings_are_failures() -> None:
    suites = list(read(made_up()))
    assert [suite.name for suite in suites] == [
        "häuser & co/a b%20,c:d.py", "häuser & co/b.py", "c.py",
    ]  # fmt: skip
    plain, full, info = suites[0]
    (failure,) = plain.result
    assert failure.message == "100% is <not>\n& \ufffd]]> \ufffd, :"
    assert (plain.classname, plain.name) == (suites[0].name, "SHL202 indivisible-dimension 2:3")
    (failure,) = full.result
    assert failure.type == "warning"
    assert failure.text.splitlines()[1:] == ["häuser & co/b.py:1:1: made here", "help: a help"]
    assert info.is_passed
    assert "f32[8]" in info.system_out
    assert isinstance(next(iter(suites[1])).result[0], Skipped)


def test_every_rule() -> None:
    findings, _ = of_all_rules()
    report = read(list(findings))
    assert report.tests == len(findings)
    assert report.failures == sum(finding.severity is not Severity.INFO for finding in findings)


def test_a_cell_is_named() -> None:
    ((case,),) = read([Finding("SHL202", "x", Severity.ERROR, "m", Span("n.ipynb", 2, 3, 2, 4, 5))])
    assert case.name == "SHL202 x cell 5:2:3"


@given(st.text())
@pytest.mark.filterwarnings("error")
def test_any_text_can_be_written(text: str) -> None:
    message = f"<{text}>"
    ((case,),) = read([Finding("SHL202", "x", Severity.ERROR, message, Span(f"{text}a.py", 2, 3, 2, 4))])
    said = case.result[0].message
    assert said == re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", message)
