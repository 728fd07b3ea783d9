"""`jax.sharding.no_collectives`: the laws beside JAX, where it is new enough to have it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import pytest
from comparing import Program, ask_jax, ask_law, disagreement, out_of
from drawing import MODES, Draw, draw_mesh
from jax.sharding import NamedSharding, PartitionSpec
from measure_propagation import KINDS

from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.propagation.forbidden_collectives import forbidding, reshard

CASES = 60
#: Programs of which many communicate; of the others few do, or none.
SUMS = ("dot_general", "matmul", "broadcast_in_dim", "reduce", "reduce_and", "reduce_sum", "reshard")


def _reshard(draw: Draw) -> Program:
    """A reshard to a sharding that JAX accepts where nothing is forbidden."""
    draw.mesh = draw.context = draw_mesh(draw.rng, "explicit")
    assert draw.mesh is not None
    shape = draw.shape(empty=False)
    draw.array(shape)
    spec = draw.spec(draw.mesh, shape)
    out = NamedSharding(draw.mesh, PartitionSpec(*spec, *(None,) * (len(shape) - len(spec))))
    wanted = out_of(out)
    assert isinstance(wanted, TypeSharding)
    return Program(lambda x: jax.sharding.reshard(x, out), lambda c, a, s: reshard(a[0], wanted))


def _under(axes: frozenset[str], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs where no collective over these axes is allowed."""

    def run(*arrays: Any) -> Any:
        with jax.sharding.no_collectives(axes):
            return function(*arrays)

    return run


@pytest.mark.skipif(jax.__version_info__ < (0, 12), reason="JAX has no no_collectives")
@pytest.mark.parametrize("kind", [*KINDS, "reshard"])
def test_the_laws_agree_with_jax(kind: str) -> None:
    forbidden = 0
    for mode in MODES if kind != "reshard" else ("plain",):
        for case in range(CASES):
            rng = random.Random(f"{kind} {mode} {case}")
            draw = Draw(rng, mode)
            program = {**KINDS, "reshard": _reshard}[kind](draw)
            axes = frozenset(rng.sample("xyz", rng.randint(1, 2)))
            truth = ask_jax(draw, Program(_under(axes, program.function), program.law))
            with forbidding(axes):
                answer = ask_law(truth, program)
            wrong = disagreement(truth, answer)
            assert wrong is None, f"{mode} {case}: {truth.operands} in {truth.context}, not {axes}\n{wrong}"
            forbidden += isinstance(answer, Rejected) and answer.cause is Cause.FORBIDDEN_COLLECTIVE
    assert forbidden >= (9 if kind in SUMS else 0)
