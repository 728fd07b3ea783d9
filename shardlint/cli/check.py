"""The command `check`: from its options to the printed report, which is cached while nothing changes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING

from shardlint.cli import check_edits, config_options, report_output
from shardlint.cli.early_end import early_end, told
from shardlint.support.gc_policy import collecting_seldom

if TYPE_CHECKING:
    from shardlint.api import Linter
    from shardlint.cache.store import Store
    from shardlint.config import Settings
    from shardlint.engine.check_cache import Recall
    from shardlint.engine.results import Report
    from shardlint.output.progress import ProgressBar
    from shardlint.output.rule_links import PageOf

CLEAN, FOUND, FAILED = 0, 1, 2

#: Options that write to the user's files.
_WRITING = ("fix", "fix_only", "diff", "add_ignores", "write_baseline")


class UsageError(Exception):
    """The command cannot be carried out; the message states why."""


def add_options(parser: argparse.ArgumentParser, count: Callable[[str], int]) -> None:
    """Add the options of `check` that affect how the analysis runs."""
    run = parser.add_argument_group("speed")
    run.add_argument("--no-cache", action="store_true", help="use no stored results, and store none")
    run.add_argument(
        "--cache-dir",
        metavar="FOLDER",
        help="where results are stored; default: .shardlint_cache in the project",
    )
    run.add_argument(
        "--jobs", type=count, metavar="N", help="how many processes may work at a time; default: one a core"
    )
    run.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="end after this time, and report what was found until then",
    )
    run.add_argument("-w", "--watch", action="store_true", help="check again whenever a file changes")


def _seconds(text: str) -> float:
    """Return a positive number of seconds. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is no positive number of seconds")
    return value


def check(options: argparse.Namespace) -> int:
    """Run the check and return the exit code. Raises UsageError, CannotSay and ConfigError."""
    report_output.check_options(options)
    if not options.watch:
        return _once(options)
    for flag in (*_WRITING, "stdin_filename", "output_file"):
        if getattr(options, flag) not in (None, False):
            raise UsageError(f"--{flag.replace('_', '-')} does not go with --watch")
    if "-" in options.paths:
        raise UsageError("standard input cannot be watched")
    from shardlint.cli.watch import watch

    return watch(options, partial(_again, options))


def _again(options: argparse.Namespace) -> int:
    """Repeat the check. Configuration errors are printed, since they may be fixed before the next run."""
    from shardlint.config import ConfigError

    try:
        return _once(options)
    except (ConfigError, UsageError) as error:
        return complain(str(error))


def _once(options: argparse.Namespace) -> int:
    from shardlint.output.progress import ProgressBar

    unsaved = _standard_input(options)
    missing = [] if unsaved else [path for path in options.paths if not os.path.lexists(path)]
    if missing:
        raise UsageError(f"{', '.join(missing)} {'does' if len(missing) == 1 else 'do'} not exist")
    store = _store(options)
    with collecting_seldom(), ProgressBar(options.quiet) as progress:
        try:
            recall = None if store is None or unsaved else _recall(options, store)
            code = _recalled(options, recall, progress) if recall is not None else None
            return _checked(options, store, recall, unsaved, progress) if code is None else code
        finally:
            if store is not None:
                store.save()
                store.close()
                if store.problem is not None and os.environ.get("SHARDLINT_DEBUG"):
                    report_output.aside(f"shardlint: no results are stored: {store.problem}")


def _store(options: argparse.Namespace) -> Store | None:
    """Return the store for results, None if it is not to be used.

    The store is untrusted, so it never provides code to run (a witness of ``--confirm``).
    """
    if options.no_cache or options.exhaustive or options.confirm:
        return None
    from shardlint.engine.check_cache import store_of

    return store_of(options.cache_dir, options.paths[0])


def _recall(options: argparse.Namespace, store: Store) -> Recall:
    from shardlint.engine.check_cache import Recall

    return Recall(store, options)


def _recalled(options: argparse.Namespace, recall: Recall, progress: ProgressBar) -> int | None:
    """Print the cached report and return its exit code, or None if there is none.

    The store is untrusted, so it never provides text to write into the user's files either.
    """
    found = recall.recalled(options.python)
    if found is None or options.add_ignores is not None or options.write_baseline is not None:
        return None
    if any(finding.fix for finding in found.report.findings) and _writes(options):
        return None
    linter = None
    if found.has_baseline and options.baseline is None:
        from shardlint.api import Linter

        linter = Linter(config_options.configurations(options).of(options.paths[0]))
    try:
        return _finished(options, linter, found.report, None, progress)
    except (UsageError, report_output.CannotSay, OSError):
        raise
    except Exception:
        # Only a report that shardlint did not write fails to print.
        return None


def _checked(
    options: argparse.Namespace,
    store: Store | None,
    recall: Recall | None,
    unsaved: tuple[str, bytes] | None,
    progress: ProgressBar,
) -> int:
    from shardlint.config.selection import without_effect
    from shardlint.engine.results import Report
    from shardlint.engine.source_selection import read_paths
    from shardlint.source.workspace import file_access

    with file_access.recording() as read:
        found = config_options.configurations(options)
        settings = found.of(options.paths[0])
        linter, report, asking = None, None, None
        if not unsaved:
            files, sources = read_paths(options.paths, found.of_folder, settings, progress)
            if not (sources or settings.baseline or _writes(options) or options.confirm):
                report = Report((), tuple(without_effect(settings)), files)
        if report is None:
            from shardlint.api import Linter, read_source
            from shardlint.confirm.asking import Asking
            from shardlint.engine.analyzer import Analyzer

            cache = None if _writes(options) else store
            asking = Asking(
                options.python,
                cache,
                settings.confirm_timeout,
                settings.confirm_devices,
                confirms=options.confirm,
            )
            with early_end(options.timeout, again=options.watch) as stop:
                analyzer = Analyzer(cache, options.jobs, stop=stop, asking=asking)
                linter = Linter(settings, found.of_folder, analyzer)
                if unsaved:
                    report = linter.check_unsaved(read_source(*unsaved), options.show_unresolved)
                else:
                    report = linter.check_read(files, sources, progress, options.show_unresolved)
    if recall is not None and not (asking and asking.left_open):
        recall.put(report, settings.baseline is not None, read, asking.asked if asking else ())
    with asking or nullcontext():
        if options.confirm and linter is not None:
            report = linter.confirm(report, options.python, progress)
    return _finished(options, linter, report, unsaved, progress)


def _finished(
    options: argparse.Namespace,
    linter: Linter | None,
    report: Report,
    unsaved: tuple[str, bytes] | None,
    progress: ProgressBar,
) -> int:
    """Apply the options to a report, print it, and return the exit code."""
    from shardlint.source.excerpts import Excerpts

    try:
        outcome = check_edits.change(linter, report, options, progress)
    except check_edits.CannotDo as error:
        raise UsageError(str(error)) from None
    progress.stop()
    report_output.write_diff(outcome.out)
    report = outcome.report
    for line in outcome.messages:
        report_output.aside(line)
    for failure in outcome.failures:
        complain(failure)
    if outcome.code is not None:
        return FAILED if outcome.failures else outcome.code
    fixable = check_edits.fixable_text(report.findings, options.unsafe_fixes)
    failed = any(f.name in ("internal-error", "missing-path") for f in report.findings)
    if not options.quiet:
        for note in report.notes:
            report_output.aside(f"note: {note}")
    excerpts = Excerpts(dict([unsaved] if unsaved else []))
    report_output.write_report(report, options, excerpts, fixable, failed, _page_of(options, linter))
    if report.unreached:
        report_output.aside(told(report.unreached, len(report.sources)))
    if outcome.failures or failed:
        return FAILED
    if report.failing and not options.exit_zero:
        return FOUND
    return FAILED if report.unreached else CLEAN


def _page_of(options: argparse.Namespace, linter: Linter | None) -> PageOf:
    """Return a function from rule names to pages; without a linter it reads the configuration lazily."""
    if linter is not None:
        return linter.settings.page_of

    def page_of(rule: str) -> str | None:
        return settings().page_of(rule)

    @cache
    def settings() -> Settings:
        return config_options.configurations(options).of(options.paths[0])

    return page_of


def complain(message: str) -> int:
    """Print an error, and return its exit code."""
    report_output.aside(f"shardlint: {message}")
    return FAILED


def _writes(options: argparse.Namespace) -> bool:
    return any(getattr(options, flag) not in (None, False) for flag in _WRITING)


def _standard_input(options: argparse.Namespace) -> tuple[str, bytes] | None:
    """Return the name and bytes of standard input, if `-` or a name for it was given."""
    if options.stdin_filename is None and "-" not in options.paths:
        return None
    from shardlint.source.sources import MAX_NOTEBOOK_BYTES

    if options.paths not in (["-"], ["."]):
        raise UsageError("standard input is checked alone: give - and no other path")
    for flag in _WRITING:
        if getattr(options, flag) not in (None, False):
            raise UsageError(f"--{flag.replace('_', '-')} does not go with standard input")
    options.paths = [os.path.normpath(options.stdin_filename or "-")]
    if os.path.isdir(options.paths[0]):
        raise UsageError(f"--stdin-filename {options.paths[0]} is a folder")
    return options.paths[0], sys.stdin.buffer.read(MAX_NOTEBOOK_BYTES + 1)
