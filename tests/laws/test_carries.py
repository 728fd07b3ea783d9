"""The law of carries and branches against JAX, on Explicit axes and on Manual ones."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec
from support.jax_answers import asks_jax

from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType as Kind
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided
from shardlint.laws.transforms.loop_carries import Carried, judge_carry
from shardlint.laws.transforms.varying import CONSTANT, UNKNOWN, Variation

LOOPS = {
    "scan": lambda before, after: lax.scan(lambda c, _: (after, None), before, None, length=2),
    "fori_loop": lambda before, after: lax.fori_loop(0, 2, lambda i, c: after, before),
    "while_loop": lambda before, after: lax.while_loop(lambda c: True, lambda c: after, before),
    "cond": lambda before, after: lax.cond(True, lambda: before, lambda: after),
    "switch": lambda before, after: lax.switch(0, [lambda: before, lambda: after]),
}
SPECS = [(), ("x",), (None, "x"), ("y",), ("x", None), (("x", "y"),), (("x",),), (("y", "x"), None)]
AXES = [frozenset(), frozenset("x"), frozenset("y"), frozenset("xy")]


def raised(call: Any, *args: Any) -> str:
    """The class that tracing raises, or ``""``."""
    try:
        jax.eval_shape(call, *args)
    except Exception as error:
        return type(error).__name__
    return ""


@asks_jax("laws")
def raised_of_shardings(loop: str, one: tuple[Any, ...], other: tuple[Any, ...]) -> str:
    """Return the class that a loop raises whose carry comes in with one spec and goes out with another."""

    def call(x: Any) -> Any:
        before, after = (jax.sharding.reshard(x, PartitionSpec(*spec)) for spec in (one, other))
        return LOOPS[loop](before, after)

    mesh = AbstractMesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.sharding.use_abstract_mesh(mesh):
        return raised(call, jax.ShapeDtypeStruct((8, 8), np.float32))


@asks_jax("laws")
def raised_of_axes(loop: str, one: list[str], other: list[str], longer: bool) -> str:
    """Return the class that a loop raises whose carry varies over other axes after it, or is longer."""
    mesh = AbstractMesh((2, 2), ("x", "y"))

    def call() -> Any:
        before, after = (
            lax.pcast(jnp.ones(4), tuple(axes), to="varying") if axes else jnp.ones(4)
            for axes in (one, other)
        )
        LOOPS[loop](before, jnp.concatenate([after, after]) if longer else after)
        return jnp.ones(())

    return raised(jax.shard_map(call, mesh=mesh, in_specs=(), out_specs=PartitionSpec()))


def says(before: Carried, after: Carried) -> str:
    """The class that the law says."""
    verdict = judge_carry(before, after)
    assert not isinstance(verdict, Undecided)
    return verdict.exception if isinstance(verdict, Rejected) else ""


@pytest.mark.parametrize("loop", LOOPS)
def test_shardings_of_carries(loop: str) -> None:
    ours = Mesh(("x", "y"), (2, 2), (Kind.EXPLICIT,) * 2)
    rejected = 0
    for one, other in itertools.product(SPECS, SPECS):
        real = raised_of_shardings(loop, one, other)
        kinds = [Carried((8, 8), CONSTANT, TypeSharding(ours, Spec(spec))) for spec in (one, other)]
        assert says(*kinds) == real, (one, other, real)
        rejected += bool(real)
    assert 0.3 * len(SPECS) ** 2 < rejected < len(SPECS) ** 2


@pytest.mark.parametrize("loop", LOOPS)
def test_varying_axes_and_shapes_of_carries(loop: str) -> None:
    for one, other, longer in itertools.product(AXES, AXES, (False, True)):
        real = raised_of_axes(loop, sorted(one), sorted(other), longer)
        before, after = (Carried((4,), Variation(axes, axes)) for axes in (one, other))
        assert says(before, Carried((8,), after.variation) if longer else after) == real, (one, other, longer)


def test_what_is_not_known_is_not_judged() -> None:
    x = Variation(frozenset("x"), frozenset("x"))
    assert isinstance(judge_carry(Carried((4,), UNKNOWN), Carried((4,), x)), Undecided)
    assert isinstance(
        judge_carry(Carried((4,), Variation(perhaps=frozenset("y"))), Carried(None, x)), Rejected
    )
    assert isinstance(judge_carry(Carried((4,), x), Carried((symbol("n"),), x)), Accepted)
    assert isinstance(judge_carry(Carried(None, x), Carried((4,), x)), Accepted)
    open_mesh = TypeSharding(None, Spec())
    mesh = Mesh(("x",), (2,), (Kind.EXPLICIT,))
    split = TypeSharding(mesh, Spec(("x",)))
    assert isinstance(judge_carry(Carried((4,), x, open_mesh), Carried((4,), x, split)), Accepted)
    assert isinstance(judge_carry(Carried((4,), x), Carried((4,), x, split)), Accepted)
