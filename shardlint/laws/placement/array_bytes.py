"""The bytes of an array: of an element, of the whole, and of each device's shard."""

from __future__ import annotations

import math

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.support.lazy_dataclass import dataclass

#: Bytes of the dtypes whose names do not end in their number of bits.
ODD_SIZES: dict[str, float] = {
    "bool": 1,
    "bool_": 1,
    "float0": 1,
    "key<fry>": 8,
    "key<rbg>": 16,
    "key<urbg>": 16,
}

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def dtype_size(dtype: str) -> float | None:
    """Return the bytes of one element of a dtype by its name (``bfloat16``: 2, ``int4``: 0.5), or None.

    A `jax.random.key` dtype counts the bytes of its key data.
    """
    if dtype in ODD_SIZES:
        return ODD_SIZES[dtype]
    for kind in ("bfloat", "float", "complex", "uint", "int"):
        if dtype.startswith(kind):
            digits = dtype[len(kind) :].partition("_")[0]
            return int(digits) / 8 if digits.isdigit() else None
    return None


def array_bytes(shape: Shape, dtype: str | None) -> int | None:
    """Return the bytes of a whole array; None where a size or the dtype is not known.

    Elements smaller than a byte are packed, as XLA packs them on TPU; the last byte counts whole.
    """
    each = None if dtype is None else dtype_size(dtype)
    sizes = [size for size in shape if isinstance(size, int)]
    return None if each is None or len(sizes) < len(shape) else math.ceil(math.prod(sizes) * each)


def device_bytes(mesh: Mesh, spec: Spec, shape: Shape, dtype: str | None) -> int | None:
    """Return the bytes of each device's shard; None where a size or the dtype is not known.

    The shard is `NamedSharding.shard_shape`. Raises ValueError for a spec that names axes the mesh lacks, or
    is longer than the rank.
    """
    return array_bytes(shard_shape(mesh, spec, shape), dtype)


def text_of_bytes(count: float) -> str:
    """Write a number of bytes in decimal units, two digits or more: ``4.3 GB``, ``17 MB``, ``134 MB``."""
    amount, units = float(count), list(_UNITS)
    while (rounded := round(amount, 1 if amount < 9.95 else 0)) >= 1000 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    unit = "byte" if count == 1 else units[0]
    return f"{rounded:g} {unit}" if rounded < 1e6 else f"{rounded:.0f} {unit}"


@dataclass(frozen=True, slots=True)
class Split:
    """A dimension split over one mesh axis, in ``ways`` parts."""

    dimension: int
    axis: str
    ways: int


def best_split(mesh: Mesh, shape: Shape) -> Split | None:
    """Return the split over one mesh axis with the smallest shards; of equal ones that of the longest
    dimension.

    None where no axis of known size divides a dimension of known size.
    """
    splits = [
        (ways, size, -dimension, -number)
        for number, ways in enumerate(mesh.sizes)
        for dimension, size in enumerate(shape)
        if isinstance(ways, int) and isinstance(size, int) and ways > 1 and size and size % ways == 0
    ]
    if not splits:
        return None
    ways, _, dimension, number = max(splits)
    return Split(-dimension, mesh.names[-number], ways)
