"""The command line: `main` is the entry, and a module here is a command or a part that commands share.

`commands` has the parser and the small commands, `check` the main one; `check_edits` are its options that
change files, `watch` runs it again after each change, `config_options` and `report_output` are shared. Exit
codes: 0 clean, 1 findings, 2 usage or internal error. Heavy libraries are imported inside the commands that
need them.
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 clean, 1 findings, 2 usage or internal error."""
    from shardlint.cli.commands import main as run

    return run(argv)
