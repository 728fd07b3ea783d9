"""`with_sharding_constraint` on Explicit axes, of arrays and specs with reduced or unreduced axes."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import pytest
from judging import Case, judge_case
from real_jax import real_mesh, real_spec

from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Rejected

X = frozenset({"x"})
MESH = Mesh(("x", "y"), (4, 2), (AxisType.EXPLICIT, AxisType.EXPLICIT))
SPECS = [
    Spec((None, None)), Spec(("x", None)), Spec((None, "y"), reduced=X), Spec((None, None), reduced=X),
    Spec((None, None), unreduced=X), Spec(), Spec(("y",), reduced=X),
]  # fmt: skip


@pytest.mark.parametrize("api", [Api.CONSTRAINT, Api.CONSTRAINT_EAGER])
def test_constraints_of_reductions(api: Api) -> None:
    with jax.set_mesh(real_mesh(MESH)):
        whole = jnp.ones((8, 8))
        for held, wanted in itertools.product(SPECS, SPECS):
            padded = Spec((*held.entries, None, None)[:2], held.unreduced, held.reduced)
            verdict = judge_case(Case(api, MESH, wanted, (8, 8), raw=True, held=padded))

            def constrain(x: jax.Array, held: Spec = held, wanted: Spec = wanted) -> jax.Array:
                placed = jax.reshard(x, real_spec(held))
                return jax.lax.with_sharding_constraint(placed, real_spec(wanted))

            try:
                jax.eval_shape(constrain, whole)
            except (ValueError, AssertionError) as error:
                assert isinstance(verdict, Rejected), (held, wanted, error)
                assert verdict.exception == type(error).__name__, (held, wanted, error)
            else:
                assert isinstance(verdict, Accepted), (held, wanted, verdict)
