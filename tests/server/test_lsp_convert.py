"""Findings as protocol types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.model.findings import Finding, Related, Severity
from shardlint.model.spans import Span
from shardlint_server.documents.conversion import Text, split_lines, to_diagnostic, to_position, to_range

UTF16 = PositionCodec()
UTF8 = PositionCodec(types.PositionEncodingKind.Utf8)
LINES = ["s = '🧪é'; P('x')", "\tP('y')", ""]


@pytest.mark.parametrize(
    ("codec", "line", "column", "expected"),
    [
        (UTF16, 1, 1, (0, 0)),
        (UTF16, 1, 10, (0, 10)),
        (UTF8, 1, 10, (0, 13)),
        (UTF16, 2, 2, (1, 1)),
        (UTF16, 3, 1, (2, 0)),
        (UTF16, 1, 99, (0, len(LINES[0]) + 1)),
        (UTF16, 9, 1, (2, 0)),
    ],
)
def test_positions(codec: PositionCodec, line: int, column: int, expected: tuple[int, int]) -> None:
    position = to_position(line, column, LINES, codec)
    assert (position.line, position.character) == expected


@given(st.text(alphabet="aé🧪\t\x0c\u2028\n\r", max_size=30), st.data())
def test_a_range_cuts_out_the_text_of_its_span(text: str, data: st.DataObject) -> None:
    lines = split_lines(text)
    line = data.draw(st.integers(0, len(lines) - 1))
    start = data.draw(st.integers(0, len(lines[line])))
    end = data.draw(st.integers(start, len(lines[line])))
    found = to_range(Span("f.py", line + 1, start + 1, line + 1, end + 1), lines, UTF16)
    units = lines[found.start.line].encode("utf-16-le")
    cut = units[2 * found.start.character : 2 * found.end.character].decode("utf-16-le")
    assert cut == lines[line][start:end]


def test_lines_end_as_in_python() -> None:
    assert split_lines("a\x0cb\u2028c\r\nd\re\n") == ("a\x0cb\u2028c", "d", "e", "")


def finding(code: str = "SHL202", severity: Severity = Severity.ERROR, **more: object) -> Finding:
    return Finding(code, "a-name", severity, "a message", Span("f.py", 1, 5, 1, 8), **more)  # type: ignore[arg-type]


def locate(span: Span) -> Text:
    return Text(f"file:///{span.path}", LINES)


def test_a_diagnostic_of_all_that_a_finding_has() -> None:
    related = Related(Span("mesh.py", 2, 2, 2, 3), "the mesh")
    diagnostic = to_diagnostic(finding(help="do this", related=(related,)), locate, UTF16)
    assert diagnostic.message == "a message\nhelp: do this"
    assert diagnostic.code == "SHL202"
    assert diagnostic.source == "shardlint"
    assert diagnostic.range == types.Range(types.Position(0, 4), types.Position(0, 8))
    (information,) = diagnostic.related_information or ()
    assert information.message == "the mesh"
    assert information.location.uri == "file:///mesh.py"
    assert information.location.range == types.Range(types.Position(1, 1), types.Position(1, 2))


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        (Severity.ERROR, types.DiagnosticSeverity.Error),
        (Severity.WARNING, types.DiagnosticSeverity.Warning),
        (Severity.INFO, types.DiagnosticSeverity.Information),
    ],
)
def test_severities(severity: Severity, expected: types.DiagnosticSeverity) -> None:
    assert to_diagnostic(finding(severity=severity), locate, UTF16).severity == expected


def test_an_expected_finding_is_a_hint() -> None:
    assert to_diagnostic(finding(expected=True), locate, UTF16).severity == types.DiagnosticSeverity.Hint


def test_a_code_leads_to_the_page_of_its_rule_where_that_is_published() -> None:
    page = "https://docs.example.com/shardlint/rules/indivisible-dimension/"
    described = to_diagnostic(finding(), locate, UTF16, page).code_description
    assert described == types.CodeDescription(href=page)
    assert to_diagnostic(finding(), locate, UTF16).code_description is None


def test_deprecated_apis_are_tagged() -> None:
    assert to_diagnostic(finding("SHL801"), locate, UTF16).tags == [types.DiagnosticTag.Deprecated]
    assert to_diagnostic(finding("SHL202"), locate, UTF16).tags is None
