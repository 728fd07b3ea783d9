"""The reference of the command line, made from its parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from shardlint.cli.commands import make_parser

_COLUMNS = "| option | what it does |\n|---|---|"
_HEAD = """# Command line

`shardlint PATH...` is short for `shardlint check PATH...`. `check`, `report --init` and `run` exit with 0
where all is well, 1 where they found something, 2 where they could not do what was asked; the other commands
with 0 or 2. Findings, tables and reports go to standard output, notes and complaints to standard error.
Colours follow [`NO_COLOR`](https://no-color.org) and [`FORCE_COLOR`](https://force-color.org).
"""


def page() -> str:
    """Return the page: each command with its usage, and what it takes."""
    return "\n".join([_HEAD, *(_section(name, words, parser) for name, words, parser in commands())])


def commands() -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Yield each command: its name, what it is for, and its parser."""
    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield choice.dest, choice.help or "", action.choices[choice.dest]


def _section(name: str, words: str, parser: argparse.ArgumentParser) -> str:
    tables: dict[str, list[str]] = {}
    for group in parser._action_groups:
        title = "" if group.title in ("positional arguments", "options") else f"**{group.title}**\n\n"
        actions = (a for a in group._group_actions if not isinstance(a, argparse._HelpAction))
        tables.setdefault(title, []).extend(map(_row, actions))
    parts = [f"## shardlint {name}\n", f"{words[:1].upper()}{words[1:]}.\n"]
    parts += ["\n".join([f"{title}{_COLUMNS}", *rows, ""]) for title, rows in tables.items() if rows]
    return "\n".join(parts)


def _row(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction):
        value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        if action.choices is not None:
            value = "|".join(map(str, action.choices))
        value = f"[{value}]" if action.nargs == "?" and action.option_strings else value
    names = ", ".join(f"`{option}`" for option in action.option_strings)
    shown = " ".join(part for part in (names, value and f"`{value}`") if part)
    return f"| {shown} | {(action.help or '').replace('|', '&#124;')} |"
