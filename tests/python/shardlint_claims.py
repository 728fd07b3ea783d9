"""What shardlint claims of a program, beside what is so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from cpython_oracle import Ended

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Severity

_SIZE = re.compile(r"has size (-?\d+)")


@dataclass(frozen=True)
class Judged:
    """A program and how shardlint does on it.

    Attributes:
        false: errors where JAX has nothing to reject.
        at: the probes and ways of the ends where something is bad.
        wrong: errors that are true, of a size that is not so.
        crashed: its own crash, as it reports it.
        rejected: whether JAX rejects anything.
        found: whether it says so.
    """

    at: frozenset[tuple[int, str]] = frozenset()
    false: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    crashed: tuple[str, ...] = ()
    rejected: bool = False
    found: bool = False

    @property
    def bad(self) -> tuple[str, ...]:
        """What must not be."""
        return self.false + self.wrong + self.crashed


@cache
def _linter() -> Linter:
    return Linter(Settings(devices=8))


def judged(program: Ended) -> Judged:
    """Check a program in this process, and compare."""
    ends = {end.line: end for end in program.ends}
    false, wrong, crashed, found = [], [], [], False
    at = set()
    for finding in _linter().check_source(source_from_text("program.py", program.text)):
        told = f"{finding.code} line {finding.span.line}: {finding.message}"
        if finding.code.startswith("SHL0"):
            crashed.append(told)
        if finding.severity is not Severity.ERROR:
            continue
        end = ends.get(finding.span.line)
        if end is None or end.accepted:
            at.add((end.probe, end.way) if end else (0, "no end"))
            false.append(told)
            continue
        found = True
        said = _SIZE.search(finding.message)
        several = "possible values" in finding.message
        if end.size is not None and said is not None and not several and int(said[1]) != end.size:
            at.add((end.probe, end.way))
            wrong.append(f"{told} (it is {end.size})")
    rejected = any(not end.accepted for end in program.ends)
    return Judged(frozenset(at), tuple(false), tuple(wrong), tuple(crashed), rejected, found)
