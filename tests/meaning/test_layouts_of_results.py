"""Results of jitted functions without out_shardings: where they are said to lie, JAX leaves them, on random
programs."""

from __future__ import annotations

import random

import pytest
from consequences import value
from support.evaluation import evaluate_module
from support.sizes import size

from shardlint.inference.domain.values import Array, ShardingValue, SpecValue, Tuple, Value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
"""
SPECS = ("'x'", "'y'", "'x', 'y'", "None, 'x'", "None, 'y'", "('x', 'y')", "")
#: Expressions of arrays with 8 rows and columns.
STEPS = (
    "{a} * 2", "{a} + {b}", "jnp.tanh({a})", "{a}.T", "jnp.where({a} > 0, {a}, {b})", "{a}.at[0].set(1)",
    "{a}.at[0].set({b}[1])", "{a} @ {b}", "{a} - {b}.mean()", "{a} + {b}.sum(axis=0)", "jnp.roll({a}, 1, 0)",
    "jnp.flip({a}, 0)", "lax.stop_gradient({a})", "jnp.cumsum({a}, axis=0)",
    "{a}.reshape(64).reshape(8, 8)", "{a}.reshape(2, 4, 8).reshape(8, 8)",
    "jnp.sort({a}, axis=1)", "jnp.argsort({a}, axis=0)", "jnp.cumsum({a}, axis=1)", "jnp.tril({a})",
    "jnp.concatenate([{a}, {b}], axis=1)[:, :8]", "jnp.concatenate([{a}[4:], {b}[:4]])",
    "jnp.pad({a}, ((0, 0), (1, 0)))[:, :8]", "jnp.repeat({a}, 2, axis=1)[:, ::2]",
    "jnp.stack([{a}, {b}], axis=1)[:, 0]", "jnp.tile({a}, (1, 2))[:, 8:]", "jnp.roll({a}, 3, axis=1)",
    "lax.dynamic_slice_in_dim({a}, 0, 8, axis=1)", "jnp.broadcast_to({a}[:, None], (8, 2, 8))[:, 1]",
    "{a}.astype(jnp.bfloat16)", "jnp.swapaxes({a}, 0, 1)", "lax.with_sharding_constraint({a}, on('x', 'y'))",
)  # fmt: skip


def _program(rng: random.Random) -> str:
    """Return a program that makes a tuple ``made`` in a jitted function."""
    given = rng.choices(SPECS, k=rng.choice((1, 1, 1, 2)))
    if len(given) == 2 and rng.random() < 0.6:
        given[1] = given[0]
    names = ["a", "b"][: len(given)]
    host = rng.random() < 0.1
    lines = [
        f"{n} = np.ones((8, 8), np.float32)" if host else f"{n} = jax.device_put(jnp.ones((8, 8)), on({s}))"
        for n, s in zip(names, given, strict=True)
    ]
    held, body = [*names], []
    for i in range(rng.randint(0, 4)):
        pick = (lambda: rng.choice(held[-3:])) if rng.random() < 0.7 else (lambda: rng.choice(names))
        step = rng.choice(STEPS[:-1] if rng.random() < 0.9 else STEPS)
        body.append(f"    v{i} = {step.format(a=pick(), b=pick())}")
        held.append(f"v{i}")
    results = rng.sample(held, min(len(held), rng.randint(1, 3)))
    options = (
        f", in_shardings=({', '.join(f'on({s})' for s in given)},)" if host or rng.random() < 0.3 else ""
    )
    function = f"def f({', '.join(names)}):\n" + "\n".join([*body, f"    return {', '.join(results)},"])
    return "\n".join([HEADER, *lines, function, f"made = jax.jit(f{options})({', '.join(names)})", ""])


def _said(result: Value) -> tuple[object, ...] | None:
    """Return how a result is said to be split, an entry a dimension."""
    home = result.committed if isinstance(result, Array) else None
    if not isinstance(home, ShardingValue) or not isinstance(home.spec, SpecValue):
        return None
    entries = home.spec.spec.entries
    return (*entries, *(None,) * (2 - len(entries)))


SEEDS = range(size("SHARDLINT_RESULT_LAYOUTS", 120, 400))


@pytest.mark.parametrize("seed", SEEDS)
def test_results_lie_where_they_are_said_to(seed: int) -> None:
    program = _program(random.Random(seed))
    made = evaluate_module(program).variables["made"]
    assert isinstance(made, Tuple)
    said = [_said(one) for one in made.items]
    if not any(said):
        return
    real = value(program, "[(r.committed, tuple(r.sharding.spec) + (None,) * 2) for r in made]")
    for ours, (committed, spec) in zip(said, real, strict=True):
        if ours is not None:
            assert committed and spec[:2] == ours, program


def test_most_results_of_one_argument_are_said() -> None:
    made = [evaluate_module(_program(random.Random(seed))).variables["made"] for seed in SEEDS]
    said = [_said(one) is not None for results in made if isinstance(results, Tuple) for one in results.items]
    assert sum(said) > 0.3 * len(said)
