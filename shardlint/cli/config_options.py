"""The options of the command line that change the configuration, and the command that shows it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardlint.config import Configurations
    from shardlint.laws.versions import Release

#: Options whose values are lists, by their key: they may be repeated, and hold commas.
_LISTS = {
    "select": ("RULES", "check only these: codes, their beginnings, names or groups, separated by commas"),
    "ignore": ("RULES", "leave these out"),
    "extend-select": ("RULES", "check these besides what the configuration selects"),
    "extend-ignore": ("RULES", "leave these out besides what the configuration ignores"),
    "exclude": ("PATTERNS", "leave these files and folders out, instead of what the configuration excludes"),
    "extend-exclude": ("PATTERNS", "leave these files and folders out as well"),
}
_PAIRS = {
    "per-file-ignores": "leave rules out in some files, instead of what the configuration says",
    "extend-per-file-ignores": "leave rules out in some files as well",
}
_FLAGS = {
    "preview": "let rules in whose findings may still change",
    "respect-gitignore": "leave out what git ignores; the default",
    "force-exclude": "leave excluded files out even if they are named",
}


def add_options(parser: argparse._ActionsContainer) -> None:
    """Add the options common to all commands that read a configuration."""
    parser.add_argument(
        "--config",
        action="append",
        metavar="FILE|KEY=VALUE",
        help="the configuration to use instead of the nearest ones, or a setting in TOML: "
        "'confirm.timeout=120' (may be repeated)",
    )
    parser.add_argument("--isolated", action="store_true", help="read no configuration file")


def add_asking(parser: argparse._ActionsContainer) -> None:
    """Add the option that lets JAX be asked."""
    parser.add_argument(
        "--ask-jax",
        action=argparse.BooleanOptionalAction,
        help="ask the JAX that is installed about functions that shardlint does not know",
    )


def add_selection(parser: argparse._ActionsContainer) -> None:
    """Add the options that choose rules and files."""
    for key, (metavar, text) in _LISTS.items():
        parser.add_argument(f"--{key}", action="append", metavar=metavar, help=text)
    for key, text in _PAIRS.items():
        parser.add_argument(f"--{key}", action="append", metavar="PATTERN:RULE,...", help=text)
    for key, text in _FLAGS.items():
        parser.add_argument(f"--{key}", action=argparse.BooleanOptionalAction, help=text)


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add the command that shows the configuration."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "config", help="show the configuration that is in force, and where each value comes from"
    )
    parser.add_argument("key", nargs="?", metavar="KEY", help="only this one, with what it is for")
    parser.add_argument(
        "--for", dest="path", default=".", metavar="PATH", help="for this file or folder; default: ."
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of shardlint.toml")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def configurations(options: argparse.Namespace) -> Configurations:
    """Return the configuration of each file, with the command line's changes. Raises ConfigError."""
    from shardlint.config import CommandLine, Configurations, parse_mesh

    given: dict[str, Any] = {}
    for key in (*_LISTS, *_PAIRS, *_FLAGS, "devices"):
        value = getattr(options, key.replace("-", "_"), None)
        if value is not None:
            given[key] = _value(key, value)
    asks = getattr(options, "ask_jax", None)
    if asks is not None or getattr(options, "confirm", False):
        given["ask-jax"] = asks is not False
    mesh = getattr(options, "mesh", None)
    return Configurations(
        CommandLine(tuple(options.config or ()), options.isolated, given),
        mesh=parse_mesh(mesh) if mesh else None,
        exhaustive=getattr(options, "exhaustive", None),
        confirming=_confirming(options),
    )


def _confirming(options: argparse.Namespace) -> Release | None:
    """Return the release of the JAX that the command runs, if it runs one."""
    if not (getattr(options, "confirm", False) or getattr(options, "command", None) == "run"):
        return None
    from shardlint.confirm.installed import installed_release

    return installed_release(options.python)


def _value(key: str, value: Any) -> Any:
    """Return the value of an option as in TOML."""
    from shardlint.config import ConfigError

    if key in _LISTS:
        parts = [part.strip() for text in value for part in text.split(",") if part.strip()]
        if not parts:
            raise ConfigError(f"--{key} needs a value")
        return parts
    if key not in _PAIRS:
        return value
    table: dict[str, list[str]] = {}
    for pair in (part for text in value for part in text.split(",") if part.strip()):
        pattern, colon, rule = pair.strip().rpartition(":")
        if not colon or not pattern or not rule:
            raise ConfigError(f'--{key}: a pair is written "tests/:SHL601", not "{pair.strip()}"')
        table.setdefault(pattern, []).append(rule)
    return table


def show(options: argparse.Namespace) -> str:
    """Return the output of `shardlint config`. Raises ConfigError."""
    from shardlint.config.keys.display import as_json, as_text, chosen
    from shardlint.config.keys.json_schema import schema
    from shardlint.support.media import json_document

    if options.schema:
        return json_document(schema())
    found = configurations(options)
    found.of(options.path)
    values = chosen(found.in_force(options.path), options.key)
    return as_json(values) if options.output_format == "json" else as_text(values, options.key)
