"""The data that devices must receive from others where an array is laid out anew.

With n devices in a group and S bytes on each, a ring moves S (n-1)/n for an all-to-all or a reduce-scatter,
twice that for an all-reduce, and S (n-1) where each part is gathered from all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.placement.checks import is_axis, parts
from shardlint.laws.versions.era import since
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


def gathered_rows(mesh: Mesh, before: Spec, after: Spec, computed: bool) -> tuple[str, ...]:
    """Return the axes, of those that split the first dimension, that another layout leaves out, though it is
    split over the others still, and all other dimensions are as before; none where it differs otherwise.

    A batch is split over all data axes; a weight that is gathered for one product loses all of them. Of what
    is ``computed`` from a batch, all may be lost, if another dimension is split.
    """
    sizes = {name: size for name, size in zip(mesh.names, mesh.sizes, strict=True) if isinstance(size, int)}
    rank = max(len(before.entries), len(after.entries))
    held, due = ([_axes(spec, i, sizes) for i in range(rank)] for spec in (before, after))
    if not due or held[1:] != due[1:] or not set(due[0]) < set(held[0]):
        return ()
    if not due[0] and not (computed and any(due[1:])):
        return ()
    return tuple(axis for axis in held[0] if axis not in due[0])


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


def gathered_by_transform(split: frozenset[int], axes: Sequence[int], real: bool) -> frozenset[int]:
    """Return the dimensions of those that are split along which the operand is gathered on each device.

    ``axes`` are transformed, the last of them first; ``real``: to or from real numbers. Before JAX 0.12.0 XLA
    gathers whatever is split, batches too; since then only along dimensions that it transforms. Along the
    last one alone it transforms complex numbers in parts (`HandleFft`): nothing is said of that.
    """
    last = axes[-1]
    if last in split and not real:
        return frozenset()
    return split & frozenset(axes) if since("0.12.0") else split


def gathered_bytes(part: int, ways: int) -> int:
    """Return the bytes that a device sends so that all in its group have every part."""
    return part * (ways - 1)


def exchanged_bytes(size: int, ways: int) -> int:
    """Return the bytes that a device sends in an all-to-all or a reduce-scatter."""
    return size * (ways - 1) // ways


def reduced_bytes(size: int, ways: int) -> int:
    """Return the bytes that a device sends in an all-reduce."""
    return 2 * size * (ways - 1) // ways


def moved_by_cut(size: int, bounds: Sequence[int], ways: int) -> int:
    """Return how many elements of a dimension, split over ``ways`` devices, lie on others before it is cut at
    some bounds into pieces that are each split over all of them."""
    held, kept = size // ways, 0
    for start, stop in itertools.pairwise(bounds):
        due = (stop - start) // ways
        starts = ((start + at * due, at * held) for at in range(ways))
        kept += sum(max(0, min(wanted + due, own + held) - max(wanted, own)) for wanted, own in starts)
    return bounds[-1] - bounds[0] - kept


def column_costs(mesh: Mesh, held: Spec, operand: int, product: int) -> tuple[int, int] | None:
    """Return the bytes that each device sends where the operand of a product, of whose columns it ``held`` a
    part, is gathered, and where products of the parts are summed up; None if they are not known.

    ``operand`` and ``product`` are the bytes of the whole arrays.
    """
    sizes = {name: size for name, size in zip(mesh.names, mesh.sizes, strict=True) if isinstance(size, int)}
    if any(axis not in sizes for entry in held.entries for axis in entry_axes(entry)):
        return None
    rows = math.prod(sizes[axis] for entry in held.entries[:-1] for axis in entry_axes(entry))
    ways = math.prod(sizes[axis] for axis in entry_axes(held.entries[-1]))
    return gathered_bytes(operand // rows // ways, ways), reduced_bytes(product // rows, ways)


def resharded_bytes(mesh: Mesh, before: Spec, after: Spec, whole: int) -> int | None:
    """Return the bytes that each device sends where XLA lays an array of ``whole`` bytes out anew.

    That is known where dimensions are only gathered or only split further, where axes move from the end of
    one dimension to the end of another (an all-to-all), and where parts only change places (a permutation).
    Of any other change XLA makes several steps: None. Sizes are divided evenly, and none is unknown.
    """
    sizes = {name: size for name, size in zip(mesh.names, mesh.sizes, strict=True) if isinstance(size, int)}
    rank = max(len(before.entries), len(after.entries))
    held, due = ([_axes(spec, i, sizes) for i in range(rank)] for spec in (before, after))
    if any(axis not in sizes for entry in (*held, *due) for axis in entry):
        return None

    def ways(axes: Sequence[str]) -> int:
        return math.prod(sizes[axis] for axis in axes)

    def parts(entries: Sequence[tuple[str, ...]]) -> int:
        return math.prod(map(ways, entries))

    part = whole // parts(held)
    pairs = list(zip(held, due, strict=True))
    if all(a[: len(b)] == b for a, b in pairs):
        return gathered_bytes(part, parts(held) // parts(due))
    if all(b[: len(a)] == a for a, b in pairs):
        return 0
    if [ways(a) for a, _ in pairs] == [ways(b) for _, b in pairs]:
        return part
    changed = [i for i, (a, b) in enumerate(pairs) if a != b]
    if len(changed) != 2:
        return None
    for source, target in (changed, changed[::-1]):
        moving = held[source][len(due[source]) :]
        if held[source][: len(due[source])] == due[source] and due[target] == held[target] + moving:
            return exchanged_bytes(part, ways(moving))
    return None


def _axes(spec: Spec, dimension: int, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the axes of more than one device that split a dimension."""
    entry = spec.entries[dimension] if dimension < len(spec.entries) else None
    return tuple(axis for axis in entry_axes(entry) if sizes.get(axis) != 1)


# -- operands that meet --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operand:
    """The layout of an array of a computation, with a letter for each of its dimensions: those that two
    arrays share have the same letter."""

    letters: str
    spec: Spec
    shape: Shape


@dataclass(frozen=True, slots=True)
class Apart:
    """An axis that splits dimension ``held`` of an array, but ``met`` of it in an array that it meets."""

    axis: str
    held: int
    met: int


def apart(mesh: Mesh, operand: Operand, other: Operand, shared: str) -> Apart | None:
    """Return the first axis that splits two arrays along different letters, the one of the other being
    ``shared``: both have it, and so does what is computed of them.

    Only where the operand could be split as the other is: its dimension has as many elements, which the
    axes divide.
    """
    for axis, size in zip(mesh.names, mesh.sizes, strict=True):
        if not isinstance(size, int) or size == 1:
            continue
        held, wanted = split_by(operand, axis), split_by(other, axis)
        if held is None or wanted is None:
            continue
        letter = other.letters[wanted]
        if letter not in shared or letter not in operand.letters or operand.letters[held] == letter:
            continue
        met = operand.letters.index(letter)
        ways = math.prod(
            ways if isinstance(ways := mesh.size_of(name), int) else 0
            for name in entry_axes(other.spec.entries[wanted])
        )
        length = operand.shape[met]
        if length == other.shape[wanted] and isinstance(length, int) and ways and length % ways == 0:
            return Apart(axis, held, met)
    return None


def split_by(operand: Operand, axis: str) -> int | None:
    """Return the dimension of an array that an axis splits; None if it splits none."""
    entries = enumerate(operand.spec.entries)
    return next((at for at, entry in entries if axis in entry_axes(entry)), None)
