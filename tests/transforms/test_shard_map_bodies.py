"""Random operations in bodies of shard_map: those that fail on shards, and what the others make."""

from __future__ import annotations

import random
from collections import Counter

from probing import SCALE, evaluate
from support.jax_answers import asks_jax
from support.raised import Raised, raised, read, written

from shardlint.inference.domain.values import Array
from shardlint.laws.core.verdicts import Cause, Rejected

HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
"""
#: Operations on ``{0}``, and on another array ``{1}``, with sizes of the whole and of its shards.
OPERATIONS = (
    "{0}.reshape(8, 4, 2)", "{0}.reshape({2}, -1)", "jnp.reshape({0}, ({2}, {3}))", "{0} + {1}", "{0} @ {1}",
    "{0} @ {1}.T", "jnp.dot({0}, {1})", "{0} * jnp.ones(({2}, {3}))", "jnp.concatenate([{0}, {1}])",
    "jnp.stack([{0}, {1}])", "jnp.broadcast_to({0}, ({2}, {3}))", "jnp.einsum('ab,bc->ac', {0}, {1})",
    "jnp.einsum('ab,ab->a', {0}, {1})", "jnp.where({0} > 0, {0}, {1})", "{0}[:, None] - {1}", "{0}[0, 1]",
    "{0}[{2}:]", "jnp.split({0}, {2})[0]", "jnp.split({0}, {2}, axis=1)[-1]", "jnp.transpose({0}, (1, 0))",
    "{0}.at[0].set({1}[0])", "lax.dynamic_slice({0}, (0, 0), ({2}, {3}))", "{0}.sum(1) + {1}.sum(0)",
    "jnp.matmul({0}, {1})", "lax.dot_general({0}, {1}, (((1,), (0,)), ((), ())))", "jnp.tile({0}, ({2}, 1))",
    "jnp.maximum({0}, {1}[:{2}])", "{0}.ravel() * jnp.arange({2} * {3})", "jnp.swapaxes({0}, 0, 1) / {1}",
    "jnp.expand_dims({0}, 0).squeeze({4})", "jnp.linspace(0, 1, {2}) * {0}", "-{0}", "jnp.tanh({0})",
    "lax.dynamic_slice_in_dim({0}, 0, {2}, 1)", "lax.dynamic_update_slice({0}, {1}, (0, 0))",
    "lax.dynamic_update_slice_in_dim({0}, {1}, 0, 1)", "lax.dynamic_update_index_in_dim({0}, {1}[0], 0, 0)",
    "{0}.T", "jnp.outer({0}[0], {1}[0])", "jnp.vstack([{0}, {1}])", "jnp.hstack([{0}, {1}])",
)  # fmt: skip
SPECS = ("P()", "P('x')", "P('y')", "P('x', 'y')", "P(None, 'y')", "P(('x', 'y'))")


def random_program(rng: random.Random) -> str:
    """A body of a few operations on two arguments of 8 by 8 elements."""
    lines, names = ["probe(0, a)", "probe(1, b)"], ["a", "b"]
    for i in range(rng.randint(1, 3)):
        sizes = [rng.choice((8, 8, 4, 2, 1)) for _ in range(2)]
        written = rng.choice(OPERATIONS).format(
            rng.choice(names), rng.choice(names), *sizes, rng.choice((0, 1))
        )
        lines += [f"v{i} = {written}", f"probe({i + 2}, v{i})"]
        names.append(f"v{i}")
    body = "\n    ".join([*lines, "return jnp.zeros(())"])
    specs = f"({rng.choice(SPECS)}, {rng.choice(SPECS)})"
    partly = rng.choice(("", "", ", axis_names={'x', 'y'}", ", check_vma=False"))
    return (
        f"{HEADER}def body(a, b):\n    {body}\n"
        f"f = jax.shard_map(body, mesh=mesh, in_specs={specs}, out_specs=P(){partly})\n"
        "jax.eval_shape(f, jnp.ones((8, 8)), jnp.ones((8, 8)))\n"
    )


@asks_jax("transforms", encode=written, decode=read)
def run_for_real(text: str) -> tuple[dict[int, tuple[int, ...]], Raised | None]:
    """Run a program; return the shapes that its probes saw, and how it ended."""
    seen: dict[int, tuple[int, ...]] = {}
    try:
        exec(compile(text, "program.py", "exec"), {"probe": lambda n, value: seen.update({n: value.shape})})
    except Exception as error:
        return seen, raised(error)
    return seen, None


def test_operations_on_shards_agree_with_jax() -> None:
    count = Counter[str]()
    missed = []
    for seed in range(round(400 * SCALE)):
        text = random_program(random.Random(seed))
        shapes, error = run_for_real(text)
        found = evaluate(text)
        verdicts = [use.verdict for use in found.uses if isinstance(use.verdict, Rejected)]
        local = [verdict for verdict in verdicts if verdict.cause is Cause.LOCAL_SHAPE]
        assert not verdicts or error is not None, f"seed {seed}: it runs, but {verdicts}\n{text}"
        count["rejected" if error else "accepted"] += 1
        count["found"] += error is not None and bool(local)
        if error is not None and not local:
            missed.append(f"{seed} {error!r:.100}")
        for number, shape in shapes.items():
            ours = found.probes[number]
            known = isinstance(ours, Array) and ours.shape is not None
            count["known" if known else "open"] += 1
            assert not known or ours.shape == shape, (seed, number, ours, shape, text)  # type: ignore[union-attr]
    assert min(count["accepted"], count["rejected"]) > 0.2 * 400 * SCALE, count
    assert count["found"] >= 0.9 * count["rejected"], "\n".join(missed)
    assert count["known"] >= 0.95 * (count["known"] + count["open"]), count
