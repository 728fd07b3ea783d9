"""The command `layout`: what each device holds of the arrays of a file, a line or a folder."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shardlint.cli import config_options
from shardlint.cli.check import CLEAN, FAILED, UsageError, complain

if TYPE_CHECKING:
    from shardlint.api import Linter
    from shardlint.model.uses import FileProblem, Use


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add the command and the options of its own."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "layout", help="show what each device holds of every array that is resolved"
    )
    parser.add_argument("place", metavar="PATH[:LINE]", help="a file, a line of it, or a folder")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    return parser


def layout(options: argparse.Namespace) -> int:
    """Print the layouts; 2 if a file cannot be analyzed. Raises UsageError."""
    from shardlint.api import Linter
    from shardlint.laws.core.verdicts import Rejected
    from shardlint.model.uses import FileProblem
    from shardlint.output import layout as layouts
    from shardlint.output.terminal_styles import styles_for
    from shardlint.support.media import terminal

    path, line = _place(options.place)
    found = config_options.configurations(options)
    linter = Linter(found.of(path), found.of_folder)

    def placed(uses: Sequence[Use | FileProblem]) -> list[Use]:
        return [use for use in uses if isinstance(use, layouts.LAID_OUT) and _is_at(use, path, line)]

    uses = linter.uses(linter.read_paths([path])[1])
    problems = [use for use in uses if isinstance(use, FileProblem) and not use.is_answer]
    shown = [one for use in placed(uses) if (one := layouts.layout_of(use)) is not None]
    if not shown and os.path.isfile(path):
        # The file may leave its meshes to other files of the project, which call it.
        uses = [*uses, *_of_callers(linter, path)]
        shown = [one for use in placed(uses) if (one := layouts.layout_of(use)) is not None]
    for problem in problems:
        complain(f"{problem.place.resolve().path}: {problem.message}")
    if options.output_format == "json":
        sys.stdout.write(layouts.as_json(shown))
        return FAILED if problems else CLEAN
    if not shown:
        where = f" on line {line}" if line else ""
        refused = any(isinstance(use.verdict, Rejected) for use in placed(uses))
        why = f" JAX refuses what is there; `shardlint check {path}` says why." if refused else ""
        print(terminal(f"No array with a known shape, spec and mesh{where} in {path}.{why}"))
    sys.stdout.write(layouts.render(shown, styles_for(sys.stdout)))
    return FAILED if problems else CLEAN


def _place(written: str) -> tuple[str, int | None]:
    """Return the path and the line that are asked about. Raises UsageError."""
    path, colon, number = written.rpartition(":")
    line = int(number) if colon and number.isdigit() else None
    path = path if line is not None else written
    if not os.path.exists(path):
        raise UsageError(f"{path} does not exist")
    if line is not None and not os.path.isfile(path):
        raise UsageError(f"{path} is not a file")
    if line is not None and path.endswith(".py"):
        with open(path, "rb") as file:
            count = sum(1 for _ in file)
        if not 1 <= line <= count:
            raise UsageError(f"{path} has {count} lines, and no line {line}")
    return path, line


def _is_at(use: Use, path: str, line: int | None) -> bool:
    span = use.place.resolve()
    if os.path.isfile(path) and os.path.realpath(span.path) != os.path.realpath(path):
        return False
    return line is None or span.line <= line <= span.end_line


def _of_callers(linter: Linter, path: str) -> list[Use | FileProblem]:
    """Return the uses of the other files of the project, as far as they mention sharding."""
    sources = linter.read_paths([linter.settings_of(path).root])[1]
    return linter.uses([one for one in sources if os.path.realpath(one.path) != os.path.realpath(path)])
