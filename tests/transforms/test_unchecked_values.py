"""Under ``check_vma=False`` types say nothing: our bounds beside the values that devices hold."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from probing import evaluate
from support.jax_answers import asks_jax
from support.sizes import size

from shardlint.inference.domain.values import Array
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.laws.core.verdicts import Rejected

CASES = size("SHARDLINT_UNCHECKED_CASES", 25, 25)
SEED = int(os.environ.get("SHARDLINT_VARYING_SEED", "0"))
SPECS = ("P()", "P('x')", "P('y')", "P('x', 'y')", "P(('x', 'y'))")
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def tall(v):
    return jnp.tile(v, (8, 1)) + jnp.arange(64.0)[:, None]
ring = [(i, (i + 1) % 4) for i in range(4)]
"""
#: Each makes a square matrix of one from matrices u and v, so that all meet all.
LINES = (
    "{u} + {v}", "{u} * 0.5 + {v}", "{u} @ {v}", "jnp.tanh({u})", "jnp.ones((8, 8))", "{u}.T", "{u} - {v}",
    "{u} + lax.axis_index({a})", "lax.psum({u}, {a})", "lax.psum({u}, {a})", "lax.pmean({u}, {a})",
    "lax.pmax({u}, {a})", "lax.all_gather({u}, {a}).sum(0)", "lax.all_gather({u}, {a}, tiled=True)[:8]",
    "lax.psum_scatter(tall({u}), {a}, tiled=True)[:8]",
    "lax.all_to_all(tall({u}), {a}, 0, 0, tiled=True)[:8]",
    "lax.ppermute({u}, 'x', [(0, 1), (1, 0)])", "lax.ppermute({u}, 'y', ring)",
    "lax.ppermute({u}, 'y', [(0, 1), (1, 0)])", "lax.pmax({u}, 'y', axis_index_groups=[[0, 1], [2, 3]])",
    "lax.all_gather({u}, 'y', axis_index_groups=[[0, 1], [2, 3]]).sum(0)",
    "lax.scan(lambda c, _: (c + {u}, None), {v}, None, length=3)[0]",
    "lax.fori_loop(0, 4, lambda i, c: (c[0] + c[1], lax.ppermute(c[1], 'y', ring)),"
    " (jnp.zeros((8, 8)), {u}))[0]",
    "lax.scan(lambda c, r: (c + r, c @ {v} * 0.1), jnp.zeros((8, 8)), jnp.stack([{u}, {u} * 2]))[0]",
    "lax.scan(lambda c, r: (c + r, c * 2), {v}, jnp.stack([{u}] * 3))[1].sum(0)",
    "lax.fori_loop(0, 4, lambda i, c: (c[1], c[2], {u}), ({v}, jnp.ones((8, 8)), {v}))[0]",
    "lax.fori_loop(0, 2, lambda i, c: lax.psum(c, {a}) * 0.1 + {v}, {u})",
    "lax.while_loop(lambda c: c[1] < 2, lambda c: (c[0] + {u}, c[1] + 1), (jnp.zeros((8, 8)), 0))[0]",
    "lax.cond(jnp.sum({u}) > 3, lambda: {v}, lambda: jnp.ones((8, 8)))", "lax.pcast({u}, 'x', to='varying')",
    "jax.grad(lambda w: jnp.sum(w @ {v}))({u})", "jax.vmap(lambda w: w * 2)({u})",
    "jax.jit(lambda w: w + {v})({u})",
)  # fmt: skip


def random_program(rng: random.Random) -> str:
    """A program that ends in a shard_map over a random body without the check."""
    lines, names = ["a, b = (jnp.resize(v, (8, 8)) for v in (a, b))"], ["a", "b"]
    for i in range(rng.randint(1, 6)):
        u, v = (rng.choice(names[-3:]) for _ in range(2))
        axes = rng.choice(("'x'", "'y'", "('x', 'y')"))
        lines.append(f"v{i} = {rng.choice(LINES).format(u=u, v=v, a=axes)}; probe({i}, v{i})")
        names.append(f"v{i}")
    body = "\n    ".join(lines)
    first, second = (rng.choice(SPECS) for _ in range(2))
    return (
        f"{HEADER}def body(a, b):\n    {body}\n    return held()\n"
        f"f = jax.shard_map(body, mesh=mesh, in_specs=({first}, {second}),"
        " out_specs=P('x', 'y'), check_vma=False)\n"
    )


@asks_jax("transforms")
def devices_hold(program: str) -> dict[int, frozenset[str]]:
    """The axes along which the values at each probe differ between devices."""
    kept: dict[int, Any] = {}
    scope = {"probe": kept.__setitem__, "held": lambda: {k: v[None, None] for k, v in kept.items()}}
    scope |= {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "P": P, "Mesh": Mesh}
    exec(program, scope)  # the program is random, and ours
    data = np.random.default_rng(0).uniform(0.1, 1, (2, 16, 16)).astype(np.float32)
    differ: dict[int, frozenset[str]] = {}
    for number, whole in jax.jit(scope["f"])(*data).items():
        values = np.nan_to_num(np.asarray(whole, np.float64))
        scale = np.abs(values).max() or 1.0
        axes = [
            axis
            for i, axis in enumerate("xy")
            if not np.allclose(values, np.roll(values, 1, axis=i), rtol=1e-4, atol=1e-4 * scale)
        ]
        differ[number] = frozenset(axes)
    return differ


def test_bounds_hold_for_values() -> None:
    rng, tally = random.Random(SEED), Counter[str]()
    for _ in range(CASES):
        program = random_program(rng)
        found = evaluate(f"{program}x = jnp.ones((16, 16))\nf(x, x)\n")
        rejected = any(isinstance(use.verdict, Rejected) for use in found.uses)
        assert not rejected, program
        for number, axes in devices_hold(program).items():
            ours = found.probes[number]
            tally["values"] += 1
            if not isinstance(ours, Array):
                continue
            held = variation_of(ours)
            assert held.perhaps is None or axes <= held.perhaps, (number, axes, held, program)
            # What varies by its kind may still be equal by its values: rarely, of random ones.
            tally["exact"] += held.surely == held.perhaps
            tally["surely"] += len(held.surely)
            tally["equal after all"] += len(held.surely - axes)
            assert not held.equal & axes, (number, axes, held, program)
    print(dict(tally))
    assert tally["exact"] > 0.4 * tally["values"], tally
    assert tally["equal after all"] <= 0.15 * tally["surely"], tally
