"""The steps of a witness: their names, and the one that has been reached."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import jax
from jax.experimental import shard_map as _old

Request = dict[str, Any]


class Unsupported(Exception):
    """This JAX or Flax cannot run the request."""


#: The current step of a witness; on an exception it is part of the answer.
STAGE = [""]


def at(stage: str) -> None:
    """Record the next step."""
    STAGE[0] = stage


def member(module: Any, name: str) -> Any:
    """Return the attribute of a module of this JAX. Raises Unsupported if there is none."""
    if not hasattr(module, name):
        raise Unsupported(f"{module.__name__}.{name} is not in JAX {jax.__version__}")
    return getattr(module, name)


def within(mesh: Any) -> Any:
    """Return a mesh context: `jax.set_mesh` or its predecessor; without devices `use_abstract_mesh`."""
    if mesh is None:
        return contextlib.nullcontext()
    if not isinstance(mesh, jax.sharding.Mesh):
        return member(jax.sharding, "use_abstract_mesh")(mesh)
    setter = getattr(jax, "set_mesh", None) or getattr(jax.sharding, "use_mesh", None)
    return mesh if setter is None else setter(mesh)


def forbidding(axes: Any) -> Any:
    """Return a context in which no collective over these axes is allowed; without axes all are."""
    if not axes:
        return contextlib.nullcontext()
    return member(jax.sharding, "no_collectives")(frozenset(axes))


def shard_map(function: Any, mesh: Any, in_specs: Any, out_specs: Any, check: bool) -> Any:
    """`jax.shard_map`, old or new; ``check`` is ``check_vma``, once called ``check_rep``."""
    mapper = getattr(jax, "shard_map", None) or _old.shard_map
    flag = "check_vma" if "check_vma" in inspect.signature(mapper).parameters else "check_rep"
    return mapper(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **{flag: check})


def staged(jitted: Any, *arguments: Any, abstract: bool = False) -> Any:
    """Trace; where the mesh has devices lower and compile too; and run where the arguments are arrays."""
    at("trace")
    traced = jitted.trace(*arguments)
    if abstract:
        return None
    at("lower")
    lowered = traced.lower()
    at("compile")
    lowered.compile()
    if any(isinstance(value, jax.ShapeDtypeStruct) for value in arguments):
        return None
    at("execute")
    return jax.block_until_ready(jitted(*arguments))


def keep(made: Any, x: Any) -> Any:
    """Return x, such that JAX does not drop what made these arrays as unused."""
    arrays = [leaf for leaf in jax.tree.leaves(made) if isinstance(leaf, jax.Array)]
    return jax.lax.optimization_barrier((x, *arrays))[0]
