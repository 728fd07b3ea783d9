"""The ``junit`` format: a test suite for each file, a failed test for each finding.

It uses only the elements and attributes that all CI services know: those of Jenkins's schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from xml.etree import ElementTree as xml

from shardlint.model.findings import Finding, Severity
from shardlint.output.formats.concise import place_text, position_text
from shardlint.support.media import plain, xml_document
from shardlint.support.media import xml as xml_text


def render(findings: Iterable[Finding]) -> str:
    """Return the report; the findings of a file must be adjacent. Without findings, one test passes."""
    suites = [_suite(path, list(ours)) for path, ours in groupby(findings, lambda f: f.span.path)]
    if not suites:
        suites = [_element("testsuite", name="shardlint")]
        suites[0].append(_element("testcase", name="no findings", classname="shardlint", time="0"))
    root = _element("testsuites", name="shardlint")
    root.extend(suites)
    for suite in suites:
        _count(suite, suite.iterfind("testcase"))
    _count(root, root.iter("testcase"))
    root.attrib.pop("skipped")  # the schema has this attribute for suites only
    xml.indent(root)
    written = xml_document(xml.tostring(root).decode("ascii"))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'


def _suite(path: str, findings: list[Finding]) -> xml.Element:
    suite = _element("testsuite", name=path)
    for finding in findings:
        name = f"{finding.code} {finding.name} {position_text(finding.span)}"
        case = _element("testcase", name=name, classname=path, time="0")
        case.append(_outcome(finding))
        suite.append(case)
    return suite


def _outcome(finding: Finding) -> xml.Element:
    parts = [
        f"{place_text(finding.span)}: {finding.severity}[{finding.code}] {plain(finding.message)}",
        *(f"{place_text(related.span)}: {plain(related.message)}" for related in finding.related),
        *([f"help: {plain(finding.help)}"] if finding.help else []),
    ]
    if finding.expected:
        outcome = _element("skipped", message=f"expected: {finding.message}")
    elif finding.severity is Severity.INFO:
        outcome = _element("system-out")
    else:
        outcome = _element("failure", message=finding.message, type=finding.severity.value)
    outcome.text = xml_text("\n".join(parts))
    return outcome


def _element(tag: str, **attributes: str) -> xml.Element:
    return xml.Element(tag, {key: xml_text(value) for key, value in attributes.items()})


def _count(element: xml.Element, cases: Iterable[xml.Element]) -> None:
    cases = list(cases)
    failed, skipped = (sum(case.find(tag) is not None for case in cases) for tag in ("failure", "skipped"))
    counts = {"tests": len(cases), "failures": failed, "errors": 0, "skipped": skipped, "time": 0}
    element.attrib |= {key: str(count) for key, count in counts.items()}
