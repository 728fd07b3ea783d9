"""The order of devices in arrays of them: numpy's rearrangements, evaluated for real on known shapes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import EllipsisType

from shardlint.support.lazy_dataclass import dataclass

#: The most devices whose order is followed.
_MOST = 4_096
#: An index of one dimension: an integer, a slice, a list of integers, a new axis (None), or the rest (`...`).
Index = int | slice | list[int] | EllipsisType | None


class NoOrder(Exception):
    """Raised if numpy raises, or if it is not followed."""


@dataclass(frozen=True, slots=True)
class Grid:
    """An array of devices: its shape, and the devices in C order."""

    shape: tuple[int, ...]
    ids: tuple[int, ...]

    def mapped(self, shape: Sequence[int], source: Callable[[tuple[int, ...]], Sequence[int]]) -> Grid:
        """Return the array of this shape whose item at an index is ours at the index ``source`` of it."""
        if math.prod(shape) > _MOST:
            raise NoOrder
        strides = [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]
        ids = (
            self.ids[sum(i * n for i, n in zip(source(index), strides, strict=True))]
            for index in itertools.product(*map(range, shape))
        )
        return Grid(tuple(shape), tuple(ids))

    def axis(self, axis: int) -> int:
        """Return an axis counted from the front."""
        if not -len(self.shape) <= axis < len(self.shape):
            raise NoOrder
        return axis % len(self.shape)

    def transposed(self, axes: Sequence[int] | None = None) -> Grid:
        """Return `np.transpose(self, axes)`."""
        order = list(range(len(self.shape)))[::-1] if axes is None else [self.axis(axis) for axis in axes]
        if sorted(order) != list(range(len(self.shape))):
            raise NoOrder
        places = [order.index(axis) for axis in range(len(order))]
        return self.mapped([self.shape[axis] for axis in order], lambda index: [index[at] for at in places])

    def moved(self, source: Sequence[int], target: Sequence[int]) -> Grid:
        """Return `np.moveaxis(self, source, target)`."""
        sources, targets = [self.axis(axis) for axis in source], [self.axis(axis) for axis in target]
        if len(sources) != len(targets) or len({*sources}) != len(sources) or len({*targets}) != len(targets):
            raise NoOrder
        order = [axis for axis in range(len(self.shape)) if axis not in sources]
        for to, axis in sorted(zip(targets, sources, strict=True)):
            order.insert(to, axis)
        return self.transposed(order)

    def reshaped(self, shape: Sequence[int], order: str = "C") -> Grid:
        """Return `self.reshape(shape, order=order)`; one size may be -1."""
        sizes = list(shape)
        if sizes.count(-1) == 1:
            rest = math.prod(size for size in sizes if size != -1)
            if rest == 0 or len(self.ids) % rest:
                raise NoOrder
            sizes[sizes.index(-1)] = len(self.ids) // rest
        if min(sizes, default=0) < 0 or math.prod(sizes) != len(self.ids):
            raise NoOrder
        if order == "F":
            return Grid(tuple(sizes[::-1]), self.transposed().ids).transposed()
        if order != "C":
            # What `A` and `K` do depends on where the items lie in memory.
            raise NoOrder
        return Grid(tuple(sizes), self.ids)

    def flipped(self, axes: Sequence[int] | None = None) -> Grid:
        """Return `np.flip(self, axes)`."""
        turned = range(len(self.shape)) if axes is None else [self.axis(axis) for axis in axes]
        shape = self.shape
        return self.mapped(
            shape, lambda index: [shape[k] - 1 - i if k in turned else i for k, i in enumerate(index)]
        )

    def rolled(self, shift: int, axis: int | None = None) -> Grid:
        """Return `np.roll(self, shift, axis)`; without an axis, all items in C order are rolled."""
        if axis is None:
            count = len(self.ids) or 1
            return Grid(self.shape, tuple(self.ids[(i - shift) % count] for i in range(len(self.ids))))
        at, shape = self.axis(axis), self.shape
        return self.mapped(
            shape, lambda index: [(i - shift) % shape[k] if k == at else i for k, i in enumerate(index)]
        )

    def picked(self, indices: Sequence[Index]) -> Grid:
        """Return ``self[indices]``: of lists at most one, and then no integers beside it."""
        found = list(indices)
        taken = sum(one is not None and one is not Ellipsis for one in found)
        if taken > len(self.shape) or found.count(Ellipsis) > 1:
            raise NoOrder
        lists = [one for one in found if isinstance(one, list)]
        if len(lists) > 1 or (lists and any(isinstance(one, int) for one in found)):
            raise NoOrder
        at = found.index(Ellipsis) if Ellipsis in found else len(found)
        found[at : at + 1] = [slice(None)] * (len(self.shape) - taken)
        shape: list[int] = []
        #: For each of our dimensions: the place of its index in the result's, and the items chosen.
        chosen: list[tuple[int | None, Sequence[int]]] = []
        for one in found:
            if one is None or isinstance(one, EllipsisType):
                shape.append(1)
                continue
            size = self.shape[len(chosen)]
            if isinstance(one, slice):
                items: Sequence[int] = range(size)[one]
            else:
                items = [one] if isinstance(one, int) else one
                if not all(-size <= item < size for item in items):
                    raise NoOrder
                items = [item % size for item in items]
            if isinstance(one, int):
                chosen.append((None, items))
            else:
                chosen.append((len(shape), items))
                shape.append(len(items))
        return self.mapped(
            shape,
            lambda index: [items[0] if place is None else items[index[place]] for place, items in chosen],
        )

    def split(self, cuts: int | Sequence[int], axis: int = 0, uneven: bool = False) -> list[Grid]:
        """Return `np.split(self, cuts, axis)`; `np.array_split` where the parts may be ``uneven``."""
        at = self.axis(axis)
        size = self.shape[at]
        if isinstance(cuts, int):
            if cuts <= 0 or (size % cuts and not uneven):
                raise NoOrder
            width, more = divmod(size, cuts)
            bounds = [0, *itertools.accumulate(width + (part < more) for part in range(cuts))]
        else:
            bounds = [0, *cuts, size]
        whole: list[Index] = [slice(None)] * at
        return [self.picked([*whole, slice(a, b)]) for a, b in itertools.pairwise(bounds)]


def concatenated(grids: Sequence[Grid], axis: int = 0) -> Grid:
    """Return `np.concatenate(grids, axis)`."""
    if not grids:
        raise NoOrder
    at = grids[0].axis(axis)
    first = grids[0].moved([at], [0])
    moved = [grid.moved([at], [0]) for grid in grids if len(grid.shape) == len(first.shape)]
    if len(moved) != len(grids) or any(grid.shape[1:] != first.shape[1:] for grid in moved):
        raise NoOrder
    ids = tuple(itertools.chain.from_iterable(grid.ids for grid in moved))
    if len(ids) > _MOST:
        raise NoOrder
    return Grid((sum(grid.shape[0] for grid in moved), *first.shape[1:]), ids).moved([0], [at])


def stacked(grids: Sequence[Grid], axis: int = 0) -> Grid:
    """Return `np.stack(grids, axis)`."""
    if not grids or any(grid.shape != grids[0].shape for grid in grids):
        raise NoOrder
    width = len(grids[0].shape) + 1
    if not -width <= axis < width:
        raise NoOrder
    rows = [Grid((1, *grid.shape), grid.ids) for grid in grids]
    return concatenated(rows).moved([0], [axis % width])
