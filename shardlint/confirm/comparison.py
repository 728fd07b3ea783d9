"""Set what a fixture announces beside what the analyzer reports and what JAX does."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.confirm.expectations import Expectation
from shardlint.confirm.fixtures import FixtureRun, Lines, UnitRun
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Finding, Severity
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One place where the fixture, the analyzer and JAX do not say the same; ``unit`` is where it ran."""

    message: str
    line: int
    cell: int | None = None
    unit: str | None = None


def compare(
    run: FixtureRun, expectations: Sequence[Expectation], findings: Sequence[Finding]
) -> list[Disagreement]:
    """Return every disagreement, in reading order; an empty list is the fixture's success."""
    found = []
    if run.problem is not None:
        found.append(Disagreement(run.problem, 1))
    found += _static(expectations, findings)
    for unit in run.units:
        found += _unit(unit, run, expectations, findings)
    for expectation in expectations:
        found += _unmet(expectation, run)
    return sorted(found, key=lambda d: (-1 if d.cell is None else d.cell, d.line))


def _static(expectations: Sequence[Expectation], findings: Sequence[Finding]) -> list[Disagreement]:
    """Expectations without a finding, and findings that nothing announces (info need not be)."""
    found = []
    for expectation in expectations:
        reported = {f.code for f in findings if _stands_at(f, expectation)}
        found += [
            Disagreement(f"{code} is expected here, and not reported", expectation.line, expectation.cell)
            for code in expectation.codes
            if code not in reported
        ]
    for finding in findings:
        announced = any(finding.code in e.codes and _stands_at(finding, e) for e in expectations)
        if not (announced or finding.expected or finding.severity is Severity.INFO):
            said = f"{finding.code} is reported, and nothing announces it: {finding.message}"
            found.append(Disagreement(said, finding.span.line, finding.span.cell))
    return found


def _unit(
    unit: UnitRun, run: FixtureRun, expectations: Sequence[Expectation], findings: Sequence[Finding]
) -> list[Disagreement]:
    """What is wrong with how one unit ran: it did not, or it raised what nothing announces."""
    place = unit.place

    def disagreement(message: str, line: int) -> Disagreement:
        return Disagreement(message, line, place.cell, unit.name)

    if not unit.ran:
        return [disagreement(f"{unit.name} did not run", place.line)]
    if unit.exception is None:
        return []
    raised = f"{unit.exception}: {unit.message}" if unit.message else unit.exception
    line = next((f.line for f in reversed(unit.frames) if f.cell == place.cell), place.line)
    mine = [e for e in expectations if _concerns(e, unit, run)]
    announced = [e for e in mine if e.codes and not e.silent]
    found = [
        disagreement(f"JAX is expected to accept this, and raises {raised}", e.line)
        for e in mine
        if e.silent and _home(e, run) is unit
    ]
    if not announced:
        return [*found, disagreement(f"JAX raises {raised}, and nothing announces it", line)]
    verdicts = [
        f.use.verdict
        for f in findings
        if f.use is not None and any(f.code in e.codes and _stands_at(f, e) for e in announced)
    ]
    classes = {verdict.exception for verdict in verdicts if isinstance(verdict, Rejected)}
    if classes and classes.isdisjoint((unit.exception, *unit.bases)):
        found.append(
            disagreement(f"JAX raises {raised}; the finding says {', '.join(sorted(classes))}", line)
        )
    return found


def _unmet(expectation: Expectation, run: FixtureRun) -> list[Disagreement]:
    """An announced exception, or a line marked as raising, that never was."""
    home = _home(expectation, run)
    if expectation.silent or home is None or not home.ran:
        return []
    raising = [unit for unit in run.units if unit.exception and _concerns(expectation, unit, run)]
    if expectation.raises:
        at = (expectation.cell, expectation.line)
        if not any(frame.holds(*at) for unit in raising for frame in unit.frames):
            return [Disagreement("nothing raises here", expectation.line, expectation.cell, home.name)]
    elif not raising:
        codes = ", ".join(expectation.codes)
        said = f"{codes} is expected to raise, and JAX accepts it"
        return [Disagreement(said, expectation.line, expectation.cell, home.name)]
    return []


def _stands_at(finding: Finding, expectation: Expectation) -> bool:
    span = finding.span
    return Lines(span.cell, span.line, span.end_line).holds(expectation.cell, expectation.line)


def _home(expectation: Expectation, run: FixtureRun) -> UnitRun | None:
    """The unit whose text holds the expectation: the smallest, since the top level spans its cases."""
    holding = [u for u in run.units if u.place.holds(expectation.cell, expectation.line)]
    return min(holding, key=lambda u: u.place.end_line - u.place.line, default=None)


def _concerns(expectation: Expectation, unit: UnitRun, run: FixtureRun) -> bool:
    """Whether the expectation stands in the unit, or in a helper the unit was raising through."""
    if _home(expectation, run) is unit:
        return True
    helper = [s for s in run.statements if s.holds(expectation.cell, expectation.line)]
    return any(s.holds(frame.cell, frame.line) for s in helper for frame in unit.frames)
