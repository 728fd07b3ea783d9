"""Names of JAX's own modules (`jax._src…`), which tests and libraries import: the public objects they are.

Checked with JAX 0.10.2 and 0.12.0: what a module of `HOMES` has under a public name is the public object.
"""

from __future__ import annotations

INTERNAL = "jax._src."
#: The public modules of what a module defines, the nearer first.
HOMES: dict[str, tuple[str, ...]] = {
    "ad_checkpoint": ("jax",),
    "api": ("jax",),
    "array": ("jax",),
    "config": ("jax.config", "jax"),
    "core": ("jax", "jax.core"),
    "custom_derivatives": ("jax",),
    "lax.control_flow": ("jax.lax",),
    "lax.control_flow.conditionals": ("jax.lax",),
    "lax.control_flow.loops": ("jax.lax",),
    "lax.convolution": ("jax.lax",),
    "lax.lax": ("jax.lax",),
    "lax.linalg": ("jax.lax.linalg",),
    "lax.parallel": ("jax.lax",),
    "lax.slicing": ("jax.lax",),
    "lax.special": ("jax.lax",),
    "lax.windowed_reductions": ("jax.lax",),
    "layout": ("jax.experimental.layout",),
    "mesh": ("jax.sharding",),
    "mesh_utils": ("jax.experimental.mesh_utils",),
    "named_sharding": ("jax.sharding",),
    "nn.functions": ("jax.nn",),
    "nn.initializers": ("jax.nn.initializers",),
    "numpy.array_creation": ("jax.numpy",),
    "numpy.lax_numpy": ("jax.numpy",),
    "numpy.reductions": ("jax.numpy",),
    "numpy.tensor_contractions": ("jax.numpy",),
    "numpy.ufuncs": ("jax.numpy",),
    "partition_spec": ("jax.sharding",),
    "pjit": ("jax.experimental.pjit", "jax.sharding", "jax.lax"),
    "pmap": ("jax",),
    "random.core": ("jax.random",),
    "shard_map": ("jax",),
    "sharding": ("jax.sharding",),
    "sharding_impls": ("jax", "jax.sharding"),
    "tree": ("jax.tree",),
    "tree_util": ("jax.tree_util",),
    "xla_bridge": ("jax",),
}
#: Objects that many modules import from one another: the same everywhere but in Pallas, with its own `Mesh`.
_EVERYWHERE: dict[str, str] = {
    name: f"jax.sharding.{name}"
    for name in (
        "AbstractMesh", "AxisType", "Mesh", "NamedSharding", "PartitionSpec", "get_abstract_mesh",
        "use_abstract_mesh",
    )
}  # fmt: skip
_ELSEWHERE = f"{INTERNAL}pallas."

#: Names under which JAX's modules keep functions of their own instead of Python's.
_OWN = frozenset({"map", "zip"})
#: Public only where the function is defined: elsewhere a module of JAX's own, or the state of an option.
_DEFINING = {"remat": "ad_checkpoint", "disable_jit": "api"}


def shared_name(name: str) -> str | None:
    """Return the public name of an object that has its name in all modules; None for another one."""
    return None if name.startswith(_ELSEWHERE) else _EVERYWHERE.get(name.rpartition(".")[2])


def public_names(name: str) -> tuple[str, ...]:
    """Return the public names that another internal object may have: the first one known is its."""
    module, _, last = name.removeprefix(INTERNAL).rpartition(".")
    if last in _OWN or _DEFINING.get(last, module) != module:
        return ()
    return tuple(f"{home}.{last}" for home in HOMES.get(module, ()))
