"""Words and orders that the formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from shardlint.cost.chips import seconds, time_text
from shardlint.cost.values import Buffer, Collective, Compilation, Place, Program
from shardlint.support.sizes import size_text

_CPU = (
    "Partitioned for fake CPU devices, as for GPUs and TPUs; memory is that of the CPU's compiler, which "
    "computes bf16 in f32."
)


def compiled_for(compilations: Sequence[Compilation]) -> str:
    """Return whose compiler answered, said once below each report."""
    slice_ = next((one.slice for one in compilations if one.slice is not None), None)
    if slice_ is None:
        return _CPU
    return (
        f"Compiled for {slice_.name} ({slice_.topology}). Times are estimates: bytes over both directions of "
        f"one link ({slice_.chip.link / 1e9:.0f} GB/s), without latency and without what overlaps."
    )


def fits_text(program: Program, compilation: Compilation) -> str:
    """Return whether a program fits a chip of its slice, "" where there is none."""
    if compilation.slice is None or program.memory is None:
        return ""
    chip = compilation.slice.chip
    left = chip.hbm - program.memory.peak
    if left >= 0:
        return f"fits {chip.name} ({size_text(chip.hbm)}, {size_text(left)} left)"
    return f"does not fit {chip.name} ({size_text(chip.hbm)}) by {size_text(-left)}"


def duration_text(sent: int, compilation: Compilation) -> str:
    """Return an estimate of how long each device sends this many bytes, "" for fake devices."""
    if compilation.slice is None or not sent:
        return ""
    return f"~{time_text(seconds(sent, compilation.slice.chip))}"


def programs_text(program: Program) -> str:
    """Return a program's devices and mesh: ``8 devices (data=2, model=4)``."""
    mesh = ", ".join(f"{name}={size}" for name, size in program.mesh)
    devices = f"{program.devices} device{'s' * (program.devices != 1)}"
    return f"{devices} ({mesh})" if mesh else devices


def by_line(program: Program) -> Iterator[tuple[Place | None, list[tuple[Collective, int]]]]:
    """Yield each line with its collectives, each with the number of equal ones there, in reading order."""
    lines: dict[Place | None, Counter[Collective]] = {}
    for one in program.collectives:
        lines.setdefault(one.place, Counter())[one] += 1
    for place in sorted(lines, key=_order):
        yield place, sorted(lines[place].items(), key=lambda item: -item[0].total * item[1])


def longest(program: Program) -> int:
    """Return the bytes that the longest bar of a program stands for."""
    return max((one.total * n for _, found in by_line(program) for one, n in found), default=0)


def _order(place: Place | None) -> tuple[str, int, int]:
    return (
        ("", -1, 0) if place is None else (place.path, -1 if place.cell is None else place.cell, place.line)
    )


def times_text(one: Collective, equal: int) -> str:
    """Return how often a collective runs: ``×6``, ``2 × 6``, ``in a loop``, or nothing."""
    if one.count is None:
        return "in a loop" if equal == 1 else f"{equal} in a loop"
    if equal == 1:
        return f"×{one.count}" if one.count != 1 else ""
    return f"×{equal}" if one.count == 1 else f"×{one.count}, {equal} of them"


def op_text(op: str) -> str:
    """Return the operation of an op in XLA's metadata: ``dot_general``, backward where it is a gradient."""
    name = op.rpartition("/")[2]
    return f"{name}, backward" if "transpose(jvp(" in op else name


def layouts_text(one: Collective) -> str:
    """Return the layout that a value had and the one asked for: ``P("data", None) → P(None, None)``."""
    if one.before is None:
        return ""
    return f"{one.before} → {'?' if one.after is None else one.after}"


def axes_text(one: Collective) -> str:
    """Return the mesh axes of a collective; where they are not known, the size of its groups."""
    return ", ".join(one.axes) or f"{one.ways} devices"


def buffers_text(buffers: Iterable[Buffer]) -> Iterator[str]:
    """Yield the largest buffers, equal ones as one."""
    for one, equal in Counter(buffers).items():
        name = f" {one.name}" if one.name else ""
        where = f", {one.place}" if one.place is not None else ""
        times = f" ×{equal}" if equal > 1 else ""
        yield f"{size_text(one.bytes)}{times}  {one.role}{name} {one.shape}{where}"


def sent_text(compilation: Compilation) -> str:
    """Return the sum of all collectives of a fixture."""
    sent = sum(one.total for one in compilation.collectives)
    count = len(compilation.collectives)
    loops = any(one.count is None for one in compilation.collectives)
    more = ", and loops of unknown length" if loops else ""
    programs = len(compilation.programs)
    lasts = duration_text(sent, compilation)
    return (
        f"{programs} program{'s' * (programs != 1)}, {count} collective{'s' * (count != 1)}, "
        f"{size_text(sent)} sent by each device{more}{f', {lasts}' if lasts else ''}"
    )
