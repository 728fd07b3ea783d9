"""check_vma=False: where we say that a result varies over an axis, its values differ between the devices."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import jax
import numpy as np
from probing import SCALE, evaluate
from support.jax_answers import asks_jax

from shardlint.model.uses import CallUse

HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
RING = [(i, (i + 1) % 4) for i in range(4)]
x = jnp.asarray(np.random.default_rng(0).standard_normal((8, 8)), jnp.float32)
"""
#: Steps that keep what is random random; what is equal on all devices comes from reductions and gathers.
STEPS = (
    "-{0}", "{0} + 1", "jnp.tanh({0})", "jnp.sin({0} * 3)", "jax.vmap(lambda r: r * 2)({0})", "{0}.sum()",
    "jax.jit(lambda v: v * 2)({0})", "jnp.cumsum({0})", "{0} + {1}.sum()", "{0} * jnp.cos({1}).mean()",
    "lax.psum({0}, 'x')", "lax.psum({0}, 'y')", "lax.pmean({0}, ('x', 'y'))", "lax.pmax({0}, 'y')",
    "lax.all_gather({0}, 'x').sum(0)", "lax.all_gather({0}, 'y').sum(0)",
    "lax.ppermute({0}, 'x', [(0, 1), (1, 0)])",
    "{0} + lax.axis_index('y')", "jnp.stack([{0}, {0} * 2])", "jnp.ravel({0})[:1]",
    "{0} + lax.psum({1}.sum(), 'x')", "lax.ppermute({0}, 'x', [(0, 1), (1, 0)]) + {0}",
    "lax.psum_scatter({0}, 'x', tiled=True)", "lax.scan(lambda c, _: (c * 2, None), {0}, None, length=2)[0]",
    "lax.fori_loop(0, 2, lambda i, v: v + 1, {0})",
    "lax.scan(lambda c, r: (c + jnp.sin(r), None), jnp.zeros(()), jnp.ravel({0}))[0]",
    "lax.scan(lambda c, _: (c * 0.5 + {0}.sum(), None), jnp.zeros(()), None, length=3)[0]",
    "lax.scan(lambda c, _: (lax.pmean(c, 'x') + 1, None), {0}, None, length=2)[0]",
    "lax.scan(lambda c, _: (c + {0}.mean(), c), jnp.ones(()), None, length=3)[1]",
    "lax.fori_loop(0, 3, lambda i, c: (c[0] + c[1], lax.ppermute(c[1], 'y', RING)),"
    " (0 * {0}, {0}))[0]",
    "lax.fori_loop(0, 2, lambda i, c: (c[1], c[0]), ({0}.sum(), {1}.mean()))[0]",
    "lax.fori_loop(0, 3, lambda i, c: (c[1], c[2], {0}.sum()), (jnp.ones(()),) * 3)[0]",
    "lax.while_loop(lambda c: c[1] < 2, lambda c: (c[0] + {0}.sum(), c[1] + 1), (jnp.ones(()), 0))[0]",
    "lax.scan(lambda c, r: (c, r * 2), 0.0, {0}[None])[1]",
)  # fmt: skip
_UNCHECKED = "(check_vma=False)"
SPECS = ("P()", "P('x')", "P('y')", "P('x', 'y')", "P(None, 'y')", "P(('x', 'y'))")


def random_program(rng: random.Random) -> str:
    """A body of some steps; ``f`` returns its result on each device, ``g`` what one of them says."""
    lines, names = [], ["a", "b"]
    for i in range(rng.randint(1, 5)):
        lines.append(f"v{i} = " + rng.choice(STEPS).format(rng.choice(names[-3:]), rng.choice(names)))
        names.append(f"v{i}")
    body = "\n    ".join([*lines, f"return {names[-1]}.sum()"])
    options = f"mesh=mesh, in_specs=({rng.choice(SPECS)}, {rng.choice(SPECS)}), check_vma=False"
    return (
        f"{HEADER}def body(a, b):\n    {body}\n"
        f"f = jax.shard_map(lambda a, b: body(a, b).reshape(1, 1), {options}, out_specs=P('x', 'y'))\n"
        f"g = jax.shard_map(body, {options}, out_specs=P())\n"
    )


def varied(values: np.ndarray) -> frozenset[str]:
    """The axes along which some values differ by more than rounding."""
    return frozenset(
        name for axis, name in enumerate("xy")
        if not np.allclose(values, values.take([0], axis), rtol=1e-3, atol=1e-3)
    )  # fmt: skip


@asks_jax("transforms")
def devices_differ(text: str) -> frozenset[str] | None:
    """Return the axes along which devices hold other values; None where JAX refuses the program."""
    scope: dict[str, Any] = {}
    exec(compile(text, "program.py", "exec"), scope)
    try:
        return varied(np.asarray(jax.jit(scope["f"])(scope["x"], scope["x"])))
    except Exception:
        return None


def test_what_is_said_to_vary_differs() -> None:
    count = Counter[str]()
    for seed in range(round(70 * SCALE)):
        text = random_program(random.Random(seed))
        real = devices_differ(text)
        if real is None:
            count["rejected"] += 1
            continue
        uses = evaluate(text + "g(x, x)\n").uses
        said = [
            use.silent
            for use in uses
            if isinstance(use, CallUse) and use.silent is not None and use.function.endswith(_UNCHECKED)
        ]
        claimed = frozenset(axis for axis in "xy" for text in said if f'"{axis}"' in text)
        assert claimed <= real, f"seed {seed}: {claimed} differ, in JAX {real}\n{text}"
        count["varying"] += bool(real)
        count["said"] += bool(claimed)
        count["equal"] += not real
    assert min(count["varying"], count["equal"]) > 0.1 * 70 * SCALE, count
    assert count["said"] >= 0.5 * count["varying"], count
