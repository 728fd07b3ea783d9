"""The command `compile`: which lines of a fixture make the compiler send what, and what each device holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from shardlint.cli import config_options, report_output
from shardlint.cli.check import CLEAN, FAILED, FOUND, UsageError, complain

if TYPE_CHECKING:
    from shardlint.cost.values import Compilation, Place
    from shardlint.model.findings import Finding

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
    parser.add_argument(
        "--topology",
        metavar="SLICE",
        help="compile for a TPU slice, such as v5e-256, v5p-128 or v6e:4x4; needs no TPU, but shardlint[tpu]",
    )
    parser.add_argument("--python", metavar="PATH", help="the interpreter that has JAX; default: this one")
    parser.add_argument(
        "--timeout", type=count, metavar="SECONDS", default=_SECONDS, help="of each file; default: 600"
    )
    parser.add_argument("--output-format", choices=("text", "json", "html"), default="text")
    parser.add_argument("--output-file", metavar="FILE", help="write the report to a file")
    parser.add_argument("--save", metavar="FILE", help="keep the report, as JSON, to compare with")
    parser.add_argument(
        "--against",
        metavar="FILE",
        help="print what has changed since a saved report, as a table in Markdown",
    )
    config_options.add_options(parser)
    config_options.add_selection(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    return parser


def compile_fixtures(options: argparse.Namespace) -> int:
    """Run the command and return the exit code: 0, 1 where there are findings, 2 where something did not run.

    Raises UsageError.
    """
    from shardlint.cost.chips import parse_slice
    from shardlint.cost.runs import CannotCompile, require_jax
    from shardlint.engine.fixture_cost import compile_fixture
    from shardlint.model.findings import Severity
    from shardlint.output.cost import changes, json
    from shardlint.output.progress import ProgressBar

    for path in options.paths:
        if not os.path.isfile(path):
            raise UsageError(f"{path} is not a file" if os.path.exists(path) else f"{path} does not exist")
    slice_ = None
    if options.topology is not None:
        if options.devices is not None:
            raise UsageError("--topology says how many devices there are: leave --devices out")
        try:
            slice_ = parse_slice(options.topology)
        except ValueError as reason:
            raise UsageError(str(reason)) from None
    before = {} if options.against is None else _saved(options.against)
    try:
        require_jax(options.python)
    except CannotCompile as reason:
        raise UsageError(str(reason)) from None
    configured = config_options.configurations(options)
    compilations, findings = [], []
    with ProgressBar(options.quiet) as progress:
        for number, path in enumerate(options.paths):
            progress("compiling", number, len(options.paths))
            compilation, ours = compile_fixture(
                path, configured.of(path), options.python, options.devices, options.timeout, slice_=slice_
            )
            compilations.append(compilation)
            findings += ours
    if options.save is not None:
        report_output.put(json.render(compilations), options.save)
    if options.against is None:
        _write(compilations, findings, options)
    else:
        report_output.put(changes.render(before, compilations, findings), options.output_file)
    failures = [failure for one in compilations for failure in one.failures]
    for failure in failures:
        complain(failure)
    if failures:
        return FAILED
    return FOUND if any(finding.severity is not Severity.INFO for finding in findings) else CLEAN


def _write(
    compilations: Sequence[Compilation], findings: Sequence[Finding], options: argparse.Namespace
) -> None:
    from shardlint.output.cost import html, json, text
    from shardlint.output.formats import concise
    from shardlint.output.terminal_styles import Styles, styles_for

    if options.output_format == "json":
        written = json.render(compilations)
    elif options.output_format == "html":
        written = html.render(compilations, _line_text)
    else:
        styles = styles_for(sys.stdout) if options.output_file is None else Styles()
        written = text.render(compilations, _line_text, styles) + concise.render(findings)
    report_output.put(written, options.output_file)
    if findings and options.output_format != "text":
        report_output.aside(concise.render(findings).rstrip())


def _saved(path: str) -> dict[str, Any]:
    """Return what `--save` wrote. Raises UsageError."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(
        isinstance(found.get(key), list) and all(isinstance(one, dict) for one in found[key])
        for key in ("programs", "collectives")
    ):
        raise UsageError(f"{path} is not what `shardlint compile --save` writes")
    return found


def _line_text(place: Place) -> str:
    lines = _lines(place.path, place.cell)
    return lines[place.line - 1] if 0 < place.line <= len(lines) else ""


@cache
def _lines(path: str, cell: int | None) -> list[str]:
    from shardlint.source import read_source
    from shardlint.source.lexing import lines_of

    return [line for one in read_source(path).cells if one.index == cell for line in lines_of(one.written)]
