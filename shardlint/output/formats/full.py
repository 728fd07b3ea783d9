"""The ``full`` format: each finding with its source, the exact span underlined, and related places."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from shardlint.model.findings import Confirmation, Finding, RootCause, Severity
from shardlint.model.spans import Span
from shardlint.output.formats.concise import about_file, confirmation_text, place_text
from shardlint.output.rule_links import Page, PageOf, address
from shardlint.output.terminal_styles import Styles
from shardlint.support.media import terminal

Lines = Callable[[Span], Sequence[str]]

_TAB = 4
#: Longer spans are truncated to their first lines.
_MOST_LINES = 4
#: A longer line is data, and not shown.
_LONGEST_LINE = 1000
#: More of what JAX says is cut.
_LONGEST_SAYING = 400


def render(
    findings: Iterable[Finding],
    lines: Lines,
    styles: Styles,
    *,
    asked: bool = True,
    pages: Mapping[str, Page] = MappingProxyType({}),
    page_of: PageOf | None = None,
) -> str:
    """Return the findings, a blank line after each.

    ``lines`` returns the lines of a span's file or cell; ``asked`` is true if JAX was to confirm the
    findings. Codes link to their documentation: ``pages`` are those of the rules, by code, and ``page_of``
    returns where they are published. Findings of one cause stand below it, where the first of them is.
    """
    links = {code: link for code, page in pages.items() if (link := address(page, page_of)) is not None}
    together: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        together.setdefault(number if finding.cause is None else finding.cause, []).append(finding)
    out = []
    for ours in together.values():
        shown = [_finding(finding, lines, styles, asked, links.get(finding.code)) for finding in ours]
        if len(ours) > 1 and ours[0].cause is not None:
            out.append(_cause(ours[0].cause, lines, styles))
            shown = [textwrap.indent(text, "  ", lambda line: bool(line.strip())) for text in shown]
        out += shown
    return "".join(f"{text}\n" for text in out)


def _cause(cause: RootCause, lines: Lines, styles: Styles) -> str:
    """Return the place and the words of a cause, with what repairs it."""
    message = styles.strong(_said(cause.message))
    place, word = styles.path(place_text(cause.span)), styles.help("cause")
    out = [f"{place}: {word}: {message} (repairs {cause.repairs})"]
    width = len(str(min(cause.span.end_line, cause.span.line + _MOST_LINES)))
    out += excerpt(cause.span, lines(cause.span), width, "^", styles.note, styles)
    if cause.fix is not None:
        verified = f" (verified: {_said(cause.verified)})" if cause.verified else ""
        text = _said(cause.fix.message)
        out.append(f"{' ' * width} {styles.dim('=')} {styles.help('fix')}: {text}{styles.good(verified)}")
    return "\n".join(out) + "\n"


def _finding(finding: Finding, lines: Lines, styles: Styles, asked: bool, link: str | None) -> str:
    colour = {Severity.ERROR: styles.error, Severity.WARNING: styles.warning, Severity.INFO: styles.note}[
        finding.severity
    ]
    expected = " (expected)" if finding.expected else ""
    code = finding.code if link is None else styles.link(finding.code, link)
    head = f"{finding.severity}[{code}]"
    message = styles.strong(_said(finding.message))
    out = [f"{styles.path(place_text(finding.span))}: {colour(head)} {message}{expected}"]
    spans = [finding.span, *(related.span for related in finding.related)]
    width = len(str(max(min(span.end_line, span.line + _MOST_LINES) for span in spans)))
    out += excerpt(finding.span, lines(finding.span), width, "^", colour, styles)
    for related in finding.related:
        if finding.cause is not None and related.span == finding.cause.span:
            continue
        place, message = styles.path(place_text(related.span)), _said(related.message)
        out.append(f"{' ' * width} {styles.dim('::')} {place}: {message}")
        out += excerpt(related.span, lines(related.span), width, "-", styles.note, styles)
    if finding.help:
        out.append(f"{' ' * width} {styles.dim('=')} {styles.help('help')}: {_said(finding.help)}")
    if finding.fix and finding.fix.message != finding.help:
        out.append(f"{' ' * width} {styles.dim('=')} {styles.help('fix')}: {_said(finding.fix.message)}")
    if asked and not about_file(finding):
        out.append(f"{' ' * width} {styles.dim('=')} {_confirmation(finding, styles)}")
    return "\n".join(out) + "\n"


def _confirmation(finding: Finding, styles: Styles) -> str:
    text, detail = confirmation_text(finding), finding.confirmation_detail
    said = f": {_said(shortened(detail))}" if detail else ""
    if finding.confirmation is Confirmation.CONFIRMED:
        return f"{styles.good(text)}{said}"
    if finding.confirmation is Confirmation.REFUTED:
        return f"{text}; this is a bug in shardlint, please report it"
    return styles.dim(f"{text}{said}")


def shortened(text: str) -> str:
    """Return a text that is cut where it would fill more than a few lines."""
    return text if len(text) <= _LONGEST_SAYING else f"{text[:_LONGEST_SAYING].rstrip()} ..."


def excerpt(
    span: Span, lines: Sequence[str], width: int, mark: str, colour: Callable[[str], str], styles: Styles
) -> list[str]:
    """Return the lines of a span with numbers ``width`` wide, each underlined where the span is.

    Missing lines, and findings about the file as a whole, have no excerpt.
    """
    whole_file = (span.line, span.column, span.end_line, span.end_column) == (1, 1, 1, 1)
    if whole_file or not 1 <= span.line <= len(lines):
        return []
    bar = styles.dim("|")
    out = [f"{' ' * width} {bar}"]
    last = min(span.end_line, span.line + _MOST_LINES - 1, len(lines))
    for number in range(span.line, last + 1):
        text = lines[number - 1]
        if len(text) > _LONGEST_LINE:
            out.append(f"{styles.dim(f'{number:>{width}}')} {bar} {styles.dim('(a very long line)')}")
            continue
        start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
        end = span.end_column - 1 if number == span.end_line else len(text.rstrip())
        before = _columns(text[:start])
        marks = mark * max(1, _columns(text[:end]) - before)
        out.append(f"{styles.dim(f'{number:>{width}}')} {bar} {_source(text.rstrip())}".rstrip())
        out.append(f"{' ' * width} {bar} {' ' * before}{colour(marks)}")
    if last < span.end_line:
        out.append(f"{' ' * width} {styles.dim('...')}")
    return out


def _said(text: str) -> str:
    return terminal(text, begins=False)


def _source(text: str) -> str:
    """Return a line as a terminal shows it, with tabs expanded to fixed stops."""
    out = ""
    for part in re.split("(\t)", text):
        out += " " * (_TAB - _width(out) % _TAB) if part == "\t" else _said(part)
    return out


def _columns(text: str) -> int:
    """Return the width of a text in terminal columns."""
    return _width(_source(text))


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me")
        else 2 if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )  # fmt: skip
