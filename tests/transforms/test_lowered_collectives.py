"""What JAX refuses only as it lowers a program raises where its result is used: random programs."""

from __future__ import annotations

import os
import random
from collections import Counter

from support.checking import check
from support.jax_answers import asks_jax
from support.sizes import size

from shardlint.model.findings import Severity

CASES = size("SHARDLINT_LOWERED_CASES", 45, 135)
SEED = int(os.environ.get("SHARDLINT_LOWERED_SEED", "0"))
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
twice, beyond, ring = [(0, 1), (0, 2)], [(0, 8)], [(i, (i + 1) % 8) for i in range(8)]
def send(v, pairs=twice):
    return lax.ppermute(v, "x", pairs)
def kept(v):
    return send(v), v
def swapped(c, _):
    return (c[1], send(c[0])), c[0]
"""
#: What JAX refuses as it lowers the program, or not at all (the last two): of 8 × 8 matrices u and v.
WRONG = (
    "send({u})", "send({u}, beyond)", "lax.ppermute({u}, 'x', [(3, 1), (2, 1)])",
    "lax.psum_scatter({u}, 'x', scatter_dimension=-1, tiled=True) * jnp.ones((8, 8))",
    "jax.jit(kept)({u})[0]", "jax.jit(kept)({u})[1]", "jax.vmap(send)({u})",
    "lax.scan(swapped, ({u}, {v}), None, length=3)[0][0]", "lax.fori_loop(0, 2, lambda i, c: send(c), {u})",
    "lax.fori_loop(0, 0, lambda i, c: send(c), {u})", "lax.cond(jnp.sum({v}) > 3, send, lambda w: w, {u})",
    "lax.cond(jnp.sum({v}) > 3, kept, lambda w: (w, w), {u})[1]", "send({u}, ring)",
    "lax.fori_loop(0, 2, lambda i, c: send(c, ring), {u})",
    "lax.fori_loop(0, 3, lambda i, c: (c[0] + c[1], send(c[1])), ({u}, {v}))[0]",
    "lax.fori_loop(0, 3, lambda i, c: (c[0] * 2, send(c[1])), ({u}, {v}))[0]",
    "lax.scan(lambda c, _: ((c[1], c[2], send(c[2])), c[0]), ({u}, {v}, {u}), None, length=4)[1][0]",
    "lax.scan(lambda c, _: ((c[0], send(c[1])), c[0]), ({u}, {v}), None, length=4)[1][0]",
    "lax.while_loop(lambda c: c[2] < 3, lambda c: (c[0] + c[1], send(c[1]), c[2] + 1), ({u}, {v}, 0))[0]",
)  # fmt: skip
#: What may use it or not.
LINES = (
    "{u} + {v}", "{u} * 0 + {v}", "jnp.zeros_like({u})", "{v}.reshape({u}.shape)", "({u}, {v})[1]",
    "jnp.where({u} > 0, {v}, 1.0)", "lax.stop_gradient({u})", "jnp.tanh({u})", "{u} @ {v}",
    "jax.jit(kept)({v})[1]", "jax.checkpoint(lambda w: w * 2)({u})", "jnp.isnan({u}).astype(float)",
    "lax.psum({u}, 'x')", "jax.grad(lambda w: jnp.sum(w * {v}))({u})", "{u}[:, ::-1]",
    "{u}.at[0].set({v}[0])", "jnp.full_like({u}, 2)", "{u}.astype(jnp.int32) * {v}",
    "lax.pcast(jnp.ones((8, 8)), 'x', to='varying')",
)  # fmt: skip
#: How the mapped function is called.
CALLS = (
    "f(x)", "jax.jit(f)(x)", "jax.jit(lambda x: (f(x), x)[1])(x)", "jax.jit(lambda x: f(x) * 2)(x)",
    "jax.jit(f).lower(x)", "jax.eval_shape(f, x)", "jax.jit(lambda x: f(x).shape[0] * x)(x)",
    "jax.jit(jax.jit(f))(x)", "jax.vmap(f)(x[None])", "jax.jit(jax.grad(lambda x: f(x).sum()))(x)",
)  # fmt: skip


def random_program(rng: random.Random) -> str:
    """A program whose last line calls a shard_map with something wrong in it, used or not."""
    lines, names = [], ["a", "b"]
    count = rng.randint(1, 5)
    at = rng.randrange(count)
    for i in range(count):
        u, v = (rng.choice(names[-3:]) for _ in range(2))
        lines.append(f"v{i} = " + rng.choice(WRONG if i == at else LINES).format(u=u, v=v))
        names.append(f"v{i}")
    body = "\n    ".join([*lines, f"return {rng.choice(names[-2:])} + jnp.zeros((8, 8))"])
    check = rng.choice(("True", "False"))
    return (
        f"{HEADER}def body(a):\n    b = a.T\n    {body}\n"
        f"f = jax.shard_map(body, mesh=mesh, in_specs=P('x'), out_specs=P('x'), check_vma={check})\n"
        f"x = jnp.ones((64, 8))\n{rng.choice(CALLS)}\n"
    )


@asks_jax("transforms")
def raises(program: str) -> bool:
    """Return whether JAX refuses a program."""
    try:
        exec(program, {})  # the program is random, and ours
    except Exception:  # whatever JAX raises
        return True
    return False


def test_errors_are_raised() -> None:
    rng, tally = random.Random(SEED), Counter[str]()
    for _ in range(CASES):
        program = random_program(rng)
        findings = check(program)
        errors = [finding.message for finding in findings if finding.severity is Severity.ERROR]
        if raises(program):
            tally["raises"] += 1
            tally["found"] += bool(errors)
            # Where it is not sure that the result is used, it is a warning.
            assert findings, program
        else:
            tally["runs"] += 1
            assert not errors, (errors, program)
    assert tally["runs"] > CASES / 4, tally
    assert tally["found"] >= 0.3 * tally["raises"] > CASES / 20, tally
