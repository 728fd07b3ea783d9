"""The command `compile`: which lines of a fixture make the compiler send what, and what each device holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from shardlint.cli import report_output
from shardlint.cli.check import CLEAN, FAILED, UsageError, complain

if TYPE_CHECKING:
    from shardlint.cost.values import Compilation, Place

#: Seconds that a fixture may take.
_SECONDS = 600


def add_command(commands: Any, count: Callable[[str], int]) -> argparse.ArgumentParser:
    """Add the command and the options of its own."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compile", help="execute fixtures, and say which lines make devices send what, and what they hold"
    )
    parser.add_argument("paths", nargs="+", metavar="FIXTURE", help="programs and notebooks")
    parser.add_argument(
        "--devices", type=count, metavar="N", help="how many fake devices; default: what the file says, or 8"
    )
    parser.add_argument("--python", metavar="PATH", help="the interpreter that has JAX; default: this one")
    parser.add_argument(
        "--timeout", type=count, metavar="SECONDS", default=_SECONDS, help="of each file; default: 600"
    )
    parser.add_argument("--output-format", choices=("text", "json", "html"), default="text")
    parser.add_argument("--output-file", metavar="FILE", help="write the report to a file")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    return parser


def compile_fixtures(options: argparse.Namespace) -> int:
    """Run the command and return the exit code: 0, or 2 where something did not run. Raises UsageError."""
    from shardlint.cost.runs import CannotCompile, compile_file, require_jax
    from shardlint.output.progress import ProgressBar

    for path in options.paths:
        if not os.path.isfile(path):
            raise UsageError(f"{path} is not a file" if os.path.exists(path) else f"{path} does not exist")
    try:
        require_jax(options.python)
    except CannotCompile as reason:
        raise UsageError(str(reason)) from None
    compilations = []
    with ProgressBar(options.quiet) as progress:
        for number, path in enumerate(options.paths):
            progress("compiling", number, len(options.paths))
            compilations.append(
                compile_file(path, python=options.python, devices=options.devices, timeout=options.timeout)
            )
    _write(compilations, options)
    failures = [failure for one in compilations for failure in one.failures]
    for failure in failures:
        complain(failure)
    return FAILED if failures else CLEAN


def _write(compilations: Sequence[Compilation], options: argparse.Namespace) -> None:
    from shardlint.output.cost import html, json, text
    from shardlint.output.terminal_styles import Styles, styles_for

    if options.output_format == "json":
        written = json.render(compilations)
    elif options.output_format == "html":
        written = html.render(compilations, _line_text)
    else:
        styles = styles_for(sys.stdout) if options.output_file is None else Styles()
        written = text.render(compilations, _line_text, styles)
    report_output.put(written, options.output_file)


def _line_text(place: Place) -> str:
    lines = _lines(place.path, place.cell)
    return lines[place.line - 1] if 0 < place.line <= len(lines) else ""


@cache
def _lines(path: str, cell: int | None) -> list[str]:
    from shardlint.source import read_source

    return [line for one in read_source(path).cells if one.index == cell for line in one.written.splitlines()]
