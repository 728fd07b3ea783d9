"""Pictures of devices and their shares, as SVG inside a page: the mesh, an array's parts, and bars.

Devices that hold the same part of an array have the same colour and number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.placement.array_bytes import text_of_bytes
from shardlint.support.lazy_dataclass import dataclass
from shardlint.support.media import html

#: The most rows and columns in a picture of a mesh; the cells of smaller ones show numbers.
_MOST_CELLS = 16
_MOST_NUMBERS = 64
_CELL, _GAP = 22, 2


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar."""

    label: str
    bytes: int


def mesh_picture(mesh: Mesh, spec: Spec) -> str:
    """Draw the devices of a mesh, each with the part of an array that it holds.

    The last axis of more than one device runs to the right, all others downwards, the first slowest.
    """
    sizes = [_whole(size) for size in mesh.sizes]
    across = next((i for i in reversed(range(len(sizes))) if sizes[i] > 1), len(sizes) - 1)
    columns = sizes[across] if sizes else 1
    lines = [size for i, size in enumerate(sizes) if i != across]
    alone = math.prod(lines) == 1
    count = math.prod(sizes)
    width = min(_MOST_CELLS, columns)
    # A single axis is wrapped like text.
    rows = -(-count // width) if alone else math.prod(lines)
    height = min(_MOST_CELLS, rows)
    shown = []
    for row, column in itertools.product(range(height), range(width)):
        at = row * width + column if alone else None
        if at is not None and at >= count:
            continue
        outer = list(_coordinates(lines, 0 if at is not None else row))
        outer.insert(across, at if at is not None else column)
        shown.append((row, column, _part(mesh, spec, dict(zip(mesh.names, outer, strict=True)))))
    parts = math.prod(_ways(mesh, spec))
    cells = "".join(_cell(row, column, part, parts, len(shown)) for row, column, part in shown)
    step = _CELL + _GAP
    left_out = "" if len(shown) == count else f"<p class=small>{len(shown)} of {count} devices</p>"
    title = f"{parts} different {'part' if parts == 1 else 'parts'} on {count} devices"
    return (
        f'<svg class=mesh role=img width="{width * step}" height="{height * step}" '
        f'viewBox="0 0 {width * step} {height * step}"><title>{title}</title>{cells}</svg>{left_out}'
    )


def axes_caption(mesh: Mesh) -> str:
    """Return the directions of the axes in a picture of a mesh."""
    names = [name for name, size in zip(mesh.names, mesh.sizes, strict=True) if size != 1] or list(mesh.names)
    if len(names) < 2:
        return html(f"{names[0]} →") if names else ""
    return html(f"{' × '.join(names[:-1])} ↓, {names[-1]} →")


def share_picture(mesh: Mesh, spec: Spec, rank: int) -> str:
    """Draw an array as a box, and in it the part that one device holds."""
    ways = [*_ways(mesh, spec), *[1] * (rank - len(spec))][:rank]
    split = [i for i in range(rank) if ways[i] > 1][-2:]
    rows = ways[split[0]] if len(split) == 2 else 1
    columns = ways[split[-1]] if split else 1
    if len(split) == 1 and split[0] == 0 and rank > 1:
        rows, columns = columns, 1
    width, height = 44, 28
    part_width, part_height = max(1.5, width / columns), max(1.5, height / rows)
    lines = "".join(
        f'<path d="M{width * i / columns:.1f} 0V{height}"/>' for i in range(1, columns) if columns <= 16
    ) + "".join(f'<path d="M0 {height * i / rows:.1f}H{width}"/>' for i in range(1, rows) if rows <= 16)
    share = math.prod(ways)
    title = "each device holds all of it" if share == 1 else f"each device holds 1/{share} of it"
    return (
        f'<svg class=share role=img width="{width + 2}" height="{height + 2}" '
        f'viewBox="-1 -1 {width + 2} {height + 2}"><title>{title}</title>'
        f'<rect width="{width}" height="{height}"/>'
        f'<rect class=part width="{part_width:.1f}" height="{part_height:.1f}"/>{lines}</svg>'
    )


def bar(segments: Iterable[Segment], most: int) -> str:
    """Draw a bar of segments; ``most`` is the number of bytes that fills the full width."""
    drawn, start = [], 0.0
    for number, segment in enumerate(segments):
        width = 1000 * segment.bytes / most if most else 0
        title = html(f"{segment.label}: {text_of_bytes(segment.bytes)}")
        drawn.append(
            f'<rect x="{start:.2f}" width="{width:.2f}" height="18" class=s{number % 8}>'
            f"<title>{title}</title></rect>"
        )
        start += width
    return f'<svg class=bar role=img viewBox="0 0 1000 18" preserveAspectRatio=none>{"".join(drawn)}</svg>'


def _cell(row: int, column: int, part: int, parts: int, shown: int) -> str:
    step = _CELL + _GAP
    x, y = column * step, row * step
    hue = round(210 + 360 * part / parts) % 360
    number = (
        f'<text x="{x + _CELL / 2:g}" y="{y + _CELL / 2 + 4:g}">{part}</text>'
        if shown <= _MOST_NUMBERS and parts > 1
        else ""
    )
    return f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" rx="3" style="--h:{hue}"/>{number}'


def _part(mesh: Mesh, spec: Spec, at: dict[str, int]) -> int:
    """Return the index of the part that the device at these coordinates holds, row-major over the array."""
    number = 0
    for entry in spec.entries:
        for axis in entry_axes(entry):
            number = number * _whole(mesh.size_of(axis)) + at[axis]
    return number


def _ways(mesh: Mesh, spec: Spec) -> list[int]:
    """Return the number of parts in each dimension of a spec."""
    return [math.prod(_whole(mesh.size_of(axis)) for axis in entry_axes(entry)) for entry in spec.entries]


def _coordinates(sizes: Sequence[int], index: int) -> Iterable[int]:
    """Return the coordinates of an index, row-major over these sizes."""
    found = []
    for size in reversed(sizes):
        found.append(index % size)
        index //= size
    return reversed(found)


def _whole(size: object) -> int:
    assert isinstance(size, int)
    return size
