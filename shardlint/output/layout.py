"""``shardlint layout``: each device's share of an array, in numbers and as a picture.

Devices are numbered in row-major order over the mesh, as in programs that build meshes with
``np.array(jax.devices()).reshape(...)``. On real hardware `jax.make_mesh` may order them differently.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeVar

from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Marker, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.laws.placement.array_bytes import array_bytes, text_of_bytes
from shardlint.laws.placement.shard_shapes import global_shape, replication, shard_shape
from shardlint.model.spans import Span
from shardlint.model.uses import ParameterUse, Placement, Use
from shardlint.output.formats.concise import place_text
from shardlint.output.terminal_styles import Styles
from shardlint.support.lazy_dataclass import dataclass
from shardlint.support.media import json_document, terminal

#: The most rows and columns of a picture, and slices for a rank above two.
_MOST_CELLS = 16
_MOST_SLICES = 8
#: Devices of one block that are listed individually.
_MOST_DEVICES = 4

#: The uses that have a layout.
LAID_OUT = (Placement, ParameterUse)

Block = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layout:
    """An array's layout on a mesh. ``spec`` is the one in effect, not the written one.

    ``replicated`` lists dimensions whose axes JAX silently drops.
    """

    subject: str
    span: Span
    shape: tuple[Dim, ...]
    dtype: str | None
    spec: Spec
    mesh: Mesh
    replicated: tuple[int, ...] = ()


def layout_of(use: Use) -> Layout | None:
    """Return the layout of a completely known placement or parameter, else None."""
    if not isinstance(use.verdict, Accepted):
        return None
    given: object
    if isinstance(use, Placement):
        subject, given = use.subject, use.spec
    elif isinstance(use, ParameterUse):
        whole = Spec() if use.names is None else use.names
        subject, given = f"parameter `{use.name}` of {use.owner}", use.axes or whole
    else:
        return None
    spec = use.verdict.spec or given
    mesh = use.environment.context_mesh if use.mesh is None else use.mesh
    if not isinstance(mesh, Mesh) or isinstance(use.shape, Unknown) or not isinstance(spec, Spec):
        return None
    if len(spec) > len(use.shape) or not _is_plain(spec, mesh):
        return None
    if use.environment.mapped:
        return None  # the array that is laid out has this one as a part
    shape = use.shape
    if isinstance(use, Placement) and use.api is Api.SHARD_MAP_OUT:
        shape = global_shape(mesh, spec, shape)  # the body returns shards
    dropped = use.verdict.replicated
    entries = tuple(None if i in dropped else entry for i, entry in enumerate(spec.entries))
    return Layout(subject, use.place.resolve(), shape, use.dtype, Spec(entries), mesh, dropped)


def _is_plain(spec: Spec, mesh: Mesh) -> bool:
    """Return whether each entry names axes of the mesh, each once, and nothing is left to the compiler."""
    if len(set(mesh.names)) < len(mesh.names):
        return False
    parts = [part for entry in spec.entries for part in (entry if isinstance(entry, tuple) else (entry,))]
    return all(
        part is None or (isinstance(part, str) and not isinstance(part, Marker) and part in mesh.names)
        for part in parts
    )


def blocks(mesh: Mesh, spec: Spec, rank: int) -> dict[Block, tuple[int, ...]]:
    """Return the devices that hold each block of an array of this rank.

    A block is its index along each dimension; devices are numbered row-major over the mesh, whose sizes must
    be integers. The first axis of a tuple entry is the slowest, as in JAX.
    """
    sizes = dict(zip(mesh.names, mesh.sizes, strict=True))
    axes = [entry_axes(entry) for entry in spec.entries] + [()] * (rank - len(spec.entries))
    held: dict[Block, list[int]] = {}
    for device, coordinates in enumerate(itertools.product(*(range(_whole(size)) for size in mesh.sizes))):
        at = dict(zip(mesh.names, coordinates, strict=True))
        block = []
        for names in axes:
            index = 0
            for name in names:
                index = index * _whole(sizes[name]) + at[name]
            block.append(index)
        held.setdefault(tuple(block), []).append(device)
    return {block: tuple(devices) for block, devices in sorted(held.items())}


def render(layouts: Iterable[Layout], styles: Styles) -> str:
    """Return all layouts, each once, in reading order, a blank line after each."""
    ordered = sorted(dict.fromkeys(layouts), key=lambda layout: layout.span.order())
    return "".join(f"{_layout(layout, styles)}\n\n" for layout in ordered)


def as_json(layouts: Iterable[Layout]) -> str:
    """Return all layouts as a JSON array, each once; symbolic sizes are strings."""
    ordered = sorted(dict.fromkeys(layouts), key=lambda layout: layout.span.order())
    return json_document([_object(layout) for layout in ordered])


def _object(layout: Layout) -> dict[str, object]:
    mesh, spec, span = layout.mesh, layout.spec, layout.span
    each = shard_shape(mesh, spec, layout.shape)
    known = all(isinstance(size, int) for size in mesh.sizes)
    held = blocks(mesh, spec, len(layout.shape)) if known and mesh.device_count != 0 else {}
    return {
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "cell": span.cell,
        "array": layout.subject,
        "shape": _sizes(layout.shape),
        "dtype": layout.dtype,
        "bytes": array_bytes(layout.shape, layout.dtype),
        "spec": str(spec),
        "mesh": dict(zip(mesh.names, _sizes(mesh.sizes), strict=True)),
        "shard": _sizes(each),
        "bytes_per_device": array_bytes(each, layout.dtype),
        "silently_replicated": list(layout.replicated),
        "blocks": [{"block": list(block), "devices": list(devices)} for block, devices in held.items()],
    }


def _sizes(shape: Sequence[Dim]) -> list[int | str]:
    return [size if isinstance(size, int) else str(size) for size in shape]


def _layout(layout: Layout, styles: Styles) -> str:
    mesh, spec, shape = layout.mesh, layout.spec, layout.shape
    each = shard_shape(mesh, spec, shape)
    copies = replication(mesh, spec)
    head = f"{styles.path(place_text(layout.span))}: {styles.strong(_said(layout.subject))}"
    lines = [
        f"  array    {_shape(shape)} {layout.dtype or 'of unknown dtype'}{_bytes(shape, layout.dtype)}",
        f"  spec     {spec}",
        f"  mesh     {mesh}: {mesh.device_count} devices",
        f"  shard    {_shape(each)}{_bytes(each, layout.dtype)} on each device",
        f"  copies   {_copies(copies, mesh.device_count)}",
    ]
    lines += [f"  dropped  the axes of dimension {i}: JAX replicates it silently" for i in layout.replicated]
    if shape and all(isinstance(size, int) for size in mesh.sizes):
        lines += ["", *(f"  {line}" for line in picture(mesh, spec, len(shape)))]
    return "\n".join([head, *map(_said, lines)])


def _said(text: str) -> str:
    return terminal(text, begins=False)


def _copies(copies: Dim, devices: Dim) -> str:
    if copies == 1:
        return "every value is on one device"
    every = " (all of them: fully replicated)" if copies == devices else ""
    return f"every value is on {copies} devices{every}"


def picture(mesh: Mesh, spec: Spec, rank: int) -> list[str]:
    """Draw the devices that hold each block of an array of rank 1 or more.

    The two dimensions drawn are the last ones that are partitioned; each combination of blocks along the
    other partitioned ones is a slice with its own grid.
    """
    held_blocks = blocks(mesh, spec, rank)
    parts = [max(block[i] for block in held_blocks) + 1 for i in range(rank)]
    rows, columns = _drawn(parts)
    others = [i for i in range(rank) if i not in (rows, columns) and parts[i] > 1]
    slices = list(itertools.product(*(range(parts[i]) for i in others)))
    lines = [f"rows: dimension {rows}, columns: dimension {columns} of {rank}"] if rank > 2 else []
    for fixed in slices[:_MOST_SLICES]:
        if others:
            where = ", ".join(f"block {n} of dimension {i}" for i, n in zip(others, fixed, strict=True))
            lines.append(f"{where}:")
        grid = []
        for row in range(1 if rows is None else parts[rows]):
            cells = []
            for column in range(parts[columns]):
                block = [0] * rank
                for i, n in zip(others, fixed, strict=True):
                    block[i] = n
                if rows is not None:
                    block[rows] = row
                block[columns] = column
                cells.append(_devices(held_blocks[tuple(block)]))
            grid.append(cells)
        lines += _grid(grid)
    if len(slices) > _MOST_SLICES:
        lines.append(f"... and {len(slices) - _MOST_SLICES} more slices")
    return lines


def _drawn(parts: Sequence[int]) -> tuple[int | None, int]:
    """Return the dimensions that become rows and columns; a rank of 1 has no rows."""
    rank = len(parts)
    if rank == 1:
        return None, 0
    split = [i for i in range(rank) if parts[i] > 1]
    chosen = split[-2:]
    for i in reversed(range(rank)):
        if len(chosen) < 2 and i not in chosen:
            chosen.append(i)
    rows, columns = sorted(chosen)
    return rows, columns


def _devices(devices: Sequence[int]) -> str:
    """Write device numbers: ``0``, ``0,4``, ``0-7``, ``0,2,...,14``."""
    if len(devices) > 2 and devices[-1] - devices[0] + 1 == len(devices):
        return f"{devices[0]}-{devices[-1]}"
    if len(devices) <= _MOST_DEVICES:
        return ",".join(map(str, devices))
    return f"{devices[0]},{devices[1]},...,{devices[-1]}"


def _grid(cells: Sequence[Sequence[str]]) -> list[str]:
    """Draw a table of device numbers with lines around each block; the middle of a large one is omitted."""
    elided = [_elided(row, "...") for row in _elided(cells, ["..."] * len(cells[0]))]
    width = max(len(cell) for row in elided for cell in row) + 2
    rule = ["─" * width] * len(elided[0])
    top, between, bottom = f"┌{'┬'.join(rule)}┐", f"├{'┼'.join(rule)}┤", f"└{'┴'.join(rule)}┘"
    lines = [top]
    for number, row in enumerate(elided):
        if number:
            lines.append(between)
        lines.append("│" + "│".join(f"{cell:^{width}}" for cell in row) + "│")
    return [*lines, bottom]


def _elided(items: Sequence[T], mark: T) -> list[T]:
    """Return the items, or the first and last ones of too many with a mark between them."""
    half = _MOST_CELLS // 2
    return list(items) if len(items) <= _MOST_CELLS else [*items[:half], mark, *items[-half:]]


def _shape(shape: Sequence[Dim]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def _bytes(shape: Shape, dtype: str | None) -> str:
    """Return ``, 4.2 MB`` where the size is known."""
    count = array_bytes(shape, dtype)
    return "" if count is None else f", {text_of_bytes(count)}"


def _whole(size: Dim) -> int:
    if not isinstance(size, int):
        raise ValueError(f"{size} is not a known size")
    return size
