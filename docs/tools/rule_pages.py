"""The pages of the rules: their docstrings, with what shardlint and JAX really say of the examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import jax_says
from shardlint.api import Excerpts, Linter, Settings, source_from_text
from shardlint.laws.versions import parse_target
from shardlint.model.findings import Finding, Group
from shardlint.output.formats import full
from shardlint.output.terminal_styles import Styles
from shardlint.rules import AnyRule, all_rules
from shardlint.source.file_problems import FILE_RULES, FileRule

DOCS = Path(__file__).parents[1]
FILE = "example.py"
RULES: tuple[AnyRule | FileRule, ...] = tuple(sorted((*all_rules(), *FILE_RULES), key=lambda rule: rule.code))

#: What the groups of rules are, in the order of the index.
GROUPS = {
    Group.CORRECTNESS: "Code that JAX rejects",
    Group.SUSPICIOUS: "Code that JAX accepts, but that is almost surely not meant",
    Group.MEMORY: "Wasted memory and unnecessary data movement",
    Group.VERSIONS: "Code that depends on the release of JAX",
    Group.FILES: "Problems with a file or a comment, and answers to comments",
}

_RULE = re.compile(r"\b([a-z]+(?:-[a-z]+)+) \((SHL\d{3})\)")
_SECTION = re.compile(r"(?=^## )", re.MULTILINE)


@cache
def fix_notes() -> dict[str, list[tuple[str, str]]]:
    """Return the rows of the table in fixes.md, by code: "safe" or "unsafe", and what is written then."""
    notes = {}
    page = (DOCS / "fixes.md").read_text(encoding="utf-8")
    for codes, writes, safe in re.findall(r"^\| (SHL.+?) \| (.+?) \| (.+?) \|$", page, re.MULTILINE):
        parts = writes.split("; ")
        levels = ["safe" if said == "yes" else "unsafe" for said in safe.split("; ")]
        levels *= len(parts) if len(levels) == 1 else 1
        for code in codes.split(", "):
            notes[code] = list(zip(levels, parts, strict=True))
    return notes


def fix_words(code: str) -> str:
    """Say in a word or two whether a rule has a fix, and whether that is safe."""
    return ", ".join(dict.fromkeys(safe for safe, _ in fix_notes().get(code, ())))


@cache
def findings(code: str) -> tuple[Finding, ...]:
    """Return what shardlint finds in the example of a rule."""
    rule = next(rule for rule in RULES if rule.code == code)
    assert not isinstance(rule, FileRule)
    target = parse_target(rule.target) if rule.target else None
    linter = Linter(Settings(devices=8, target_jax=target, preview=True))
    found = linter.check_source(source_from_text(FILE, rule.bad))
    return tuple(finding for finding in found if finding.code == code)


def severity(rule: AnyRule | FileRule) -> str:
    """Return the severity of a rule's finding: in its example, where it has one."""
    return str(rule.severity if isinstance(rule, FileRule) else findings(rule.code)[0].severity)


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page: its path, and its Markdown."""
    yield "rules/index.md", index()
    for rule in RULES:
        yield f"rules/{rule.name}.md", page(rule)


def page(rule: AnyRule | FileRule) -> str:
    """Return the page of a rule."""
    title, *sections = _SECTION.split(rule.docs.strip() + "\n")
    facts = [f"group [`{rule.group}`](index.md#{rule.group})", f"severity `{severity(rule)}`"]
    facts += ["[preview](../configuration.md#preview)"] if rule.preview else []
    heading, _, lead = title.partition("\n")
    words = fix_words(rule.code)
    facts.append(f"[fix](../fixes.md): {words}" if words else "no fix")
    parts = [f"{heading}\n\n{rule.summary}.\n\n{' · '.join(facts)}\n"]
    if isinstance(rule, FileRule):
        lead = lead.replace(f"\n{rule.summary}.\n", "", 1)
    parts += [lead.strip() + "\n"] if lead.strip() else []
    for section in sections:
        name, _, text = section.removeprefix("## ").partition("\n")
        if name == "What JAX says" and not isinstance(rule, FileRule):
            parts.append(f"## {name}\n\n{_measured(rule)}\n{text.strip()}\n")
            continue
        parts.append(section.strip() + "\n")
        if name == "Example" and not isinstance(rule, FileRule):
            parts.append(f"## What shardlint says\n\n```text\n{_told(rule)}```\n")
        if name == "Use instead" and rule.code in fix_notes():
            parts.append(_fix(rule.code))
    if not sections and rule.code in fix_notes():
        parts.append(_fix(rule.code))
    return _linked("\n".join(parts), rule.code)


def _fix(code: str) -> str:
    rows = "\n".join(f"- {safe}: {writes}" for safe, writes in fix_notes()[code])
    return f"## Fix\n\n{rows}\n\nSee [Fixes](../fixes.md).\n"


def _told(rule: AnyRule) -> str:
    excerpts = Excerpts({FILE: rule.bad.encode()})
    return full.render(findings(rule.code), excerpts.lines, Styles(), asked=False).rstrip("\n") + "\n"


def _measured(rule: AnyRule) -> str:
    """What releases of JAX raise in the example, each with those around it that raise the same."""
    table = {release: known for release, known in jax_says.table().items() if rule.code in known}
    if not table:
        return ""
    newest = list(table)[-1]
    said = table[newest][rule.code]
    first = (
        f"JAX {newest} runs the example and says nothing."
        if said is None
        else f"JAX {newest}, of the example:\n\n```text\n{said['raises']}: {said['message']}\n```"
    )
    rows = []
    for raised, releases in groupby(table, lambda release: _answer(table[release][rule.code])):
        known = list(releases)
        rows.append(f"| {known[0]}{f' to {known[-1]}' if len(known) > 1 else ''} | {raised} |")
    head = f"| JAX, measured on {len(table)} releases | the example |\n|---|---|"
    return "\n".join([first, "", head, *rows, ""])


def _answer(said: jax_says.Said | None) -> str:
    if said is None:
        return "runs"
    lacks = said["raises"] in ("AttributeError", "ImportError", "ModuleNotFoundError")
    lacks = lacks or "unexpected keyword argument" in said["message"]
    why = f": {said['message']}".replace("|", r"\|") if lacks else ""
    return f"`{said['raises']}`{why}"


def _linked(text: str, own: str) -> str:
    """Make the rules that a page speaks of lead to their pages, outside of code."""
    names = {rule.code: rule.name for rule in RULES}

    def link(match: re.Match[str]) -> str:
        if match[2] == own or names.get(match[2]) != match[1]:
            return match[0]
        return f"[{match[1]}]({match[1]}.md) ({match[2]})"

    blocks = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else _RULE.sub(link, part) for part in blocks)


def index() -> str:
    """Return the page that lists the rules, group by group."""
    parts = [
        "# Rules\n",
        "`shardlint explain CODE` shows a page in the terminal, `shardlint rules` lists them. The examples "
        "of these pages are executed in shardlint's tests, by shardlint and by JAX. An `error` says that JAX "
        "raises; its severity here is that of the page's example. A fix is "
        "[safe or unsafe](../fixes.md); rules in preview are off unless "
        "[asked for](../configuration.md#preview).\n",
    ]
    for group, words in GROUPS.items():
        rows = [
            f"| {rule.code} | [{rule.name}]({rule.name}.md) | {severity(rule)} | {fix_words(rule.code)} | "
            f"{'preview' if rule.preview else 'stable'} | {rule.summary} |"
            for rule in RULES
            if rule.group is group
        ]
        head = "| code | name | severity | fix | status | finds |\n|---|---|---|---|---|---|"
        parts.append("\n".join([f"## {words} {{ #{group} }}\n", head, *rows, ""]))
    return "\n".join(parts)
