"""Which results of a shard_map body vary over axes that out_specs leave out: our word beside JAX's."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from support.checking import rejected
from support.jax_answers import asks_jax
from support.sizes import size

from shardlint.laws.core.verdicts import Cause

CASES = size("SHARDLINT_VARYING_CASES", 50, 150)
SPECS = ("P()", "P('x')", "P('y')", "P(('x', 'y'))", "P(None, 'y')")
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def doubled(v):
    return v * 2
"""
UNARY = (
    "-{0}", "{0} * 0", "{0} + 1", "jnp.tanh({0})", "doubled({0})", "jax.jit(doubled)({0})",
    "jnp.zeros_like({0})",
    "jax.vmap(doubled)({0})", "lax.stop_gradient({0})", "{0}.sum(0)", "jnp.mean({0}, keepdims=True)",
    "{0}.astype(jnp.int32) * 1.0", "jax.nn.softmax({0})", "jnp.where({0} > 0, 1.0, 2.0)",
    "jnp.zeros({0}.shape)",
    "jnp.argmax({0}, axis=0) * 1.0", "{0}[0]", "{0}[:1]", "jnp.broadcast_to(jnp.sum({0}), (8, 8))",
    "jnp.ones({0}.shape[0])", "lax.psum({0}, 'x')", "lax.psum({0}, 'y')", "lax.psum({0}, ('x', 'y'))",
    "lax.pmean({0}, 'x')", "lax.pmax({0}, 'y')", "lax.all_gather({0}, 'x', tiled=True)",
    "lax.all_gather({0}, 'y')", "lax.ppermute({0}, 'x', [(0, 1), (1, 0)])", "{0} + lax.axis_index('y')",
    "jax.checkpoint(doubled)({0})", "jnp.stack([{0}, {0}])", "jnp.sort({0}, axis=0)", "{0}.T",
    "jnp.cumsum({0}, 0)",
)  # fmt: skip
BINARY = (
    "{0}.sum() + {1}",
    "{0}.mean() * {1}.mean()",
    "jnp.where({0}.sum() > 0, {1}, 0.0)",
    "({0}.sum(), {1})[1]",
)


def random_body(rng: random.Random) -> list[str]:
    """Statements that compute ``r`` from the shards ``a``, ``b`` and ``w``."""
    lines, names = [], ["a", "b", "w"]
    for i in range(rng.randint(1, 5)):
        template = rng.choice(BINARY) if rng.random() < 0.3 else rng.choice(UNARY)
        lines.append(f"v{i} = " + template.format(rng.choice(names), rng.choice(names)))
        names.append(f"v{i}")
    last = rng.choice(names[-2:])
    return [*lines, f"return jnp.ravel({last})" if rng.random() < 0.7 else f"return jnp.sum({last})"]


def random_program(rng: random.Random) -> str:
    """A program that ends in a shard_map of a random body."""
    body = "\n    ".join(random_body(rng))
    specs = ", ".join(rng.choice(SPECS) for _ in range(2))
    out = rng.choice(("P()", "P()", "P('x')", "P('y')", "P(('x', 'y'))"))
    return (
        f"{HEADER}def body(a, b, w):\n    {body}\n"
        f"f = jax.shard_map(body, mesh=mesh, in_specs=({specs}, P()), out_specs={out})\n"
        "x = jnp.ones((8, 8))\n"
    )


@asks_jax("transforms")
def jax_says(program: str) -> str | None:
    """None where JAX accepts the program, "varying" where it misses a reduction, else "other"."""
    scope = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "Mesh": Mesh, "P": PartitionSpec}
    exec(program, scope)  # the program is made above
    try:
        jax.eval_shape(scope["f"], scope["x"], scope["x"], scope["x"])
    except Exception as error:
        return "varying" if "require replication" in str(error) else "other"
    return None


def test_what_varies_agrees_with_jax() -> None:
    rng = random.Random(0)
    seen = {"varying": 0, None: 0, "other": 0}
    found = 0
    for _ in range(CASES):
        program = random_program(rng)
        said = jax_says(program)
        seen[said] += 1
        wrong = rejected(program + "f(x, x, x)\n")
        claimed = any(getattr(use.verdict, "cause", None) is Cause.VARYING for use in wrong)
        # Where something else is wrong too, JAX may meet it first.
        assert not claimed or said is not None, program
        found += claimed and said == "varying"
    assert min(seen["varying"], seen[None]) > 0.2 * CASES, seen
    # What is not followed loses its axes; in these programs hardly anything is.
    assert found >= 0.95 * seen["varying"], (found, seen)
