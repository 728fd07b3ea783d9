"""The output of `check`: its format and destination."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from typing import TYPE_CHECKING

from shardlint import __version__

if TYPE_CHECKING:
    from shardlint.api import Report
    from shardlint.output.rule_links import Page, PageOf
    from shardlint.source.excerpts import Excerpts

#: The formats of `shardlint.output.formats.registry`, listed here to avoid importing it.
_FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


class CannotSay(Exception):
    """The output is impossible in this format or to this destination; the message states why."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check` that concern its output."""
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format", choices=_FORMATS, default="full", type=_format, help="default: full"
    )
    output.add_argument("-o", "--output-file", metavar="FILE", help="write the findings to a file")
    output.add_argument("--statistics", action="store_true", help="say only how often each rule was broken")
    output.add_argument("-q", "--quiet", action="store_true", help="say nothing but the findings")
    output.add_argument("--exit-zero", action="store_true", help="exit 0 even when there are findings")


def _format(text: str) -> str:
    """Return a format; raise if it resembles a known one (the parser itself rejects other unknown texts)."""
    if text not in _FORMATS:
        import difflib

        if close := difflib.get_close_matches(text, _FORMATS, n=1):
            raise argparse.ArgumentTypeError(f"there is no format {text!r}; did you mean {close[0]!r}?")
    return text


def check_options(options: argparse.Namespace) -> None:
    """Raise CannotSay for options that contradict each other, before anything is done."""
    if options.statistics and options.output_format not in ("full", "concise", "json"):
        raise CannotSay(f"--statistics has no format {options.output_format}; it has full, concise and json")
    if options.output_file is not None and os.path.isdir(options.output_file):
        raise CannotSay(f"{options.output_file} cannot be written: it is a folder")


def write_report(
    report: Report,
    options: argparse.Namespace,
    excerpts: Excerpts,
    fixable: str,
    failed: bool,
    page_of: PageOf,
) -> None:
    """Write the findings of a report to the destination in the options.

    ``fixable`` is a line about fixes for the summary, ``failed`` is true if not everything could be checked,
    ``page_of`` returns the address of a rule's page. Raises CannotSay when the file cannot be written; the
    report is then written to standard output.
    """
    put(_text(report, options, excerpts, fixable, failed, page_of), options.output_file)


def put(text: str, path: str | None) -> None:
    """Write text to a file, or to standard output without one. Raises CannotSay when the file cannot be
    written; the text is then on standard output.
    """
    if path is None:
        write(text)
        return
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        write(text)
        why = error.strerror or error
        raise CannotSay(f"{path} cannot be written: {why}; see standard output") from None


def aside(text: str) -> None:
    """Write lines to standard error: messages besides the findings."""
    from shardlint.support.media import lines

    print(lines(text), file=sys.stderr)


def write(text: str) -> None:
    """Write text to standard output. Raises CannotSay."""
    if not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        forget_output()
        raise CannotSay(f"standard output cannot be written: {error.strerror or error}") from None


def write_diff(text: str) -> None:
    """Write a diff to standard output: raw for a program that applies it, escaped for a terminal.

    In GitHub's logs, its lines are kept from being taken for commands. Raises CannotSay.
    """
    if sys.stdout.isatty():
        from shardlint.support.media import lines

        write(lines(text.replace("\r\n", "\n").expandtabs(4)))
    elif text and os.environ.get("GITHUB_ACTIONS") == "true" and not _is_file():
        import secrets

        token = secrets.token_hex(16)
        write(f"::stop-commands::{token}\n{text}::{token}::\n")
    else:
        write(text)


def _is_file() -> bool:
    import stat

    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def forget_output() -> None:
    """Discard buffered output that could not be written, so that the interpreter's exit does not retry."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_full(error: OSError) -> bool:
    """Return whether an error is that of an output stream without room: such an error names no file."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    return error.errno in full and error.filename is None


def _pages() -> dict[str, Page]:
    from shardlint.api import known_rules

    return {rule.code: rule for rule in known_rules()}


def _text(
    report: Report,
    options: argparse.Namespace,
    excerpts: Excerpts,
    fixable: str,
    failed: bool,
    page_of: PageOf,
) -> str:
    from shardlint.output.formats import registry
    from shardlint.output.formats.concise import summary
    from shardlint.output.terminal_styles import Styles, styles_for

    findings = tuple(f for f in report.findings if options.show_expected or not f.expected)
    format_ = options.output_format
    if options.statistics:
        from shardlint.output.tables import statistics

        text = (statistics.as_json if format_ == "json" else statistics.as_text)(findings)
    else:
        styles = Styles() if options.output_file else styles_for(sys.stdout)
        results = registry.Results(
            findings,
            excerpts.lines,
            excerpts.in_file,
            _pages,
            __version__,
            options.confirm,
            report.notes,
            failed,
            page_of,
        )
        text = registry.render(format_, results, styles)
    if format_ not in ("full", "concise") or options.quiet:
        return text
    last = summary(report.findings, report.files, whole=not report.unreached)
    return f"{text}{last}\n{fixable and fixable + chr(10)}"
