"""Make an older JAX answer the questions of `tests/laws/real_jax.py`, as far as it has what they ask about.

Imported before `real_jax`, under any JAX from 0.4.35 on. What a release calls otherwise gets today's name;
what it lacks makes `answerable` say why a case cannot be asked.
"""

from __future__ import annotations

import enum
import inspect
import os
import sys
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / name) for name in ("laws", "propagation"))]
RELEASE = tuple(int(part) for part in jax.__version__.split(".")[:3])

#: Whether this release has axis types at all, and a mesh in the context.
AXIS_TYPES = hasattr(jax.sharding, "AxisType")
CONTEXT = hasattr(jax, "set_mesh") or hasattr(jax.sharding, "use_mesh")


#: Whether shard_map is only the experimental one, which takes no mesh from the context.
OLD_SHARD_MAP = not hasattr(jax, "shard_map")


class _AxisType(enum.Enum):
    """What stands for axis types where there are none: the laws' cases name them."""

    Auto = "Auto"
    Explicit = "Explicit"
    Manual = "Manual"


def _install() -> None:
    if not AXIS_TYPES:
        vars(jax.sharding)["AxisType"] = _AxisType
    if not hasattr(jax.sharding, "get_abstract_mesh"):
        jax.sharding.get_abstract_mesh = _bound_axes
    if not hasattr(jax, "set_mesh") and CONTEXT:
        jax.set_mesh = jax.sharding.use_mesh
    if not hasattr(jax, "shard_map"):
        from jax.experimental.shard_map import shard_map

        def today(f: Any, *, mesh: Any, in_specs: Any, out_specs: Any, check_vma: bool = True) -> Any:
            return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_rep=check_vma)

        jax.shard_map = today
    if not hasattr(jax.sharding, "reshard"):
        try:
            from jax.experimental.shard import reshard
        except ImportError:
            return
        jax.sharding.reshard = reshard


def _bound_axes() -> Any:
    """What stands for the mesh inside shard_map where it cannot be asked: the names collectives may use."""

    class Bound:
        axis_names = tuple(jax.core.unsafe_get_axis_names_DO_NOT_USE())

    return Bound


_install()

import real_jax  # noqa: E402

from shardlint.laws.core import values  # noqa: E402
from shardlint.laws.core.values import AxisType  # noqa: E402
from shardlint.laws.core.verdicts import Api  # noqa: E402


def _mesh_before_axis_types(mesh: values.Mesh) -> Any:
    if mesh.abstract:
        return jax.sharding.AbstractMesh(tuple(zip(mesh.names, mesh.sizes, strict=True)))
    count = int(np.prod(mesh.sizes, dtype=int))
    return jax.sharding.Mesh(np.array(jax.devices()[:count]).reshape(mesh.sizes), mesh.names)


if not AXIS_TYPES:
    real_jax.real_mesh = _mesh_before_axis_types


def takes(function: Any, argument: str) -> bool:
    return argument in inspect.signature(function).parameters


#: What an API needs, beside the mesh.
_NEEDS: dict[Api, tuple[bool, str]] = {
    **dict.fromkeys((Api.RESHARD, Api.RESHARD_IN_JIT), (hasattr(jax.sharding, "reshard"), "no reshard")),
    **dict.fromkeys(
        (Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT),
        (takes(jnp.zeros, "out_sharding"), "no zeros(out_sharding=)"),
    ),
    **dict.fromkeys(
        (Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT),
        (takes(jax.random.normal, "out_sharding"), "no random.normal(out_sharding=)"),
    ),
    **dict.fromkeys(
        (Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT, Api.NNX_SHARDING),
        (hasattr(nnx, "use_eager_sharding"), "flax before eager sharding"),
    ),
}


def answerable(
    api: Api, mesh: values.Mesh | None, rank: int, *, raw: bool, under: bool | values.Mesh
) -> str | None:
    """Say what this release lacks for a case; None if it can be asked."""
    there, lack = _NEEDS.get(api, (True, ""))
    if not there:
        return lack
    if isinstance(mesh, values.Mesh) and not AXIS_TYPES and set(mesh.types) != {AxisType.AUTO}:
        return "no axis types"
    if (raw or under) and not CONTEXT:
        return "no context mesh"
    if api in (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT) and (raw or mesh is None) and OLD_SHARD_MAP:
        return "a shard_map without mesh="
    makers = _MAKERS.get(api)
    if makers is not None and not takes(makers[rank % len(makers)], "out_sharding"):
        return "a function without out_sharding="
    return None


_CREATORS = (jnp.zeros, jnp.ones, jnp.empty, jnp.full, jnp.zeros_like)
_SAMPLERS = (jax.random.normal, jax.random.uniform, jax.random.bits, jax.random.gumbel)
#: The functions that `real_jax` asks in turn, by the rank of the array.
_MAKERS = {
    **dict.fromkeys((Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT), _CREATORS),
    **dict.fromkeys((Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT), _SAMPLERS),
}
