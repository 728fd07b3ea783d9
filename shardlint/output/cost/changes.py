"""Collectives and memory before and after a change: a table in Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shardlint.cost.values import Compilation
from shardlint.model.findings import Finding
from shardlint.output.cost.json import document
from shardlint.output.formats.concise import place_text
from shardlint.support.media import cell, code, drawn, markdown
from shardlint.support.sizes import size_text

#: A program, and a collective by kind, axes and operation, or the memory.
Row = tuple[str, str]
_HEAD = "| program | collective | before | now | change |\n|---|---|---:|---:|---:|\n"


def render(
    before: Mapping[str, Any], compilations: Sequence[Compilation], findings: Sequence[Finding]
) -> str:
    """Return the table, and the findings below it. Lines of code do not count: they move."""
    now = document(compilations)
    rows = "".join(_rows(_sizes(before), _sizes(now)))
    total = (_sent(before), _sent(now))
    summary = f"Each device sends {size_text(total[1])}"
    if total[0] != total[1]:
        summary += f"; it was {size_text(total[0])}: {_change(*total)}"
    told = "".join(
        f"- {code(place_text(one.span))} {one.severity} **{one.code}** {markdown(one.message)}\n"
        for one in findings
    )
    table = f"{_HEAD}{rows}" if rows else "No collective and no memory has changed.\n"
    # It is printed, too: in a log of a CI service.
    return drawn(f"### What it compiles to\n\n{summary}.\n\n{table}" + (f"\n{told}" if told else ""))


def _rows(before: Mapping[Row, int], now: Mapping[Row, int]) -> Iterator[str]:
    changed = [row for row in {**before, **now} if before.get(row, 0) != now.get(row, 0)]
    for row in sorted(changed, key=lambda row: (row[0], -abs(now.get(row, 0) - before.get(row, 0)), row[1])):
        was, is_ = before.get(row), now.get(row)
        cells = [
            cell(row[0], as_code=True),
            cell(row[1]),
            *("–" if n is None else size_text(n) for n in (was, is_)),
        ]
        yield f"| {' | '.join(cells)} | {_change(was or 0, is_ or 0)} |\n"


def _change(was: int, now: int) -> str:
    sign = "+" if now > was else "−"
    percent = f" ({sign}{abs(now - was) / was:.0%})" if was and now else ""
    return f"{sign}{size_text(abs(now - was))}{percent}"


def _sizes(saved: Mapping[str, Any]) -> dict[Row, int]:
    """Return the bytes of each program's collectives, and its peak of memory."""
    found: dict[Row, int] = {}
    for program in saved.get("programs", ()):
        memory = program.get("memory")
        if isinstance(memory, dict) and isinstance(memory.get("peak"), int):
            found[str(program.get("name")), "memory on each device"] = memory["peak"]
    for one in saved.get("collectives", ()):
        axes = ", ".join(map(str, one.get("axes") or ()))
        op = str(one.get("op")).rpartition("/")[2]
        row = str(one.get("program")), f"{one.get('kind')} {axes} ({op})"
        found[row] = found.get(row, 0) + _bytes(one)
    return found


def _sent(saved: Mapping[str, Any]) -> int:
    return sum(_bytes(one) for one in saved.get("collectives", ()))


def _bytes(one: Mapping[str, Any]) -> int:
    size, count = one.get("bytes"), one.get("count")
    return (size if isinstance(size, int) else 0) * (count if isinstance(count, int) else 1)
