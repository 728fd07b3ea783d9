"""The compiled programs as one HTML page. It loads nothing from other sites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shardlint.cost.values import Collective, Compilation, Memory, Place, Program
from shardlint.output.cost import words
from shardlint.output.cost.text import LineText
from shardlint.output.report.style import CSS, JS
from shardlint.output.report.svg import Segment, bar
from shardlint.support.media import html
from shardlint.support.sizes import size_text

_HEADS = (
    ("line", "text"), ("collective", "text"), ("mesh axes", "text"), ("bytes", "number"), ("times", "number"),
    ("in all", "number"), ("operation", "text"),
)  # fmt: skip


def render(compilations: Sequence[Compilation], line_text: LineText) -> str:
    """Return the page."""
    body = "".join(part for one in compilations for part in _fixture(one, line_text))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>What it compiles to</title><style>{CSS}</style></head>\n"
        f"<body><h1>What it compiles to</h1>{body}<p class=small>{html(words.compiled_for(compilations))}</p>"
        f"<script>{JS}</script></body></html>\n"
    )


def _fixture(compilation: Compilation, line_text: LineText) -> Iterator[str]:
    yield f"<h2>{html(compilation.path)}</h2><p class=small>{html(words.sent_text(compilation))}</p>"
    most = max((one.memory.peak for one in compilation.programs if one.memory is not None), default=0)
    for failure in compilation.failures:
        yield f"<p><span class=bad>error</span> {html(failure)}</p>"
    if most:
        yield '<h3>Memory on each device</h3><div class="card bars">'
        for program in compilation.programs:
            if program.memory is not None:
                yield _memory(program, program.memory, most, words.fits_text(program, compilation))
        yield "</div>"
    for program in compilation.programs:
        if program.collectives:
            yield from _program(program, line_text)


def _memory(program: Program, memory: Memory, most: int, fits: str) -> str:
    # What arguments and results share is drawn as arguments.
    results = memory.peak - memory.arguments - memory.temporaries
    segments = [
        Segment("arguments", memory.arguments),
        Segment("results", results),
        Segment("temporaries", memory.temporaries),
    ]
    largest = "<br>".join(html(line) for line in words.buffers_text(memory.buffers))
    return (
        f"<div class=row><div><b>{html(program.name)}</b>"
        f"<div class=small>{html(str(program.place or ''))}, {html(words.programs_text(program))}</div></div>"
        f"<div>{bar(segments, most)}<div class=small>{largest}</div></div>"
        f"<div><span class=big>{html(size_text(memory.peak))}</span> "
        f"<span class={'small' if fits.startswith('fits') else 'bad'}>{html(fits)}</span></div></div>"
    )


def _program(program: Program, line_text: LineText) -> Iterator[str]:
    heads = "".join(
        f"<th data-key={kind}{' class=n' if kind == 'number' else ''}>{text}</th>" for text, kind in _HEADS
    )
    most = words.longest(program)
    rows = "".join(
        _row(place, one, equal, most, line_text)
        for place, found in words.by_line(program)
        for one, equal in found
    )
    yield (
        f"<h3>{html(program.name)} <span class=small>{html(words.programs_text(program))}</span></h3>"
        '<div><input type=search placeholder="Filter" aria-label="Filter collectives">'
        f'<div class="card scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        "</div>"
    )


def _row(place: Place | None, one: Collective, equal: int, most: int, line_text: LineText) -> str:
    code = "" if place is None else line_text(place).strip()
    total = one.total * equal
    count = -1 if one.count is None else one.count * equal
    drawn = bar([Segment(one.kind.value, total)], most)
    return (
        f"<tr><td><span class=name>{html(str(place or ''))}</span><span class=small><code>{html(code)}</code>"
        f"</span></td><td>{one.kind.value}<span class=small><code>{html(one.shape)}</code></span></td>"
        f"<td>{html(words.axes_text(one))}</td><td class=n data-sort={one.bytes}>{size_text(one.bytes)}</td>"
        f"<td class=n data-sort={count}>{'a loop' if count < 0 else count}</td>"
        f"<td class=n data-sort={total}>{size_text(total)}{drawn}</td>"
        f"<td class=mono>{html(words.op_text(one.op))}"
        f"<span class=small>{html(words.layouts_text(one))}</span></td></tr>"
    )
