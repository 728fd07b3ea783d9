"""Words to complete in ``# shardlint:`` comments and in configuration files, from the text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from shardlint.config import known_rules
from shardlint.config.keys.table import KEYS, Key
from shardlint.config.keys.value_kinds import BOOLEAN, PER_FILE, SELECTORS, SEVERITY
from shardlint.fixes.ignore_comments import UNSILENCED
from shardlint.support.lazy_dataclass import dataclass

_COMMENT = re.compile(r"#\s*shardlint:\s*")
_VERB = re.compile(r"(?:[^\[\]#]*,\s*)?(?P<word>[\w-]*)$")
_MESH = re.compile(r"(?:.*[\s,])?mesh\s*=\s*(?P<word>[\w.-]*)$")
_CODES = re.compile(r"(?:ignore-file|ignore|disable|enable)\[(?:[^\]#]*,)?\s*(?P<word>[\w-]*)$")
_TABLE = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"\s*(?P<word>[\w.-]*)$")
_STRING = re.compile(r"[\"'](?P<word>[\w-]*)$")
_BARE = re.compile(r"=\s*(?P<word>\w*)$")
_ASSIGNED = re.compile(r"\s*(?P<key>[\w.\"-]+?)\s*=")

#: Findings that are fewer lines off are likely to be meant.
_NEAR = 2
#: What a comment may say, and the text behind the word.
_VERBS = {
    "ignore": ("[", "leave out findings on this line: `ignore[SHL202] why`"),
    "ignore-file": ("[", "leave out findings in this file: `ignore-file[SHL202] why`"),
    "disable": ("[", "leave out findings from here to the end of the block, or to `enable`"),
    "enable": ("[", "end a `disable`"),
    "mesh": ("=", "the mesh that is meant here: `mesh=NAME`, `mesh=(data=2, model=4)`"),
    "devices": ("=", "how many devices the program sees: `devices=8`"),
    "reveal": ("", "report what is known on this line"),
}


@dataclass(frozen=True, slots=True)
class Word:
    """A word that may stand under the cursor: ``text`` replaces what is written from ``column`` (from 1) on.

    ``rank`` is 0 for the likeliest.
    """

    label: str
    text: str
    detail: str
    column: int
    rank: int = 1


def in_comment(
    lines: Sequence[str], line: int, column: int, near: Mapping[str, int], meshes: Iterable[str]
) -> list[Word] | None:
    """Return the words of a comment to shardlint; None where the cursor is in none.

    ``near`` are the codes of findings nearby, and how many lines off they are; ``meshes`` are the configured
    names. Lines and columns count from 1.
    """
    before = lines[line - 1][: column - 1]
    begin = next(reversed(list(_COMMENT.finditer(before))), None)
    if begin is None:
        return None
    written = before[begin.end() :]
    if (found := _CODES.match(written)) is not None:
        at = begin.end() + found.start("word") + 1
        return [word for word in _rules(at, near) if word.text not in UNSILENCED]
    if (found := _MESH.match(written)) is not None:
        at = begin.end() + found.start("word") + 1
        return [Word(name, name, "a mesh of the configuration", at) for name in meshes]
    if (found := _VERB.match(written)) is not None:
        at = begin.end() + found.start("word") + 1
        return [Word(name, name + rest, said, at) for name, (rest, said) in _VERBS.items()]
    return []


def _rules(column: int, near: Mapping[str, int] | None = None) -> Iterator[Word]:
    """Yield the codes and names of rules; the likeliest are those of findings at hand."""
    for rule in known_rules():
        rank = min(_NEAR, (near or {}).get(rule.code, _NEAR))
        yield Word(f"{rule.code} {rule.name}", rule.code, rule.summary, column, rank)


def in_configuration(lines: Sequence[str], line: int, column: int, is_pyproject: bool) -> list[Word]:
    """Return the keys, and the values of keys, that a configuration file may have under the cursor."""
    before = lines[line - 1][: column - 1]
    table = _table_around(lines, line)
    prefix = ("tool", "shardlint") if is_pyproject else ()
    if (header := re.match(r"\s*\[(?P<word>[\w.-]*)$", before)) is not None:
        return list(_tables(prefix, header.start("word") + 1))
    if table[: len(prefix)] != prefix:
        return []
    inside = table[len(prefix) :]
    key = _key_of(inside, lines, line, before)
    if key is None:
        found = _KEY.fullmatch(before)
        return [] if found is None else list(_keys(inside, found.start("word") + 1))
    if (found := _STRING.search(before)) is not None and before[: found.start()].count(found[0][0]) % 2 == 0:
        return list(_values(key, before, found.start("word") + 1))
    if key.kind is BOOLEAN and (found := _BARE.search(before)) is not None:
        return [Word(word, word, "", found.start("word") + 1) for word in ("true", "false")]
    return []


def _table_around(lines: Sequence[str], line: int) -> tuple[str, ...]:
    """Return the path of the table that a line is in."""
    for text in reversed(lines[: line - 1]):
        if (found := _TABLE.match(text)) is not None:
            return tuple(part.strip().strip("\"'") for part in found[1].split("."))
    return ()


def _key_of(inside: tuple[str, ...], lines: Sequence[str], line: int, before: str) -> Key | None:
    """Return the key whose value is being written, perhaps on several lines."""
    for number in range(line - 1, max(-1, line - 40), -1):
        text = before if number == line - 1 else lines[number]
        if (found := _ASSIGNED.match(text)) is not None:
            whole = before if number == line - 1 else "\n".join([*lines[number : line - 1], before])
            if number < line - 1 and whole.count("[") + whole.count("{") <= whole.count("]") + whole.count(
                "}"
            ):
                return None
            path = (*inside, *(part.strip('"') for part in found["key"].split(".")))
            return next((key for key in KEYS if path[: len(key.path)] == key.path), None)
        if _TABLE.match(text) is not None:
            return None
    return None


def _keys(inside: tuple[str, ...], column: int) -> Iterator[Word]:
    for key in KEYS:
        if key.path[: len(inside)] == inside and len(key.path) > len(inside):
            name = ".".join(key.path[len(inside) :])
            yield Word(name, f"{name} = ", key.docs, column)


def _tables(prefix: tuple[str, ...], column: int) -> Iterator[Word]:
    tables = {key.path[:-1] for key in KEYS if len(key.path) > 1}
    tables |= {key.path for key in KEYS if isinstance(key.default, dict) or key.name == "logical-axes"}
    for path in [*([()] if prefix else []), *sorted(tables)]:
        name = ".".join((*prefix, *path))
        yield Word(name, name, "a table of shardlint's configuration", column)


def _values(key: Key, before: str, column: int) -> Iterator[Word]:
    """Yield what a string in the value of a key may be."""
    named = re.search(r"=\s*[\"']$", before[: column - 1]) is not None and "{" in before
    if key.kind is SEVERITY and (named or re.match(r"\s*[\"']?SHL\w*[\"']?\s*=", before)):
        yield from (Word(word, word, "", column) for word in ("warning", "info"))
    elif key.kind in (SELECTORS, SEVERITY, PER_FILE):
        yield from _rules(column)
        for group in ("ALL", *sorted({str(rule.group) for rule in known_rules()})):
            yield Word(
                group, group, "every rule" if group == "ALL" else "a group of rules", column, _NEAR + 1
            )
