"""The command `upgrade`: what changes for a project on a newer JAX, and the fixes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shardlint.cli import check_edits, config_options, report_output
from shardlint.cli.check import CLEAN, FAILED, FOUND, UsageError, complain

if TYPE_CHECKING:
    from shardlint.laws.versions import Release


def add_command(commands: Any, count: Callable[[str], int]) -> argparse.ArgumentParser:
    """Add the command and the options of its own."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "upgrade", help="say what breaks, changes silently or becomes deprecated on a newer JAX"
    )
    parser.add_argument("--to", default="newest", metavar="RELEASE", help="default: the newest one known")
    parser.add_argument(
        "--from", dest="start", metavar="RELEASE",
        help="default: the oldest one that the project's own requirement allows",
    )  # fmt: skip
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes, and say what is left")
    parser.add_argument(
        "--unsafe-fixes", action="store_true", help="also those that may change what is meant"
    )
    parser.add_argument(
        "--diff", action="store_true", help="show what --fix would change, and change nothing"
    )
    parser.add_argument("--jobs", type=count, metavar="N", help="how many processes may work at a time")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress and no notes")
    parser.set_defaults(fix_only=False, show_fixes=False, show_unresolved=False)
    return parser


def upgrade(options: argparse.Namespace) -> int:
    """Run the command and return the exit code: 0 if nothing breaks, else 1. Raises UsageError."""
    from shardlint.engine.analyzer import Analyzer
    from shardlint.engine.source_selection import read_paths
    from shardlint.inference.programs.name_references import may_refer
    from shardlint.output.progress import ProgressBar
    from shardlint.upgrade import text
    from shardlint.upgrade.changes import Kind
    from shardlint.upgrade.comparison import Comparison

    high = _releases(options.to, "--to")[-1]
    low = None if options.start is None else _releases(options.start, "--from")[0]
    found = config_options.configurations(options)
    settings = found.of(options.paths[0])
    comparison = Comparison(found.of_folder, settings, high, low, Analyzer(None, options.jobs))
    if comparison.low_of(settings) > high:
        start = comparison.low_of(settings)
        raise UsageError(
            f"JAX {high} is older than {start}, from which the project comes (--from says another)"
        )
    with ProgressBar(options.quiet) as progress:
        for last in (False, False, True):
            read = read_paths(options.paths, found.of_folder, settings, progress, wanted=may_refer)
            changes, report = comparison.run(*read, progress)
            if last or not (options.fix or options.diff) or not any(f.fix for f in report.findings):
                break
            # Fixes at one place are made one after the other.
            outcome = check_edits.fixed(comparison.linter, report, options, None, progress)
            progress.stop()
            report_output.write_diff(outcome.out)
            for line in outcome.messages:
                report_output.aside(line)
            for failure in outcome.failures:
                complain(failure)
            if options.diff or outcome.failures:
                return FAILED if outcome.failures else outcome.code or CLEAN
            if not outcome.messages:
                break
    if not options.quiet:
        for note in changes.notes:
            report_output.aside(f"note: {note}")
    sys.stdout.write(text.as_json(changes) if options.output_format == "json" else text.as_text(changes))
    return FOUND if changes.of_kind(Kind.BREAKS) else CLEAN


def _releases(written: str, option: str) -> list[Release]:
    """Return the known releases that a text names: one, or all of a minor version. Raises UsageError."""
    from shardlint.laws.versions import NEWEST, RELEASES

    if written == "newest":
        return [NEWEST]
    parts = written.strip().removeprefix("v").split(".")[:3]
    if found := [one for one in RELEASES if str(one).split(".")[: len(parts)] == parts]:
        return found
    known = ", ".join(map(str, RELEASES))
    raise UsageError(f"{option} {written} is no release of JAX that is known; these are: {known}")
