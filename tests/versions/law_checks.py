"""The laws beside what was measured of releases: verdict, class, stage and result, without asking JAX."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import different_causes
import matrix_law
import release_files
from questions import Question, families

from shardlint.laws.versions import Release
from shardlint.laws.versions.era import assuming

KNOWN = Path(__file__).parent / "known_differences.json"
#: What is wrong where a law says more than JAX does, or less, and what is no matter of verdicts.
FALSE_ERROR, MISS = "JAX accepts", "JAX rejects"
KINDS = (FALSE_ERROR, MISS, "another exception", "another stage", "another result")
#: What nothing is said of, though JAX rejects it.
OPEN = "undecided where JAX rejects"


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
    causes: Counter[str]


def check(release: str) -> Checked:
    """Set the laws beside a release's file."""
    stored = release_files.read(release)
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[Disagreement] = []
    causes: Counter[str] = Counter()
    for family, question, answer in _answered(stored):
        tally = figures[family]
        if answer.startswith("- "):
            tally["not there"] += 1
            continue
        tally["asked"] += 1
        tally["JAX rejected"] += not answer.startswith("ok")
        with assuming(Release.parse(release)):
            problem = question.judge(answer, Release.parse(release))
        kind = problem[0] if problem else "agree"
        tally[kind] += 1
        if kind == "undecided" and not answer.startswith("ok"):
            tally["undecided of rejected"] += 1
            causes[f"{family}: {OPEN}: {different_causes.of_silence(problem[1] if problem else '')}"] += 1
        if problem and kind not in ("undecided", "not asked here"):
            one = Disagreement(kind, question.group, question.text, answer, problem[1])
            wrong.append(one)
            causes[f"{family}: {kind}: {different_causes.of_difference(*one)}"] += 1
    return Checked(figures, wrong, causes)


def _answered(stored: dict) -> Iterator[tuple[str, Question, str]]:
    for question, answer in matrix_law.answered(stored.get("matrix", {})):
        yield "matrix", question, answer
    for family in release_files.FAMILIES:
        groups = stored.get(family) or {}
        for group, (digest, questions) in asked(family).items() if groups else ():
            held = groups.get(group)
            if held is None or held["questions"] != digest:
                raise SystemExit(f"{family}, {group}: other questions than were asked; measure again")
            yield from ((family, one, said) for one, said in zip(questions, held["answers"], strict=True))


@cache
def asked(family: str) -> dict[str, tuple[str, list[Question]]]:
    """Return a family's questions by group, with their digest."""
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in families()[family]():
        groups[question.group].append(question)
    return {
        group: (release_files.digest([question.text for question in questions]), questions)
        for group, questions in groups.items()
    }


def counts(checked: Checked) -> dict[str, int]:
    """Return how often what is wrong or open, by family, kind and cause."""
    return dict(sorted(checked.causes.items()))


def known() -> dict[str, dict[str, int]]:
    """Return what is known to be wrong, by release."""
    if not KNOWN.exists():
        return {}
    found: dict[str, dict[str, int]] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return found


def more_than_known(release: str, checked: Checked) -> dict[str, int]:
    """Return what is wrong more often than is known."""
    allowed = known().get(release, {})
    return {what: count for what, count in counts(checked).items() if count > allowed.get(what, 0)}


def accept(releases: list[str]) -> None:
    """Store what is wrong now as known."""
    found = {**known(), **{release: counts(check(release)) for release in releases}}
    KNOWN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def run(releases: list[str], examples: int) -> int:
    """Print the figures and disagreements of releases; 1 if there are more than are known."""
    failed = False
    for release in releases:
        print(f"JAX {release}")
        checked = check(release)
        for family, tally in checked.figures.items():
            print(f"  {family}: " + ", ".join(f"{n} {name}" for name, n in tally.most_common()))
        kinds = Counter(one.kind for one in checked.wrong)
        print(f"  {len(checked.wrong)} disagree: {dict(kinds)}")
        print_disagreements(checked.wrong, examples)
        if over := more_than_known(release, checked):
            print(f"  MORE THAN KNOWN: {over}")
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
