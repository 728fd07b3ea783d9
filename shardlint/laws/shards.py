"""What each device holds: shapes, copies and bytes."""

from __future__ import annotations

from shardlint.laws.checks import parts, ways
from shardlint.laws.dims import Dim, Shape, product
from shardlint.laws.values import Mesh, Spec

#: Bytes of the dtypes whose names do not end in their number of bits.
ODD_SIZES: dict[str, float] = {
    "bool": 1,
    "bool_": 1,
    "float0": 1,
    "key<fry>": 8,
    "key<rbg>": 16,
    "key<urbg>": 16,
}


def shard_shape(mesh: Mesh, spec: Spec, shape: Shape) -> Shape:
    """The shape each device holds, as `NamedSharding.shard_shape` says.

    Sizes round down where a symbolic one is not known to divide. Raises ValueError for a spec that
    names what the mesh lacks, or is longer than the rank.
    """
    if len(spec) > len(shape):
        raise ValueError(f"{spec} is longer than the rank {len(shape)}")
    split = [_ways(mesh, spec, i) for i in range(len(spec))]
    return tuple(size // by for size, by in zip(shape, split, strict=False)) + shape[len(split) :]


def global_shape(mesh: Mesh, spec: Spec, shape: Shape) -> Shape:
    """The shape of the whole whose shards have this shape: what shard_map's out_specs put together."""
    if len(spec) > len(shape):
        raise ValueError(f"{spec} is longer than the rank {len(shape)}")
    split = [_ways(mesh, spec, i) for i in range(len(spec))]
    return tuple(size * by for size, by in zip(shape, split, strict=False)) + shape[len(split) :]


def replication(mesh: Mesh, spec: Spec) -> Dim:
    """How many devices hold each value: the product of the axes that the spec leaves out."""
    used = {part for entry in spec.entries for part in parts(entry)}
    return product(size for name, size in zip(mesh.names, mesh.sizes, strict=True) if name not in used)


def dtype_size(dtype: str) -> float | None:
    """Bytes of one element of a dtype by its name (``bfloat16``: 2, ``int4``: 0.5), or None.

    A `jax.random.key` dtype counts the bytes of its key data.
    """
    if dtype in ODD_SIZES:
        return ODD_SIZES[dtype]
    for kind in ("bfloat", "float", "complex", "uint", "int"):
        if dtype.startswith(kind):
            digits = dtype[len(kind) :].partition("_")[0]
            return int(digits) / 8 if digits.isdigit() else None
    return None


def _ways(mesh: Mesh, spec: Spec, dimension: int) -> Dim:
    split = ways(mesh, spec.entries[dimension])
    if split is None:
        raise ValueError(f"{spec} names what the mesh {mesh} lacks")
    return split
