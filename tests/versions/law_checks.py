"""The laws beside what was measured of releases: verdict, class, stage and result, without asking JAX."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matrix_law
import release_files
from questions import Question, families

from shardlint.laws.versions import Release

KNOWN = Path(__file__).parent / "known_differences.json"
#: What is wrong where a law says more than JAX does, or less, and what is no matter of verdicts.
FALSE_ERROR, MISS = "JAX accepts", "JAX rejects"


class Disagreement(NamedTuple):
    """A law that says otherwise than a release did."""

    kind: str
    group: str
    question: str
    answer: str
    law: str


class Checked(NamedTuple):
    """The figures of a release by family, and the disagreements."""

    figures: dict[str, Counter[str]]
    wrong: list[Disagreement]


def check(release: str) -> Checked:
    """Set the laws beside a release's file."""
    stored = release_files.read(release)
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[Disagreement] = []
    for family, question, answer in _answered(stored):
        tally = figures[family]
        if answer.startswith("- "):
            tally["not there"] += 1
            continue
        tally["asked"] += 1
        tally["JAX rejected"] += not answer.startswith("ok")
        problem = question.judge(answer, Release.parse(release))
        kind = problem[0] if problem else "agree"
        tally[kind] += 1
        if kind == "undecided" and not answer.startswith("ok"):
            tally["undecided of rejected"] += 1
        if problem and kind not in ("undecided", "not asked here"):
            wrong.append(Disagreement(kind, question.group, question.text, answer, problem[1]))
    return Checked(figures, wrong)


def _answered(stored: dict) -> Iterator[tuple[str, Question, str]]:
    for question, answer in matrix_law.answered(stored.get("matrix", {})):
        yield "matrix", question, answer
    for family, make in families().items():
        groups = stored.get(family) or {}
        asked: dict[str, list[Question]] = defaultdict(list)
        for question in make() if groups else ():
            asked[question.group].append(question)
        for group, questions in asked.items():
            held = groups.get(group)
            if held is None or held["questions"] != release_files.digest(
                [question.text for question in questions]
            ):
                print(f"  {family}, {group}: other questions than were asked; measure again")
                continue
            yield from ((family, one, said) for one, said in zip(questions, held["answers"], strict=True))


def run(releases: list[str], examples: int) -> int:
    """Print the figures and disagreements of releases; 1 if there are more than are known."""
    known = json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}
    failed = False
    for release in releases:
        print(f"JAX {release}")
        checked = check(release)
        for family, tally in checked.figures.items():
            print(f"  {family}: " + ", ".join(f"{n} {name}" for name, n in tally.most_common()))
        kinds = Counter(one.kind for one in checked.wrong)
        print(f"  {len(checked.wrong)} disagree: {dict(kinds)}")
        print_disagreements(checked.wrong, examples)
        allowed = known.get(release, {})
        over = {kind: count for kind, count in kinds.items() if count > allowed.get(kind, 0)}
        if over:
            print(f"  MORE THAN KNOWN: {over}, known are {allowed}")
            failed = True
    return failed


def _short(answer: str) -> str:
    return "accepts" if answer.startswith("ok") else answer.partition(" =")[0]


def _short_law(law: str) -> str:
    """Return a verdict without what only tells cases apart."""
    rejected = re.match(r"Rejected\(cause=<Cause\.(\w+).*?exception='(\w+)', stage='([^']*)'", law)
    if rejected:
        return f"{rejected[2]} @{rejected[3]}, Cause.{rejected[1]}"
    return "accepts" if law.startswith("Accepted") else "another result"


def print_disagreements(wrong: list[Disagreement], examples: int) -> None:
    """Print disagreements by kind, group and what both say, the most frequent first."""
    groups: dict[tuple[str, str, str], list[Disagreement]] = defaultdict(list)
    for one in wrong:
        groups[one.kind, one.group, f"JAX {_short(one.answer)}; law {_short_law(one.law)}"].append(one)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]), item[0]))
    for (kind, group, both), members in ordered:
        print(f"    {len(members)} x {kind}: {group}: {both}")
        for one in members[:examples]:
            print(f"        {one.question}")
