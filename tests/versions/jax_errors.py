"""Stores the sentences by which JAX's errors are recognised, for ``shardlint explain "<error>"``.

usage: python -m tests.versions.jax_errors [PYTHON ...]

They are the first lines of what releases say of the rules' examples (`tests/data/releases`), and of what each
PYTHON's JAX says of the fixtures and of the programs in documents. What varies from one program to the next
is left out. The table in `shardlint/rules/messages/jax_errors.py` keeps what it has from earlier runs.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from shardlint.rules.messages import jax_errors

ROOT = Path(__file__).parents[2]
MODULE = Path(jax_errors.__file__)
WIDTH = 108
#: The number of characters that the worker and the measurements keep of a message.
CUT = 500
#: What is left of a message must say at least this much.
FEWEST_WORDS, FEWEST_LETTERS = 3, 14

_GROUPS = re.compile(r"[\w.]*(\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}|<[^<>]*>)[\w.]*")
_OPEN = re.compile(r"[\w.]*[(\[{<][^)\]}>]*$")
_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`\w*`(?=\W|$)")
_NUMBER = re.compile(r"[\w.@,-]*\d[\w.@,-]*")
_AFTER_COLON = re.compile(r"(?<=: )[\w]+(?=$|[,.]| of\b)")
#: What Python and NumPy say of any program, with or without JAX.
_GENERAL = re.compile(
    r"(no attribute|not callable|not iterable|index out of range|values to unpack|unexpected keyword argument"
    r"|cannot import name|positional.only argument|required (positional|keyword-only) argument"
    r"|positional arguments but|cannot reshape array)|^Missing required keyword"
)
#: What JAX adds to a sentence.
_ADDED = " This error occurs at source:"
#: Names of the interface, which stand in JAX's sentences themselves.
_CONSTANT = re.compile(r"`(?:\w*_\w*|Explicit|Auto|Manual)`")


def template_of(message: str) -> str | None:
    """Return what a message has in common with others of its kind, ``*`` for the rest; None if that is too
    little.
    """
    text = " ".join(message.split()).partition(_ADDED)[0]
    if _GENERAL.search(text):
        return None
    if len(message) >= CUT - 1:
        text = text.rpartition(" ")[0]
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\1{chr(0xE000 + len(kept) - 1)}"

    text = _CONSTANT.sub(keep, text)
    text = _QUOTED.sub("*", text)
    before = None
    while text != before:
        before, text = text, _GROUPS.sub("*", text)
    text = _OPEN.sub("*", text)
    text = _NUMBER.sub("*", text)
    text = _AFTER_COLON.sub("*", text)
    text = re.sub(r"\*[\s,.*]*(?<=\*)", "*", text)
    text = re.sub("\1(.)", lambda found: kept[ord(found[1]) - 0xE000], text)
    words = re.findall(r"[A-Za-z_]{2,}", text)
    return text if len(words) >= FEWEST_WORDS and sum(map(len, words)) >= FEWEST_LETTERS else None


def merged(templates: Sequence[str]) -> Counter[str]:
    """Return templates, with how often they were given: one for those that differ in one word only, which
    names a function of the program.
    """
    groups: dict[tuple[str, ...], set[str]] = {}
    found = sorted(set(templates))
    for template in found:
        words = template.split(" ")
        for at in range(len(words)):
            groups.setdefault((*words[:at], "\0", *words[at + 1 :]), set()).add(template)
    replaced: dict[str, str] = {}
    for key, together in groups.items():
        if len(together) > 1:
            replaced |= dict.fromkeys(together, " ".join(key).replace("\0", "*"))
    return Counter(replaced.get(template, template) for template in templates)


def measured() -> Iterator[tuple[str, str]]:
    """Yield a rule's code and what a release says of its example, but not of the repaired one."""
    for path in sorted((ROOT / "tests" / "data" / "releases").glob("*.json")):
        pages = json.loads(path.read_text(encoding="utf-8"))["pages"]
        for name, outcome in pages.items():
            code, _, which = name.partition(" ")
            if which == "bad" and outcome is not None and outcome != pages[f"{code} good"]:
                yield code, outcome.partition(": ")[2]


def told(python: str) -> Iterator[tuple[str, str]]:
    """Yield a finding's code and what the JAX of an interpreter says of it."""
    from shardlint.api import Linter
    from shardlint.config import load_settings
    from shardlint.confirm.confirmer import Confirmer
    from shardlint.model.findings import Confirmation

    sys.path.insert(0, str(ROOT / "tests"))
    from support.document_tests import find
    from support.documents import read_programs

    findings = list(
        Linter(load_settings(str(ROOT / "fixtures"))).check_paths([str(ROOT / "fixtures")]).findings
    )
    for path in sorted((ROOT / "tests").rglob("*.md")):
        for program in read_programs(path):
            findings += find(program)
    with Confirmer(python) as confirmer:
        for finding in confirmer.confirm(findings):
            detail = finding.confirmation_detail
            if detail is not None and finding.confirmation is Confirmation.CONFIRMED:
                yield finding.code, re.sub(r"^\(with shape .*?\) (?=[A-Z])", "", detail)


def table(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the table as Python: a template, and the codes of the rules that have it, the most frequent
    first.
    """
    by_code: dict[str, list[str]] = {}
    for code, template in pairs:
        by_code.setdefault(code, []).append(template)
    codes: dict[str, dict[str, int]] = {}
    for code, templates in sorted(by_code.items()):
        common = merged(templates)
        for template, count in common.items():
            codes.setdefault(template, {})[code] = count
    lines = ['SENTENCES = r"""']
    ordered = {template: sorted(ours, key=lambda code: -ours[code]) for template, ours in codes.items()}
    for template, ours in sorted(ordered.items(), key=lambda item: (item[1], item[0])):
        entry = f"{' '.join(ours)} | {template}"
        lines += textwrap.wrap(
            entry, WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
        )
    return "\n".join([*lines, '"""'])


def main(interpreters: list[str]) -> None:
    """Write the table; what stands around it in the module stays."""
    pairs = [(code, template) for template, codes in jax_errors.sentences() for code in codes]
    asked = [*measured(), *(pair for python in interpreters for pair in told(python))]
    pairs += [(code, template) for code, message in asked if (template := template_of(message))]
    text = MODULE.read_text(encoding="utf-8")
    start, end = text.index("SENTENCES = "), text.index("\n\n\n@cache")
    MODULE.write_text(text[:start] + table(pairs) + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
