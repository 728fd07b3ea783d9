"""What changed between two measured releases: a table of behaviour, and rows that the laws lack."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import release_files

from shardlint.laws.versions import Release, state_of

#: How many changes of results, which are digests of a sort, are written of one group.
SHOWN = 6


class Change(NamedTuple):
    """A question that two releases answer otherwise."""

    section: str
    group: str
    number: int | str
    before: str
    after: str


def changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """Yield what both releases were asked and answer otherwise."""
    for group, cells in new.get("matrix", {}).items():
        before = old.get("matrix", {}).get(group, {})
        for mistake, said in cells.items():
            if mistake in before and _without_message(before[mistake]) != _without_message(said):
                yield Change(
                    "matrix", group, mistake, _without_message(before[mistake]), _without_message(said)
                )
    for family in release_files.FAMILIES:
        for group, held in new.get(family, {}).items():
            other = old.get(family, {}).get(group)
            if other is None or other["questions"] != held["questions"]:
                continue
            for number, (one, two) in enumerate(zip(other["answers"], held["answers"], strict=True)):
                if one != two:
                    yield Change(family, group, number, one, two)
    for name, said in new.get("pages", {}).items():
        before = old.get("pages", {}).get(name, said)
        if _class(before) != _class(said):
            yield Change("pages", name, "", _class(before), _class(said))


def _without_message(said: str) -> str:
    return said.partition(" #")[0]


def _class(said: str | None) -> str:
    return said.partition(":")[0] if said else "runs"


def _kind(said: str) -> str:
    """Return an answer without what only tells cases apart: results, and the digest of operands."""
    said = said.partition(" =")[0]
    return "accepted" if said.startswith("ok") else said


def report(old: str, new: str) -> list[str]:
    """Return the lines of the comparison of two stored releases."""
    before, after = release_files.read(old), release_files.read(new)
    lines = [f"JAX {old} -> {new}", "", "Behaviour (section: API|mode: before -> after, cases)"]
    counted: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], list[Change]] = defaultdict(list)
    for change in changes(before, after):
        one, two = _kind(change.before), _kind(change.after)
        words = f"{one} -> {two}" if one != two else "another result"
        if change.section == "propagation" and _operand_digest(change.before) != _operand_digest(
            change.after
        ):
            words += " (of operands of another type)"
        key = (change.section, change.group, words)
        counted[key] += 1
        examples[key].append(change)
    for key in sorted(counted, key=lambda key: (release_files.SECTIONS.index(key[0]), key[1], -counted[key])):
        section, group, words = key
        shown = "; ".join(str(change.number) for change in examples[key][:SHOWN])
        lines.append(
            f"  {section}: {group}: {words}, {counted[key]}" + (f" ({shown})" if section == "matrix" else "")
        )
    lines += ["", f"Rows of api_changes that are lacking ({new} is where the change was seen)"]
    lines += [f"    {row}" for row in name_rows(before, after, new)] or ["    none"]
    lines += ["", "Candidates for law_changes (what the laws know already is not told apart)"]
    lines += [f"    {row}" for row in law_rows(before, after, new)] or ["    none"]
    return lines


def _operand_digest(said: str) -> str:
    return said.partition(" =")[2]


def name_rows(old: dict[str, Any], new: dict[str, Any], release: str) -> Iterator[str]:
    """Yield rows in the style of `api_changes`, of what the table does not know."""
    events: dict[str, list[str]] = {"added": [], "removed": [], "deprecated": []}
    at = Release.parse(release)
    for event, subject in _events(old.get("names", {}), new.get("names", {})):
        state = state_of(subject, at)
        known = (
            state is not None
            and {
                "added": state.there,
                "removed": not state.there,
                "deprecated": state.deprecated,
            }[event]
        )
        if not known:
            events[event].append(subject)
    for event, subjects in events.items():
        holders: dict[str, list[str]] = defaultdict(list)
        for subject in subjects:
            holder = subject.partition("(")[0].rpartition(".")[0]
            holders[holder].append(subject)
        for names in holders.values():
            words = ", ".join(f'"{name}"' for name in names)
            instead = "" if event == "added" else '"", '
            yield f'*{event}("{at}", {instead}"", {words}),'


def _events(old: dict[str, dict[str, str]], new: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what became of names and of their arguments, in modules that both have or one lacks."""
    for module in sorted({*old, *new}):
        before, after = old.get(module), new.get(module)
        if before is None or after is None:
            yield ("added" if before is None else "removed"), module
            continue
        for name in sorted({*before, *after}):
            one, two = before.get(name), after.get(name)
            subject = f"{module}.{name}"
            if (one is None or _raises(one)) and two is not None and not _raises(two):
                yield "added", subject
            elif one is not None and not _raises(one) and (two is None or _raises(two)):
                yield "removed", subject
            elif one is not None and two is not None and not _raises(two):
                if two.startswith("!") and not one.startswith("!"):
                    yield "deprecated", subject
                yield from _argument_events(subject, one, two)


def _raises(signature: str) -> bool:
    return bool(re.fullmatch(r"!\w+", signature))


def _argument_events(subject: str, one: str, two: str) -> Iterator[tuple[str, str]]:
    before, after = arguments(one), arguments(two)
    if before is None or after is None:
        return
    if not any(name.startswith("**") for name in before):
        yield from (("added", f"{subject}({name}=)") for name in sorted(after - before) if name[0].isalpha())
    if not any(name.startswith("**") for name in after):
        yield from (
            ("removed", f"{subject}({name}=)") for name in sorted(before - after) if name[0].isalpha()
        )


def arguments(signature: str) -> frozenset[str] | None:
    """Return the names of the parameters in a signature of `surface`; None where it tells none."""
    text = signature.lstrip("!")
    if not text.startswith("(") or text == "(?)":
        return None
    names = (part.strip().rstrip("=*") for part in text[1:-1].split(","))
    return frozenset(name for name in names if name and not name.endswith("/") and name != "self")


def law_rows(old: dict[str, Any], new: dict[str, Any], release: str) -> Iterator[str]:
    """Yield candidates for rows of `law_changes`, by cause as today's law has it, of placements."""
    from questions import placements

    from shardlint.laws.versions.releases import NEWEST

    asked: dict[str, list[Any]] = defaultdict(list)
    for question in placements():
        asked[question.group].append(question)
    found: Counter[tuple[str, str, str, str]] = Counter()
    for change in changes(old, new):
        if change.section != "placements" or "- " in (change.before[:2], change.after[:2]):
            continue
        question = asked[change.group][int(change.number)]
        one, two = (_kind(said).partition(" @")[0] for said in (change.before, change.after))
        if one != two:
            found[_cause(question, NEWEST), change.group.partition("|")[0], one, two] += 1
    rows: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (cause, api, one, two), count in sorted(found.items()):
        rows[cause, one, two].append(f"{api} ({count})")
    for (cause, one, two), apis in rows.items():
        yield f'_row(since="{release}", {cause}, newest="{two}", before="{one}"),  # {", ".join(apis)}'


def _cause(question: Any, release: Release) -> str:
    """Return the cause in the law's verdict, which a comparison with what is never said brings out."""
    told = question.judge("ok", release) or question.judge("Never @never", release)
    match = re.search(r"cause=<Cause\.(\w+)", told[1]) if told else None
    return f"Cause.{match[1]}" if match else "None"
