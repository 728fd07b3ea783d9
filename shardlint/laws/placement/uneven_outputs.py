"""The layout that XLA gives an uneven dimension of an array that a jit returns (measured).

In 0.9.2 and since 0.11.2 it keeps, beside the axes that divide the dimension, a part of the next axis: the
greatest common divisor of its size and of what is left of the dimension. The devices are then ordered by the
parts that are kept, and after them by all others in the mesh's order.
`sharding_impls.parse_flatten_op_sharding` reads whole axes from that order: where the two parts of an axis
are neighbours it takes them for one axis and refuses its size, else it reads nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Mesh, Name
from shardlint.laws.core.verdicts import Returned
from shardlint.laws.placement.checks import ways
from shardlint.laws.versions.era import since


def cut_axis(mesh: Mesh, axes: Sequence[Name], kept: int, size: Dim) -> Name | None:
    """Return the axis of which XLA keeps a part, beside the first ``kept`` axes of a dimension."""
    if not (since("0.11.2") or (since("0.9.2") and not since("0.10.0"))):
        return None
    split, following = ways(mesh, tuple(axes[:kept])), mesh.size_of(str(axes[kept]))
    if not (isinstance(split, int) and isinstance(size, int) and isinstance(following, int)):
        return None
    return axes[kept] if math.gcd(size // split, following) > 1 else None


def fate_of(mesh: Mesh, kept: Sequence[Sequence[Name]], cut: Mapping[int, Name]) -> Returned:
    """Return what becomes of an array that keeps these axes, and in dimensions of ``cut`` a part of one."""
    first: list[Name] = []
    for dimension, axes in enumerate(kept):
        first += [*axes, *([cut[dimension]] if dimension in cut else [])]
    whole = set(first).difference(cut.values())
    after = [name for name in mesh.names if mesh.size_of(name) != 1 and name not in whole]
    neighbours = len(cut) == 1 and first[-1:] == after[:1] == [*cut.values()]
    return Returned.REFUSED if neighbours else Returned.NAMELESS
