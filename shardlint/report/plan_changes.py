"""Changes of a model so that more meshes divide it, or so that a smaller one fits a chip."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.report.values import Parameter
from shardlint.support.lazy_dataclass import dataclass

#: The most that a size may grow by, where that makes more devices divide it.
_GROWTH = 1 / 64
#: The most kinds of parameters that one change of layouts speaks of.
_MOST_LAYOUTS = 3


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A size that mesh axes do not divide on ``meshes`` of the meshes, and the next one that they do.

    ``parameter`` has it, as dimension ``dimension``, and ``alike`` others do. ``to`` is divided by ``ways``
    devices, and by as many or fewer of those that do not divide ``size``.
    """

    parameter: str
    alike: int
    dimension: int
    size: int
    axes: tuple[str, ...]
    to: int
    ways: int
    meshes: int


@dataclass(frozen=True, slots=True)
class LayoutChange:
    """A dimension that one more axis may split, of ``parameter`` and ``alike`` equal ones; ``saved`` are
    bytes on each device, with gradients and the optimizer's state.
    """

    parameter: str
    alike: int
    dimension: int
    axis: str
    saved: int


def size_changes(parameters: Sequence[Parameter], meshes: Sequence[Mesh]) -> list[SizeChange]:
    """Return the sizes that stand in the way of meshes, those of most meshes first."""
    names: dict[tuple[int, tuple[str, ...]], dict[str, int]] = defaultdict(dict)
    ways: dict[tuple[int, tuple[str, ...]], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for parameter in parameters:
        for number, mesh in enumerate(meshes):
            held = parameter.holdings[number]
            if held is None or held.problem is None or held.spec is None or parameter.shape is None:
                continue
            sizes = dict(zip(mesh.names, mesh.sizes, strict=True))
            for dimension, entry in enumerate(held.spec.entries[: len(parameter.shape)]):
                size, axes = parameter.shape[dimension], entry_axes(entry)
                split = math.prod(n for axis in axes if isinstance(n := sizes.get(axis), int))
                if isinstance(size, int) and size % split:
                    names[size, axes].setdefault(parameter.path, dimension)
                    ways[size, axes][split].add(number)
    found = []
    for (size, axes), ours in names.items():
        blocked = ways[size, axes]
        to, most = _next(size, sorted(blocked))
        path, dimension = next(iter(ours.items()))
        count = len(set().union(*blocked.values()))
        found.append(SizeChange(path, len(ours) - 1, dimension, size, axes, to, most, count))
    return sorted(found, key=lambda one: -one.meshes)


def _next(size: int, ways: Sequence[int]) -> tuple[int, int]:
    """Return a size that is little larger and divided by many devices, and how many those are."""
    for most in reversed(ways):
        to = -(-size // most) * most
        if to - size <= _GROWTH * size:
            return to, most
    return -(-size // ways[0]) * ways[0], ways[0]


def layout_changes(
    parameters: Sequence[Parameter],
    state: Mapping[str, int],
    number: int,
    mesh: Mesh,
    over: int,
) -> list[LayoutChange]:
    """Return the fewest dimensions to split that save this many bytes on a mesh; empty where none do.

    ``number`` is the mesh's in the parameters' holdings, ``state`` the bytes that an optimizer keeps of each
    parameter on each device of it.
    """
    kinds: dict[tuple[object, ...], list[LayoutChange]] = defaultdict(list)
    for parameter in parameters:
        if (change := _split(parameter, state.get(parameter.path, 0), number, mesh)) is not None:
            held = parameter.holdings[number]
            spec = None if held is None else held.spec
            kinds[parameter.shape, parameter.dtype, spec, change.dimension, change.axis].append(change)
    merged = [
        LayoutChange(
            ours[0].parameter,
            len(ours) - 1,
            ours[0].dimension,
            ours[0].axis,
            sum(one.saved for one in ours),
        )
        for ours in kinds.values()
    ]
    chosen: list[LayoutChange] = []
    for one in sorted(merged, key=lambda one: -one.saved)[:_MOST_LAYOUTS]:
        chosen.append(one)
        over -= one.saved
        if over <= 0:
            return chosen
    return []


def _split(parameter: Parameter, state: int, number: int, mesh: Mesh) -> LayoutChange | None:
    """Return the dimension and the axis that save most of one parameter."""
    held = parameter.holdings[number]
    if held is None or held.spec is None or held.shard is None or held.bytes is None:
        return None
    best = None
    for axis, size in _free(held.spec, mesh):
        for dimension, length in enumerate(held.shard):
            if isinstance(length, int) and length and length % size == 0:
                saved = (2 * held.bytes + state) * parameter.count * (size - 1) // size
                if best is None or saved > best.saved:
                    best = LayoutChange(parameter.path, 0, dimension, axis, saved)
    return best


def _free(spec: Spec, mesh: Mesh) -> Iterator[tuple[str, int]]:
    used = {axis for entry in spec.entries for axis in entry_axes(entry)}
    for name, size in zip(mesh.names, mesh.sizes, strict=True):
        if name not in used and isinstance(size, int) and size > 1:
            yield name, size
