"""Set what JAX says of a finding's witness beside what it does with the whole program.

usage: python tests/confirm/whole_programs.py [PATH...]

Runs each program (by default the fixtures, and what the rules' pages show) as it stands, and prints where a
witness was weaker, or stronger, than the program: an error is confirmed and nothing raises, or JAX accepts
the witness and the program raises there. Exits 1 if there is any.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.checking import check

from shardlint.confirm.confirmer import Confirmer
from shardlint.confirm.fixtures.runs import FixtureRun, UnitRun, run_fixture
from shardlint.model.findings import Confirmation, Finding, Severity
from shardlint.model.spans import Span
from shardlint.rules import all_rules

ROOT = Path(__file__).parents[2]


def disagreements(confirmer: Confirmer, text: str, counts: Counter[str]) -> Iterator[str]:
    """Confirm the findings of a program, run it, and say where the two differ."""
    found = check(text)
    findings = confirmer.confirm([finding for finding in found if finding.use is not None])
    counts.update(str(finding.confirmation) for finding in findings)
    if not findings:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(text, encoding="utf-8")
        run = run_fixture(path, watched=True)
    counts["programs"] += 1
    for finding in findings:
        said = disagreement(finding, run)
        if said is not None:
            yield f"{finding.code} in line {finding.span.line}: {said}"


def disagreement(finding: Finding, run: FixtureRun) -> str | None:
    """Compare one finding with the run; None where they agree, or where the run never came there."""
    raised = [unit for unit in run.units if unit.exception and _ends_in(unit, finding)]
    jax = f"{finding.confirmed_by} ({finding.confirmation})"
    if finding.confirmation not in (Confirmation.CONFIRMED, Confirmation.REFUTED):
        return None
    accepted = finding.confirmed_by is not None and ": accepted" in finding.confirmed_by
    if accepted and raised:
        return f"{jax}, and the program raises {raised[0].exception} there"
    claimed = finding.severity is Severity.ERROR and finding.confirmation is Confirmation.CONFIRMED
    if claimed and not finding.expected and _passed(finding, run):
        return f"{jax}, and the program runs"
    return None


def _ends_in(unit: UnitRun, finding: Finding) -> bool:
    """Whether the last line of the program that an exception came through is the finding's."""
    span = finding.span
    return unit.line is not None and span.line <= unit.line <= (span.end_line or span.line)


def _passed(finding: Finding, run: FixtureRun) -> bool:
    """Whether the place that a finding judges was evaluated, and no unit that did so raised.

    In a helper or in the body of a transform, an instruction that lies within the place is what counts: the
    line also runs where the function is only defined.
    """
    reached = [unit for unit in run.units if unit.ran and _evaluates(unit, finding)]
    return bool(reached) and all(unit.exception is None for unit in reached)


def _evaluates(unit: UnitRun, finding: Finding) -> bool:
    place = finding.span if finding.use is None else finding.use.place.resolve()
    path, cell = finding.span.path, finding.span.cell
    return any(
        Span(path, line, column + 1, end_line, end_column + 1, cell) in place
        for _, line, end_line, column, end_column in unit.evaluated
    )


def programs(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Programs by their names: those of the paths, or the fixtures and the bad programs of the rules."""
    for path in paths or sorted((ROOT / "fixtures").rglob("*.py")):
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        yield from ((str(file), file.read_text(encoding="utf-8")) for file in files)
    if not paths:
        yield from ((f"{rule.code}, bad", rule.bad) for rule in all_rules() if rule.bad)
        yield from ((f"{rule.code}, good", rule.good) for rule in all_rules() if rule.good)


def main(arguments: list[str]) -> int:
    """Compare all programs, and return how the process is to exit."""
    counts: Counter[str] = Counter()
    with Confirmer() as confirmer:
        for name, text in programs([Path(argument) for argument in arguments]):
            for said in disagreements(confirmer, text, counts):
                counts["disagreements"] += 1
                print(f"{name}: {said}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["disagreements"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
