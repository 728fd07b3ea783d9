"""Constraints in a body of shard_map without its check, by a sharding of the mesh around: beside JAX."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from shardlint.laws.core.values import AxisType as Kind
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.transforms.shard_map import judge_inside

SPECS: tuple[tuple[Any, ...], ...] = (
    (),
    (None,),
    ("x",),
    ("y",),
    (None, "y"),
    ("x", "y"),
    (("x", "y"),),
    (None, ("y", "x")),
)


def refused(entries: tuple[Any, ...], manual: tuple[str, ...]) -> str:
    """Return the class that JAX raises when it lowers a constraint in a body, or ``""``."""
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    sharding = NamedSharding(mesh, PartitionSpec(*entries))
    mapped = jax.shard_map(
        lambda x: lax.with_sharding_constraint(x, sharding) + 1,
        mesh=mesh, in_specs=PartitionSpec(*manual), out_specs=PartitionSpec(*manual),
        axis_names=set(manual), check_vma=False,
    )  # fmt: skip
    try:
        jax.jit(mapped).lower(jnp.ones((16, 16)))
    except Exception as error:
        return type(error).__name__
    return ""


def test_what_is_lowered_names_no_manual_axis() -> None:
    mesh = Mesh(("x", "y"), (2, 2), (Kind.AUTO, Kind.AUTO))
    count = Counter[bool]()
    for entries, manual in itertools.product(SPECS, (("x", "y"), ("x",), ("y",))):
        verdict = judge_inside(
            Api.CONSTRAINT, mesh, Spec(entries), (8, 8),
            raw=False, varying=frozenset(), manual=frozenset(manual),
        )  # fmt: skip
        said = verdict.exception if isinstance(verdict, Rejected) else ""
        assert said == refused(entries, manual), (entries, manual)
        count[bool(said)] += 1
    assert min(count.values()) > 5


@pytest.mark.parametrize("entries", SPECS[2:])
def test_tracing_says_nothing(entries: tuple[Any, ...]) -> None:
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    sharding = NamedSharding(mesh, PartitionSpec(*entries))
    mapped = jax.shard_map(
        lambda x: lax.with_sharding_constraint(x, sharding),
        mesh=mesh, in_specs=PartitionSpec("x", "y"), out_specs=PartitionSpec("x", "y"), check_vma=False,
    )  # fmt: skip
    jax.eval_shape(mapped, jnp.ones((16, 16)))
