"""The law of ``out_sharding=`` against every draw of `jax.random` that the overlays put under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest
import real_jax
from judging import Case, judge_case
from real_jax import real_mesh, real_spec
from support.jax_answers import asks_jax

from shardlint.inference.overlays.jax.sharding.creation_apis import SAMPLED
from shardlint.laws.core.values import AxisType, Marker, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Rejected

A, E = AxisType.AUTO, AxisType.EXPLICIT
MESHES = [Mesh(("x", "y"), (4, 2), types) for types in ((A, A), (E, E), (E, A))]
CASES: list[tuple[Spec, tuple[int, ...]]] = [
    (Spec(("x",)), (8, 8)), (Spec(), (8, 8)), (Spec(("x",)), (5, 8)), (Spec(("x", "y")), (8,)),
    (Spec((None, None)), (8,)), (Spec((None,)), ()), (Spec((Marker.UNCONSTRAINED,)), (8,)),
    (Spec(("x", "x")), (8, 8)), (Spec(("z",)), (8, 8)),
]  # fmt: skip
#: What stands between a draw's key and its shape; the shape of others comes first.
BEFORE: dict[str, tuple[float, ...]] = {
    "bernoulli": (0.5,), "beta": (2.0, 2.0), "chisquare": (2.0,), "f": (2.0, 3.0), "gamma": (2.0,),
    "generalized_normal": (2.0,), "loggamma": (2.0,), "pareto": (2.0,), "poisson": (2.0,),
    "rayleigh": (2.0,), "t": (2.0,), "triangular": (0.0, 1.0, 2.0), "truncated_normal": (-1.0, 1.0),
    "wald": (2.0,),
}  # fmt: skip


def _draw(name: str, shape: tuple[int, ...], out: Any) -> Callable[[Any], Any]:
    function = getattr(jax.random, name)
    if name == "randint":
        return lambda key: function(key, shape, 0, 4, out_sharding=out)
    if name == "categorical":
        return lambda key: function(key, jax.numpy.ones(3), -1, shape, out_sharding=out)
    return lambda key: function(key, *BEFORE.get(name, ()), shape, out_sharding=out)


@asks_jax("laws", real_jax)
def raised(name: str, mesh: Mesh, spec: Spec, shape: tuple[int, ...]) -> str:
    """Return the class that tracing a draw raises, or ``""``."""
    with jax.set_mesh(real_mesh(mesh)):
        try:
            jax.jit(_draw(name, shape, real_spec(spec))).trace(jax.random.key(0))
        except Exception as error:
            return type(error).__name__
    return ""


@pytest.mark.parametrize("name", SAMPLED)
def test_draws_follow_the_law(name: str) -> None:
    for mesh in MESHES:
        for spec, shape in CASES:
            verdict = judge_case(Case(Api.RANDOM_OUT_IN_JIT, mesh, spec, shape, raw=True))
            if error := raised(name, mesh, spec, shape):
                assert isinstance(verdict, Rejected), (mesh, spec, shape)
                assert verdict.exception == error
            else:
                assert isinstance(verdict, Accepted), (mesh, spec, shape)
