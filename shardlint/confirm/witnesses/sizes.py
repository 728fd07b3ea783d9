"""Sizes for witnesses: integers for unknown sizes, and small ones for large sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from shardlint.laws.core.dims import Dim, substitute, symbols
from shardlint.laws.core.values import Entry, Mesh, Spec, entry_axes

#: Larger meshes shrink: more fake host devices than this start slowly, and each compilation takes longer.
MAX_DEVICES = 512
MAX_ELEMENTS = 1 << 16
MAX_ASSIGNMENTS = 5_000
_CANDIDATES = (8, 4, 2, 1, 16, 3, 6, 12, 24, 32, 64, 5, 7, 128, 256, 512)

Sizes = tuple[int, ...]


def ways(entry: Entry, axes: dict[str, int]) -> int:
    """Return the number of parts of an entry; axes that the mesh lacks count as one."""
    return math.prod(axes.get(name, 1) for name in entry_axes(entry))


def integers(dims: Sequence[Dim], suits: Callable[[Sizes], bool]) -> Sizes | None:
    """Return values of the symbols such that the dimensions are integers that ``suits`` accepts.

    None when none of the first few thousand assignments of small values does.
    """
    names = sorted(frozenset().union(*(symbols(dim) for dim in dims)))
    for values in itertools.islice(_assignments(len(names)), MAX_ASSIGNMENTS):
        try:
            sizes = [substitute(dim, dict(zip(names, values, strict=True))) for dim in dims]
        except ZeroDivisionError:
            continue
        known = tuple(size for size in sizes if isinstance(size, int))
        if len(known) == len(sizes) and suits(known):
            return known
    return None


def _assignments(count: int) -> Iterator[Sizes]:
    """Yield values for this many symbols: all equal first, which is what most programs need."""
    for value in _CANDIDATES:
        yield (value,) * count
    yield from itertools.product(_CANDIDATES, repeat=count)


def small_mesh(mesh: Mesh) -> Mesh:
    """Return the mesh with two devices along each axis that has more than one."""
    return replace(mesh, sizes=tuple(1 if size == 1 else 2 for size in mesh.sizes))


def shrunk(mesh: Mesh | None, shape: Sizes, parts: Sizes, spec: Spec) -> tuple[Mesh | None, Sizes]:
    """Shrink a mesh of many devices and a shape of many elements.

    Each dimension stays divisible by its parts, or not, and at least as large as them, or not.
    """
    smaller = mesh
    if mesh is not None and not mesh.abstract and math.prod(_axes(mesh).values()) > MAX_DEVICES:
        smaller = small_mesh(mesh)
    elif math.prod(shape) <= MAX_ELEMENTS:
        return mesh, shape
    return smaller, tuple(map(_like, shape, parts, parts_of(spec, smaller, len(shape))))


def _like(size: int, parts: int, new_parts: int) -> int:
    """Return a small size with the same relation to ``new_parts`` as ``size`` to ``parts``."""
    if size % parts == 0:
        return min(size, new_parts)
    return new_parts + 1 if size > parts else 1


def parts_of(spec: Spec, mesh: Mesh | None, rank: int) -> Sizes:
    """Return the number of parts into which a spec splits each dimension."""
    axes = _axes(mesh)
    parts = tuple(ways(entry, axes) for entry in spec.entries[:rank])
    return (*parts, *(1 for _ in range(rank - len(parts))))


def _axes(mesh: Mesh | None) -> dict[str, int]:
    if mesh is None:
        return {}
    return {n: s for n, s in zip(mesh.names, mesh.sizes, strict=True) if isinstance(s, int)}


def even(shape: Sizes, parts: Sizes) -> Sizes:
    """Return the smallest shape, at least this large, whose dimensions are divisible by their parts."""
    return tuple(-(-n // k) * k for n, k in zip(shape, parts, strict=True))
