"""The compiled programs for a terminal: for each program its lines, with their collectives as bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from shardlint.cost.values import Collective, Compilation, Place, Program
from shardlint.output.cost import words
from shardlint.output.terminal_styles import Styles
from shardlint.support.media import drawn, terminal
from shardlint.support.sizes import size_text

#: The text of a line of the user's, "" where it cannot be read.
LineText = Callable[[Place], str]
_BAR = 20
_CODE = 88


def render(compilations: Sequence[Compilation], line_text: LineText, styles: Styles) -> str:
    """Return the programs of all fixtures."""
    found = [line for one in compilations for line in _fixture(one, line_text, styles)]
    if any(one.programs for one in compilations):
        found += [styles.dim(words.compiled_for(compilations))]
    return drawn("".join(f"{line}\n" for line in found))


def _fixture(compilation: Compilation, line_text: LineText, styles: Styles) -> Iterator[str]:
    jax = f" · JAX {terminal(compilation.jax)}" if compilation.jax else ""
    yield styles.path(terminal(compilation.path)) + styles.dim(f"{jax} · {words.sent_text(compilation)}")
    yield ""
    for program in compilation.programs:
        yield from _program(program, compilation, line_text, styles)
        yield ""


def _program(
    program: Program, compilation: Compilation, line_text: LineText, styles: Styles
) -> Iterator[str]:
    where = "" if program.place is None else f"  {program.place}"
    yield f"  {styles.strong(terminal(program.name))}{terminal(where, begins=False)}" + styles.dim(
        f" · {terminal(words.programs_text(program), begins=False)}"
    )
    if (memory := program.memory) is not None:
        parts = (
            f"arguments {size_text(memory.arguments)}, results {size_text(memory.results)}, "
            f"temporaries {size_text(memory.temporaries)}"
        )
        fits = words.fits_text(program, compilation)
        fits = f"; {styles.good(fits) if fits.startswith('fits') else styles.error(fits)}" if fits else ""
        yield f"    each device holds {styles.strong(size_text(memory.peak))}: {parts}{fits}"
        for line in words.buffers_text(memory.buffers):
            yield styles.dim(f"      {terminal(line)}")
    if not program.collectives:
        yield f"    {styles.good('no collectives')}"
    most = words.longest(program)
    for place, found in words.by_line(program):
        yield f"    {_line(place, program, line_text, styles)}"
        for one, equal in found:
            lasts = words.duration_text(one.total * equal, compilation)
            yield f"      {_collective(one, equal, most, lasts, styles)}"


def _line(place: Place | None, program: Program, line_text: LineText, styles: Styles) -> str:
    if place is None:
        return styles.dim("at no line")
    same = program.place is not None and (place.path, place.cell) == (program.place.path, program.place.cell)
    shown = f"line {place.line}" if same else str(place)
    code = line_text(place).strip()
    code = code if len(code) <= _CODE else code[: _CODE - 1] + "…"
    return f"{styles.help(terminal(shown))}  {terminal(code, begins=False)}".rstrip()


def _collective(one: Collective, equal: int, most: int, lasts: str, styles: Styles) -> str:
    times = words.times_text(one, equal)
    bar = "█" * max(1, round(_BAR * one.total * equal / most)) if most else ""
    size = f"{size_text(one.bytes)} {times}".rstrip()
    axes = terminal(words.axes_text(one), begins=False)
    op = terminal(words.op_text(one.op), begins=False)
    if layouts := words.layouts_text(one):
        op += f" · {terminal(layouts, begins=False)}"
    told = (
        f"{styles.warning(bar)} {lasts} {styles.dim(op)}"
        if lasts
        else f"{styles.warning(bar)} {styles.dim(op)}"
    )
    return f"⇄ {one.kind.value:<18} {axes:<14} {size:<20} {told}"
