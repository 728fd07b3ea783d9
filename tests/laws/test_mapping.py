"""What `vmap` and `pmap` ask of mapped axes, against the real JAX."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import real_jax
from support.jax_answers import asks_jax

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided
from shardlint.laws.transforms.vmap import Leaf, judge_mapped, judge_over_devices, judge_spmd

assert real_jax.PROGRAMS  # it sets the number of devices


def _leaves(rng: random.Random, size: int) -> list[Leaf]:
    leaves = []
    for index in range(rng.randint(1, 3)):
        rank = rng.choice((1, 2, 3))
        axis = rng.randrange(-rank, rank) if rng.random() < 0.2 else rng.randrange(rank)
        shape = [rng.choice((2, 3, 4)) for _ in range(rank)]
        shape[axis] = size if rng.random() < 0.85 else rng.choice((1, 2, 3, 4))
        if rng.random() < 0.1:
            axis = rng.choice((rank, -rank - 1))
        leaves.append(Leaf(f"argument {index}", tuple(shape), axis))
    return leaves


@asks_jax("laws")
def raised(leaves: list[Leaf], told: int | None, pmap: bool) -> str:
    """Return the class that mapping over leaves raises, or ``""``."""
    transform: Any = jax.pmap if pmap else jax.vmap
    try:
        mapped = transform(
            lambda *xs: [x * 2 for x in xs], in_axes=tuple(leaf.axis for leaf in leaves), axis_size=told
        )
        arrays = [jnp.ones(tuple(int(str(n)) for n in leaf.shape)) for leaf in leaves]
        mapped(*arrays) if pmap else jax.eval_shape(mapped, *arrays)
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("pmap", [False, True])
def test_mapped_axes(pmap: bool) -> None:
    rng = random.Random(pmap)
    seen: Counter[str] = Counter()
    for _ in range(100 if pmap else 400):
        size = rng.choice((2, 3, 4))
        leaves = _leaves(rng, size)
        told = rng.choice((None, None, size, 5))
        if pmap:
            told = None
        verdict = judge_mapped(leaves, told, pmap=pmap)
        open_axis = pmap and any(leaf.axis < 0 for leaf in leaves)
        if error := raised(leaves, told, pmap):
            assert open_axis or isinstance(verdict, Rejected), (leaves, told, error)
            if isinstance(verdict, Rejected):
                assert verdict.exception in (error, "Exception"), (leaves, error)
        else:
            assert open_axis or isinstance(verdict, Accepted), (leaves, told)
        seen[type(verdict).__name__] += 1
    assert min(seen.values()) > (10 if pmap else 100)


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 12, 16, 24])
@pytest.mark.parametrize("traced", [False, True])
def test_pmap_over_the_devices(size: int, traced: bool) -> None:
    verdict = judge_over_devices(Leaf("x", (size,), 0), 8, traced=traced)
    mapped: Any = jax.pmap(lambda x: x * 2)
    try:
        (jax.jit(mapped) if traced else mapped)(jnp.ones(size))
    except Exception as error:
        assert isinstance(verdict, Rejected)
        assert verdict.exception == type(error).__name__
    else:
        assert isinstance(verdict, Accepted)


def test_what_is_not_known_is_left_open() -> None:
    n = symbol("n")
    assert isinstance(judge_mapped([Leaf("x", (n,), 0), Leaf("y", (4,), 0)]), Undecided)
    assert isinstance(judge_mapped([Leaf("x", (n,), 0), Leaf("y", (n + 1,), 0)]), Rejected)
    assert isinstance(judge_over_devices(Leaf("x", (n,), 0), 8, traced=False), Undecided)


@pytest.mark.parametrize("axes", [("x",), ("y",), ("x", "y"), ("z",), ("x", "z")])
@pytest.mark.parametrize("entries", [(), ("x",), ("y",), (None, "x"), (("x", "y"),), ("y", "x")])
def test_spmd_axis_names(axes: tuple[str, ...], entries: tuple[Any, ...]) -> None:
    mesh = Mesh(("x", "y"), (4, 2), (AxisType.AUTO,) * 2)
    spec = Spec(entries)
    sharding = jax.sharding.NamedSharding(real_jax.real_mesh(mesh), real_jax.real_spec(spec))
    mapped = jax.vmap(lambda v: jax.lax.with_sharding_constraint(v, sharding), spmd_axis_name=axes)
    verdict = judge_spmd(axes, spec, mesh)
    try:
        jax.jit(mapped).trace(jnp.ones((8, 8, 8)))
    except Exception as error:
        assert isinstance(verdict, Rejected)
        assert verdict.exception == type(error).__name__
    else:
        assert isinstance(verdict, Accepted)
