"""The shape of each device's shard, and the number of devices that hold the same one."""

from __future__ import annotations

from shardlint.laws.core.dims import Dim, Shape, product
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.placement.checks import parts, ways


def shard_shape(mesh: Mesh, spec: Spec, shape: Shape) -> Shape:
    """Return the shape of each device's shard, as `NamedSharding.shard_shape` does.

    Sizes round down where a symbolic one is not known to divide. Raises ValueError for a spec that names axes
    the mesh lacks, or is longer than the rank.
    """
    if len(spec) > len(shape):
        raise ValueError(f"{spec} is longer than the rank {len(shape)}")
    split = [_ways(mesh, spec, i) for i in range(len(spec))]
    return tuple(size // by for size, by in zip(shape, split, strict=False)) + shape[len(split) :]


def global_shape(mesh: Mesh, spec: Spec, shape: Shape) -> Shape:
    """Return the global shape of shards of this shape, as assembled by shard_map's out_specs."""
    if len(spec) > len(shape):
        raise ValueError(f"{spec} is longer than the rank {len(shape)}")
    split = [_ways(mesh, spec, i) for i in range(len(spec))]
    return tuple(size * by for size, by in zip(shape, split, strict=False)) + shape[len(split) :]


def replication(mesh: Mesh, spec: Spec) -> Dim:
    """Return the number of devices that hold each value: the product of the axes that the spec omits."""
    used = {part for entry in spec.entries for part in parts(entry)}
    return product(size for name, size in zip(mesh.names, mesh.sizes, strict=True) if name not in used)


def _ways(mesh: Mesh, spec: Spec, dimension: int) -> Dim:
    split = ways(mesh, spec.entries[dimension])
    if split is None:
        raise ValueError(f"{spec} names what the mesh {mesh} lacks")
    return split
