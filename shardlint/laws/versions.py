"""Which JAX names about sharding are deprecated or gone, since when, and what replaces them.

Checked by asking JAX 0.10.2 for each name (tests/rules/test_api_versions.py repeats it); versions
are those of JAX's changelog, None where it does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiChange:
    """What happened to a name: ``removed`` tells that JAX 0.10.2 no longer has it.

    ``since`` is the release that deprecated it, or removed it if it is removed. ``instead`` says in
    words what to use.
    """

    name: str
    since: str | None
    removed: bool
    instead: str


def _gone(name: str, since: str | None, instead: str) -> ApiChange:
    return ApiChange(name, since, True, instead)


def _deprecated(name: str, since: str, instead: str) -> ApiChange:
    return ApiChange(name, since, False, instead)


_PXLA_SHARDING = ("Chunked", "NoSharding", "Replicated", "ShardedAxis", "ShardingSpec", "Unstacked")

CHANGES: dict[str, ApiChange] = {
    change.name: change
    for change in (
        _deprecated(
            "jax.experimental.shard_map.shard_map", "0.8.0", "jax.shard_map (check_rep is now check_vma)"
        ),
        _deprecated("jax.experimental.pjit.pjit", "0.8.0", "jax.jit"),
        _deprecated(
            "jax.interpreters.pxla.thread_resources",
            "0.8.2",
            "jax.set_mesh(mesh) and jax.sharding.get_abstract_mesh()",
        ),
        _gone("jax.sharding.use_mesh", "0.7.1", "jax.set_mesh"),
        _gone("jax.sharding.PositionalSharding", None, "jax.sharding.NamedSharding"),
        _gone("jax.sharding.GSPMDSharding", None, "jax.sharding.NamedSharding"),
        _gone("jax.sharding.PmapSharding", "0.10.0", "jax.sharding.NamedSharding"),
        _gone("jax.sharding.XLACompatibleSharding", "0.4.34", "jax.sharding.Sharding"),
        _gone("jax.sharding.OpShardingSharding", "0.4.12", "jax.sharding.NamedSharding"),
        _gone("jax.sharding.MeshPspecSharding", None, "jax.sharding.NamedSharding"),
        _gone("jax.sharding.AxisTypes", None, "jax.sharding.AxisType"),
        _gone("jax.experimental.maps", None, "jax.sharding.Mesh and jax.shard_map"),
        _gone("jax.experimental.maps.Mesh", "0.4.11", "jax.sharding.Mesh"),
        _gone("jax.experimental.maps.xmap", "0.4.31", "jax.shard_map"),
        _gone("jax.experimental.PartitionSpec", "0.4.11", "jax.sharding.PartitionSpec"),
        _gone("jax.experimental.pjit.PartitionSpec", "0.4.11", "jax.sharding.PartitionSpec"),
        _gone("jax.experimental.pjit.NamedSharding", "0.4.11", "jax.sharding.NamedSharding"),
        _gone(
            "jax.experimental.pjit.FROM_GDA",
            "0.4.11",
            "sharded jax.Arrays as arguments, without in_shardings",
        ),
        _gone("jax.experimental.pjit.with_sharding_constraint", None, "jax.lax.with_sharding_constraint"),
        _gone("jax.experimental.shard", "0.7.0", "jax.sharding (reshard, auto_axes, explicit_axes)"),
        _gone("jax.experimental.shard.reshard", "0.7.0", "jax.sharding.reshard"),
        _gone("jax.experimental.shard.auto_axes", "0.7.0", "jax.sharding.auto_axes"),
        _gone("jax.experimental.shard.explicit_axes", "0.7.0", "jax.sharding.explicit_axes"),
        _gone("jax.interpreters.pxla.Mesh", "0.4.11", "jax.sharding.Mesh"),
        _gone("jax.interpreters.pxla.PartitionSpec", "0.4.11", "jax.sharding.PartitionSpec"),
        *(
            _gone(f"jax.interpreters.pxla.{name}", "0.10.0", "jax.sharding.NamedSharding")
            for name in _PXLA_SHARDING
        ),
        _gone("jax.device_put_sharded", "0.10.0", "jax.device_put with a NamedSharding"),
        _gone("jax.device_put_replicated", "0.10.0", "jax.device_put with NamedSharding(mesh, P())"),
        _gone("jax.lax.pvary", "0.10.0", 'jax.lax.pcast(..., to="varying")'),
    )
}


def find_change(name: str) -> ApiChange | None:
    """What happened to a qualified name, or to the module that holds it."""
    while name:
        if (change := CHANGES.get(name)) is not None:
            return change
        name = name.rpartition(".")[0]
    return None


def is_removed(name: str) -> bool:
    """Whether JAX 0.10.2 no longer has a name."""
    change = find_change(name)
    return change is not None and change.removed
