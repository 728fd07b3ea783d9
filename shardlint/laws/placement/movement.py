"""The data that devices must receive from others where an array is laid out anew."""

from __future__ import annotations

import itertools
import math

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.placement.checks import is_axis, parts
from shardlint.support.lazy_dataclass import dataclass

#: Layouts on more devices than this are not compared device by device.
_MOST_DEVICES = 4096

_Block = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Movement:
    """Of ``wanted`` elements on all devices together, ``moved`` are on other devices before.

    ``gathered``: each device keeps what it has, and receives what makes its block larger.
    """

    wanted: int
    moved: int
    gathered: bool


def movement(mesh: Mesh, before: Spec, after: Spec, shape: Shape) -> Movement | None:
    """Return what must move from one layout to another on the same mesh; None if it is not known.

    Each device holds the block of the array at its place in the mesh. An uneven split is not judged.
    """
    sizes = [size for size in mesh.sizes if isinstance(size, int)]
    whole = [size for size in shape if isinstance(size, int)]
    if len(sizes) < len(mesh.sizes) or len(whole) < len(shape) or math.prod(sizes) > _MOST_DEVICES:
        return None
    wanted = moved = 0
    gathered = True
    for at in itertools.product(*map(range, sizes)):
        place = dict(zip(mesh.names, zip(at, sizes, strict=True), strict=True))
        held, due = _block(place, before, whole), _block(place, after, whole)
        if held is None or due is None:
            return None
        shared = math.prod(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in zip(held, due, strict=True))
        wanted += _count(due)
        moved += _count(due) - shared
        gathered = gathered and shared == _count(held)
    return Movement(wanted, moved, gathered)


def _count(block: _Block) -> int:
    return math.prod(end - start for start, end in block)


def _block(place: dict[str, tuple[int, int]], spec: Spec, shape: list[int]) -> _Block | None:
    """Return the part of each dimension that a device holds; ``place`` is its index along each axis, of how
    many."""
    if len(spec.entries) > len(shape) or spec.unreduced or spec.reduced:
        return None
    block = []
    for entry, size in itertools.zip_longest(spec.entries, shape):
        axes = parts(entry)
        if (entry is not None and not axes) or not all(is_axis(axis) and axis in place for axis in axes):
            return None
        index, ways = 0, 1
        for axis in axes:
            at, count = place[str(axis)]
            index, ways = index * count + at, ways * count
        if size % ways:
            return None
        block.append((index * (size // ways), (index + 1) * (size // ways)))
    return tuple(block)
