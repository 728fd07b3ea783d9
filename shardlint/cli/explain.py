"""The commands `explain` and `rules`: the pages of rules, found by code, name, group or an error of JAX."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shardlint.cli.check import CLEAN, UsageError

if TYPE_CHECKING:
    from shardlint.config.selection import Described

#: The longest text of standard input that is searched for errors.
_MOST_TEXT = 1_000_000


def add_commands(commands: Any) -> None:
    """Add both commands to the parser."""
    explain = commands.add_parser(
        "explain",
        help="explain a rule, or find the rules of an error that JAX raised",
        epilog=(
            "examples:\n"
            "  shardlint explain SHL202                    one rule\n"
            "  shardlint explain SHL2                      the rules whose codes begin so\n"
            "  shardlint explain 'Resource axis: modle of P(None, \"modle\") is not found in mesh'\n"
            "  python train.py 2>&1 | shardlint explain -  the rules of the errors in a traceback"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explain.add_argument(
        "what",
        nargs="+",
        metavar="CODE|ERROR",
        help="a code (SHL202), the beginning of codes (SHL2), a name (indivisible-dimension), a group "
        "(memory), an error that JAX raised, or - for standard input",
    )
    rules = commands.add_parser("rules", help="list all rules")
    rules.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")


def explain(options: argparse.Namespace) -> int:
    """Print the page of a rule, or a list of the rules that are meant. Raises UsageError."""
    from shardlint.api import known_rules

    rules = known_rules()
    text = " ".join(options.what)
    if text == "-":
        return _explain_error(sys.stdin.read(_MOST_TEXT), rules)
    word = text.lower()
    for rule in rules:
        if word in (rule.code.lower(), rule.name):
            sys.stdout.write(f"{rule.docs.strip()}\n")
            return CLEAN
    ours = [rule for rule in rules if rule.code.lower().startswith(word) or str(rule.group) == word]
    if ours:
        sys.stdout.write(_listed(ours))
        return CLEAN
    if " " in text:
        return _explain_error(text, rules)
    raise UsageError(_unknown(text, rules))


def _explain_error(text: str, rules: Sequence[Described]) -> int:
    """Print the page of the rule whose mistake gives an error, or the list of them if there are several."""
    from shardlint.rules.messages.jax_errors import codes_of

    by_code = {rule.code: rule for rule in rules}
    found = [by_code[code] for code in codes_of(text)]
    if not found:
        raise UsageError(
            "no rule is known to give this error; if JAX raises it for a sharding mistake, please report it. "
            "`shardlint check` may find the mistake all the same"
        )
    if len(found) == 1:
        sys.stdout.write(f"{found[0].docs.strip()}\n")
        return CLEAN
    sys.stdout.write(f"JAX says this of several mistakes, the likeliest first:\n\n{_listed(found)}\n")
    sys.stdout.write("`shardlint explain CODE` explains one; `shardlint check` says which, and where.\n")
    return CLEAN


def _unknown(word: str, rules: Sequence[Described]) -> str:
    import difflib

    words = [known for rule in rules for known in (rule.code, rule.name)]
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else "`shardlint rules` lists them"
    return f"no rule is called {word}; {hint}"


def _listed(rules: Sequence[Described]) -> str:
    """Return a line for each rule."""
    width = max(len(rule.name) for rule in rules)
    lines = (f"{rule.code}  {rule.group:<11}  {rule.name:<{width}}  {rule.summary}" for rule in rules)
    marks = (" (preview)\n" if rule.preview else "\n" for rule in rules)
    return "".join(line + mark for line, mark in zip(lines, marks, strict=True))


def rules(options: argparse.Namespace) -> int:
    """List all rules, as text or as JSON."""
    from shardlint.api import known_rules

    known = known_rules()
    if options.output_format == "text":
        sys.stdout.write(_listed(known))
        return CLEAN
    from shardlint.support.media import json_document

    sys.stdout.write(
        json_document(
            [
                {
                    "code": rule.code,
                    "name": rule.name,
                    "group": str(rule.group),
                    "summary": rule.summary,
                    "preview": rule.preview,
                    "fixable": getattr(rule, "fix", None) is not None,
                    "docs": rule.docs.strip(),
                }
                for rule in known
            ]
        )
    )
    return CLEAN
