"""The formats: excerpts with carets under the exact span, one-liners, JSON, the summary."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from shardlint.config import Settings, known_rules
from shardlint.model.findings import Applicability, Confirmation, Edit, Finding, Fix, Related, Severity
from shardlint.model.spans import Span
from shardlint.output.formats import concise, full
from shardlint.output.formats import json as as_json
from shardlint.output.rule_links import address, description
from shardlint.output.terminal_styles import COLOURED, Styles, styles_for

TEXT = ["import jax", "mesh = make()", 'spec = P(None, "model")', "x = f(", "    spec,", ")"]


def finding(span: Span | None = None, **changes: object) -> Finding:
    given: dict[str, object] = {
        "code": "SHL202",
        "name": "indivisible-dimension",
        "severity": Severity.ERROR,
        "message": "10 is not divided by 4",
        "span": span or Span("a.py", 3, 16, 3, 23),
    }
    return Finding(**{**given, **changes})  # type: ignore[arg-type]


def shown(*findings: Finding, lines: Sequence[str] = TEXT) -> str:
    return full.render(findings, lambda span: lines, Styles())


def test_a_finding_in_full() -> None:
    found = finding(
        related=(Related(Span("a.py", 2, 1, 2, 5), "the mesh is made here"),),
        help="8 or 12 would do",
        confirmation=Confirmation.CONFIRMED,
        confirmed_by="JAX 0.10.2: IndivisibleError",
    )
    assert shown(found) == (
        "a.py:3:16: error[SHL202] 10 is not divided by 4\n"
        "  |\n"
        '3 | spec = P(None, "model")\n'
        "  |                ^^^^^^^\n"
        "  :: a.py:2:1: the mesh is made here\n"
        "  |\n"
        "2 | mesh = make()\n"
        "  | ----\n"
        "  = help: 8 or 12 would do\n"
        "  = confirmed by JAX 0.10.2: IndivisibleError\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("line", "start", "end", "source", "carets"),
    [
        ('x = P("轴", "model")', 7, 10, '1 | x = P("轴", "model")', "  |       ^^^^"),
        ('x = P("轴", "model")', 12, 19, '1 | x = P("轴", "model")', "  |             ^^^^^^^"),
        ("\tx = P(3)", 8, 9, "1 |     x = P(3)", "  |           ^"),
        ("a\tb", 3, 4, "1 | a   b", "  |     ^"),
        ("e\u0301 = P(3)", 8, 9, "1 | e\u0301 = P(3)", "  |       ^"),
        ("x\x0c = 1", 6, 7, "1 | x\ufffd = 1", "  |      ^"),
        ("x = 1\u2028", 5, 6, "1 | x = 1", "  |     ^"),
        ("abc", 4, 4, "1 | abc", "  |    ^"),
    ],
)
def test_carets_stand_under_the_span(line: str, start: int, end: int, source: str, carets: str) -> None:
    span = Span("a.py", 1, start, 1, end)
    rows = full.excerpt(span, [line], 1, "^", str, Styles())
    assert [row.rstrip("\u2028") for row in rows] == ["  |", source, carets]


def test_what_would_speak_to_the_terminal_is_shown() -> None:
    """Names of files and axes are the program's own: they may hold anything."""
    span = Span("e\x1b[2Jvil.py", 3, 16, 3, 23)
    found = finding(span, message="no axis \x9b31m\u202e", help="\x07", related=(Related(span, "\x08"),))
    for text in (shown(found), concise.render([found])):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert text.startswith("e\ufffd[2Jvil.py:3:16: error[SHL202] no axis \ufffd31m\ufffd")


def test_a_span_of_several_lines_is_underlined_line_by_line() -> None:
    rows = full.excerpt(Span("a.py", 4, 5, 6, 2), TEXT, 1, "^", str, Styles())
    assert rows == ["  |", "4 | x = f(", "  |     ^^", "5 |     spec,", "  |     ^^^^^", "6 | )", "  | ^"]


def test_a_long_span_is_cut() -> None:
    rows = full.excerpt(Span("a.py", 1, 1, 90, 2), ["x"] * 100, 2, "^", str, Styles())
    assert rows[-1].strip() == "..."
    assert len(rows) == 10


@pytest.mark.parametrize("span", [Span("a.py", 7, 1, 7, 2), Span("a.py", 1, 1, 1, 1)])
def test_a_place_without_text_has_no_excerpt(span: Span) -> None:
    assert full.excerpt(span, TEXT if span.line == 7 else [], 1, "^", str, Styles()) == []


def test_a_cell_is_named() -> None:
    text = concise.render([finding(Span("n.ipynb", 1, 2, 1, 3, cell=4))])
    assert text == "n.ipynb:cell 4:1:2: error[SHL202] 10 is not divided by 4\n"


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, "by 4"),
        ({"expected": True}, "by 4 (expected)"),
        (
            {"confirmation": Confirmation.CONFIRMED, "confirmed_by": "JAX 0.10.2: ValueError"},
            "by 4 (confirmed by JAX 0.10.2: ValueError)",
        ),
        ({"confirmation": Confirmation.REFUTED}, "by 4 (refuted)"),
        ({"message": "two\nlines"}, "two lines"),
    ],
)
def test_a_finding_on_one_line(changes: dict[str, Any], end: str) -> None:
    line = concise.render([finding(**changes)])
    assert line.endswith(end + "\n")
    assert line.count("\n") == 1


def test_a_refuted_finding_asks_for_a_report() -> None:
    assert "refuted by JAX 1.0: accepted; this is a bug in shardlint" in shown(
        finding(confirmation=Confirmation.REFUTED, confirmed_by="JAX 1.0: accepted", severity=Severity.INFO)
    )


def test_json_has_the_keys_of_the_contract() -> None:
    edit = Edit(Span("a.py", 3, 16, 3, 23), '"data"')
    found = finding(
        fix=Fix("use data", Applicability.UNSAFE, (edit,)), related=(Related(Span("b.py", 1, 1, 1, 2), "é"),)
    )
    (loaded,) = json.loads(as_json.render([found]))
    assert set(loaded) == {
        "code", "name", "severity", "message", "path", "line", "column", "end_line", "end_column", "cell",
        "related", "fix", "confirmation", "confirmed_by", "expected", "help",
    }  # fmt: skip
    assert (loaded["line"], loaded["column"], loaded["end_column"], loaded["cell"]) == (3, 16, 23, None)
    assert loaded["fix"]["applicability"] == "unsafe"
    assert loaded["fix"]["edits"][0]["text"] == '"data"'
    assert loaded["related"] == [
        {"path": "b.py", "line": 1, "column": 1, "end_line": 1, "end_column": 2, "cell": None, "message": "é"}
    ]
    assert json.loads(as_json.render([])) == []


@pytest.mark.parametrize(
    ("severities", "expected", "line"),
    [
        ("", 0, "All checks passed (5 files)."),
        ("", 2, "All checks passed (2 findings, announced by the programs)."),
        ("eeew", 12, "Found 3 errors, 1 warning (12 expected)."),
        ("eww", 0, "Found 1 error, 2 warnings."),
        ("i", 0, "Found 1 note."),
    ],
)
def test_summary(severities: str, expected: int, line: str) -> None:
    kinds = {"e": Severity.ERROR, "w": Severity.WARNING, "i": Severity.INFO}
    findings = [finding(severity=kinds[s]) for s in severities] + [finding(expected=True)] * expected
    assert concise.summary(findings, 5) == line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_only_on_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def styles(terminal: bool, **environment: str) -> tuple[bool, bool]:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        styles = styles_for(Terminal() if terminal else io.StringIO())
        assert (styles == Styles()) == (styles.error is str)
        return styles.error is not str, styles.links

    colours_and_links, colours, neither = (True, True), (True, False), (False, False)
    assert styles(True, TERM="xterm") == colours_and_links
    assert styles(True, TERM="xterm", NO_COLOR="", FORCE_COLOR="") == colours_and_links
    assert styles(True, TERM="dumb") == neither
    assert styles(True, NO_COLOR="1") == neither
    assert styles(True, NO_COLOR="1", FORCE_COLOR="1") == neither
    assert styles(True, TERM="dumb", FORCE_COLOR="1") == colours
    assert styles(False) == neither
    assert styles(False, FORCE_COLOR="0") == neither
    assert styles(False, FORCE_COLOR="1") == colours


def test_only_a_link_leads_to_the_page_of_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {rule.code: rule for rule in known_rules()}
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = full.render([finding()], lambda span: TEXT, styles_for(Terminal()), pages=pages)
    found = re.findall(r"\x1b]8;;(.*?)\x1b\\(.*?)\x1b]8;;\x1b\\", text)
    assert found == [(address(pages["SHL202"]), "SHL202")]
    assert found[0][0].startswith("https://docs.jax.dev/")
    published = Settings(docs_url="https://docs.example.com/shardlint/").page_of
    text = full.render([finding()], lambda span: TEXT, styles_for(Terminal()), pages=pages, page_of=published)
    assert "\x1b]8;;https://docs.example.com/shardlint/rules/indivisible-dimension/\x1b\\SHL202" in text
    assert "\x1b]8" not in full.render([finding()], lambda span: TEXT, COLOURED, pages=pages)


def test_colours_change_no_text() -> None:
    coloured = full.render([finding()], lambda span: TEXT, COLOURED)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(finding())


def test_every_rule_says_something_first() -> None:
    for rule in known_rules():
        said = description(rule)
        assert said
        assert not said.startswith("#")
        assert "\n" not in said
