"""What `check` says of its findings: in which format, and where to."""

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

#: The formats of `shardlint.output.formats.registry`, which is not loaded for them.
_FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


class CannotSay(Exception):
    """What was asked for cannot be said, or not where; the message says why."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check` that are about its output."""
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format", choices=_FORMATS, default="full", type=_format, help="default: full"
    )
    output.add_argument("--output-file", metavar="FILE", help="write the findings to a file")
    output.add_argument("--statistics", action="store_true", help="say only how often each rule was broken")
    output.add_argument("-q", "--quiet", action="store_true", help="say nothing but the findings")
    output.add_argument("--exit-zero", action="store_true", help="exit 0 even when there are findings")


def _format(text: str) -> str:
    """Return a format, or what is none for the parser to refuse, unless it is near to one that there is."""
    if text not in _FORMATS:
        import difflib

        if close := difflib.get_close_matches(text, _FORMATS, n=1):
            raise argparse.ArgumentTypeError(f"there is no format {text!r}; did you mean {close[0]!r}?")
    return text


def check_options(options: argparse.Namespace) -> None:
    """Raise CannotSay for options that do not go together, before anything is done."""
    if options.statistics and options.output_format not in ("full", "concise", "json"):
        raise CannotSay(f"--statistics has no format {options.output_format}; it has full, concise and json")
    if options.output_file is not None and os.path.isdir(options.output_file):
        raise CannotSay(f"{options.output_file} cannot be written: it is a folder")


def say(
    report: Report,
    options: argparse.Namespace,
    excerpts: Excerpts,
    fixable: str,
    failed: bool,
    page_of: PageOf,
) -> None:
    """Write the findings of a report where the options say.

    ``fixable`` is a line about fixes for the summary, ``failed`` tells that not everything could be
    checked, ``page_of`` where the pages of rules are published. Raises CannotSay when the file cannot be
    written; then all has gone to standard output.
    """
    text = _text(report, options, excerpts, fixable, failed, page_of)
    if options.output_file is None:
        write(text)
        return
    try:
        os.makedirs(os.path.dirname(options.output_file) or ".", exist_ok=True)
        with open(options.output_file, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        write(text)
        why = error.strerror or error
        raise CannotSay(f"{options.output_file} cannot be written: {why}; see standard output") from None


def aside(text: str) -> None:
    """Write lines to standard error: what there is to say beside the findings."""
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
    """Write a diff to standard output: as it is for a program that applies it, to be read on a terminal.

    GitHub's runner is told to take no line of it for a command. Raises CannotSay.
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
    """Keep the interpreter from writing at its exit what could not be written to standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_full(error: OSError) -> bool:
    """Whether an error is that of a stream to which no more can be written: it names no file."""
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

    shown = tuple(f for f in report.findings if options.show_expected or not f.expected)
    format_ = options.output_format
    if options.statistics:
        from shardlint.output.tables import statistics

        text = (statistics.as_json if format_ == "json" else statistics.as_text)(shown)
    else:
        styles = Styles() if options.output_file else styles_for(sys.stdout)
        results = registry.Results(
            shown,
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
    return f"{text}{summary(report.findings, report.files)}\n{fixable and fixable + chr(10)}"
