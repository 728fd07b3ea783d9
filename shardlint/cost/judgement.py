"""Findings about what a fixture compiles to: not announced, over budget, too large for a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.cost.expectations import Expectation, Unreadable, parse_expectations
from shardlint.cost.values import Collective, Compilation, Kind, Part, Place, Program
from shardlint.model.findings import Confirmation, Finding, ordered
from shardlint.model.spans import Span
from shardlint.model.uses import FileProblem
from shardlint.source import Source
from shardlint.source.file_problems import finding_of
from shardlint.source.lexing import lines_of
from shardlint.source.logical_lines import Statements, statements
from shardlint.support.lazy_dataclass import dataclass
from shardlint.support.sizes import size_text

_RESHARDS = (Kind.ALL_GATHER, Kind.ALL_TO_ALL, Kind.COLLECTIVE_PERMUTE)


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes in bytes from which something is a finding; None where nothing is.

    ``hbm`` is the memory of a device, ``sent`` what each sends in one run of a program, ``reshard`` a
    collective that only lays an array out anew, ``weight`` a weight that is gathered whole.
    """

    hbm: int | None = None
    sent: int | None = None
    reshard: int | None = None
    weight: int | None = None


def judge(compilation: Compilation, source: Source, budget: Budget) -> list[Finding]:
    """Return the findings about what a fixture compiles to, in reading order; of one kind and place, one."""
    found: dict[tuple[str, Span], Finding] = {}
    for one in _Judge(compilation, source, budget).findings():
        before = found.get((one.code, one.span))
        if before is not None and one.message not in before.message.split("; "):
            one = replace(before, message=f"{before.message}; {one.message}")
        found[one.code, one.span] = one
    return ordered(found.values())


class _Judge:
    def __init__(self, compilation: Compilation, source: Source, budget: Budget) -> None:
        backend = "cpu" if compilation.slice is None else "tpu"
        self._compilation, self._source, self._budget = compilation, source, budget
        self._lines: dict[int | None, Statements] = {c.index: statements(c.text) for c in source.cells}
        self._texts = {cell.index: lines_of(cell.written) for cell in source.cells}
        read = [one for cell in source.cells for one in parse_expectations(cell.written, cell.index)]
        self._unreadable = [one for one in read if isinstance(one, Unreadable)]
        self._expected = [
            one for one in read if isinstance(one, Expectation) and one.backend in (None, backend)
        ]
        # One for another backend still says that its part is announced.
        self._places = [(one.cell, one.line) for one in read if isinstance(one, Expectation)]

    def findings(self) -> Iterator[Finding]:
        for unreadable in self._unreadable:
            place = Place(self._source.path, unreadable.line, unreadable.cell)
            yield self._finding("collective-unreadable", unreadable.reason, place)
        announced = {part.name for part in self._compilation.parts if self._announces(part)}
        announced |= {program.case for program in self._compilation.programs if self._is_announced(program)}
        met: set[Expectation] = set()
        for program in self._compilation.programs:
            for one in program.collectives:
                ours = [e for e in self._expected if self._covers(e, one, program)]
                meant = [e for e in ours if e.means(one)]
                met.update(meant)
                yield from self._about(one, program, ours, meant, program.case in announced)
            yield from self._totals(program)
        # What did not run may have been what they announce.
        for expectation in () if self._compilation.failures else self._expected:
            if expectation.kind is not None and expectation not in met:
                place = Place(self._source.path, expectation.line, expectation.cell)
                message = f"`{expectation.written}` is announced here, and no such collective runs"
                yield self._finding("collective-gone", message, place)

    def _about(
        self,
        one: Collective,
        program: Program,
        ours: Sequence[Expectation],
        meant: Sequence[Expectation],
        announced: bool,
    ) -> Iterator[Finding]:
        place = one.place or program.place
        if place is None:
            return
        said = f"{_article(one)} of {size_text(one.bytes)}{_times(one)} in `{program.name}`"
        if meant and not any(e.allows(one) for e in meant):
            bound = size_text(meant[0].most or 0)
            yield self._finding("collective-over-budget", f"{said} is not within {bound}", place)
        if meant:
            return
        if announced or any(e.kind is None for e in ours):
            none = any(e.kind is None for e in ours)
            why = "no collectives are announced here" if none else "nothing announces it"
            yield self._finding("unannounced-collective", f"{said}: {why}", place)
        elif one.weight and self._budget.weight is not None and one.result >= self._budget.weight:
            message = f"{said} puts `{one.weight}` whole on every device ({size_text(one.result)})"
            yield self._finding("weight-gathered-whole", message, place)
        elif one.kind in _RESHARDS and self._budget.reshard is not None and one.bytes > self._budget.reshard:
            message = f"{said} only lays an array out anew; at most {size_text(self._budget.reshard)} may"
            yield self._finding("large-reshard", message, place)

    def _totals(self, program: Program) -> Iterator[Finding]:
        sent, memory = sum(one.total for one in program.collectives), program.memory
        if program.place is None:
            return
        if self._budget.sent is not None and sent > self._budget.sent:
            message = f"each device sends {size_text(sent)} in `{program.name}`, over the budget of "
            message += size_text(self._budget.sent)
            yield self._finding("collective-over-budget", message, program.place)
        if self._budget.hbm is not None and memory is not None and memory.peak > self._budget.hbm:
            over = size_text(memory.peak - self._budget.hbm)
            message = f"`{program.name}` needs {size_text(memory.peak)} on each device, {over} more than the "
            message += f"{size_text(self._budget.hbm)} that it has"
            yield self._finding("over-device-memory", message, program.place)

    def _is_announced(self, program: Program) -> bool:
        """Return whether any collective of a program is announced."""
        return any(
            e.means(one) and self._covers(e, one, program)
            for one in program.collectives
            for e in self._expected
        )

    def _announces(self, part: Part) -> bool:
        """Return whether a part of the fixture announces collectives on its own lines."""
        return any(
            cell == part.cell and part.first <= line <= part.last
            for cell, line in self._places
            if part.name.startswith(("case_", "cell ")) or self._owner(line) == part.name
        )

    def _owner(self, line: int) -> str:
        """Return the innermost part of a program that has a line."""
        holding = [p for p in self._compilation.parts if p.cell is None and p.first <= line <= p.last]
        return min(holding, key=lambda part: part.last - part.first).name if holding else ""

    def _covers(self, expectation: Expectation, one: Collective, program: Program) -> bool:
        """Return whether an announcement speaks of a collective's line, its case, or its function."""
        if expectation.cell not in self._lines:
            return False
        around = self._lines[expectation.cell].around
        at = around(expectation.line)
        part = next((p for p in self._compilation.parts if p.name == program.case), None)
        heads = [] if part is None else [Place(self._source.path, self._head(part), part.cell)]
        return any(
            place is not None
            and (place.path, place.cell) == (self._source.path, expectation.cell)
            and around(place.line) == at
            for place in (one.place, program.place if self._is_definition(program) else None, *heads)
        )

    def _head(self, part: Part) -> int:
        """Return the line of a case's ``def``, behind its decorators; 0 for any other part."""
        lines = self._texts.get(part.cell, [])[: part.last] if part.name.startswith("case_") else []
        numbered = enumerate(lines[part.first - 1 :], part.first)
        return next((number for number, line in numbered if line.startswith(("def ", "async def "))), 0)

    def _is_definition(self, program: Program) -> bool:
        place = program.place
        lines = self._texts.get(place.cell, []) if place is not None else []
        text = lines[place.line - 1] if place is not None and place.line <= len(lines) else ""
        return text.lstrip().startswith(("def ", "async def ", "@"))

    def _finding(self, kind: str, message: str, place: Place) -> Finding:
        lines = self._texts.get(place.cell, []) if place.path == self._source.path else []
        text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
        start = len(text) - len(text.lstrip()) + 1
        span = Span(place.path, place.line, start, place.line, max(len(text.rstrip()) + 1, start), place.cell)
        finding = finding_of(FileProblem(kind, message, span))
        by = f"JAX {self._compilation.jax}"
        return replace(finding, confirmation=Confirmation.CONFIRMED, confirmed_by=by)


def _article(one: Collective) -> str:
    over = " and ".join(f'"{axis}"' for axis in one.axes) or f"{one.ways} devices"
    article = "an" if one.kind.value.startswith("all") else "a"
    return f"{article} {one.kind.value} over {over}"


def _times(one: Collective) -> str:
    return " in a loop" if one.count is None else f", {one.count} times," if one.count > 1 else ""
