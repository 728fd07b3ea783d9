"""Reduced and unreduced arrays through `jax.shard_map`: what JAX takes is not refused, types are JAX's."""

from __future__ import annotations

import random
from typing import Any

import jax
import pytest
from explicit_probes import evaluate
from support.jax_answers import asks_jax
from support.sizes import scale
from typed_programs import once

from shardlint.inference.domain.values import Array
from shardlint.laws.core.verdicts import Rejected

PRELUDE = """
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"))
a = jnp.ones((8, 8))
"""
SPECS = ('P("x", None)', 'P("x", None)', 'P("x", "y")', 'P(None, "y")', "P()")
REDUCED = ('P(None, None, reduced={"x"})', 'P(reduced={"x"})', "P()", 'P(None, "y", reduced={"x"})')
BODIES = (
    "a @ r", "a + r", "r", "r * 2", "r.sum()", "lax.psum(r, 'x')", "lax.pcast(a, 'x', to='unreduced')",
    "lax.pcast(a @ r, ('x',), to='unreduced')", "lax.psum(a, 'y') + r", "jnp.tanh(r)", "(a, r)",
    "lax.pcast(r, 'x', to='varying')", "lax.psum(a @ r, 'x')", "lax.all_gather(r, 'y')", "r.reshape(-1)",
    "lax.scan(lambda c, _: (c @ r, None), a @ r, None, length=2)[0]", "lax.psum(a @ r, ('x', 'y'))",
)  # fmt: skip
OUT = (
    'P("x", None)', 'P("x", None)', 'P(None, None, unreduced={"x"})', 'P(None, None, reduced={"x"})', "P()",
    'P("x", "y")', "(P(),)", '(P("x", None), P(None, None, reduced={"x"}))', 'P(None, "y", unreduced={"x"})',
)  # fmt: skip


scope = once(PRELUDE)


@asks_jax("explicit")
def real_spec(text: str) -> tuple[tuple[Any, ...], frozenset[str], frozenset[str]] | None:
    """Return the spec in an expression's type: entries, unreduced and reduced axes; None if it raises."""
    with jax.set_mesh(scope()["mesh"]):
        try:
            spec = jax.eval_shape(lambda: eval(text, scope())).sharding.spec
        except Exception:
            return None
    return tuple(spec.partitions), frozenset(spec.unreduced), frozenset(spec.reduced)


@pytest.mark.filterwarnings("ignore")
def test_reduced_shards_follow_jax() -> None:
    rng = random.Random(0)
    accepted = typed = rejected = found = 0
    size = scale("SHARDLINT_EXPLICIT_SCALE", 1 / 3)
    for _ in range(round(150 * size)):
        split, reduced = rng.choice(SPECS), rng.choice(REDUCED)
        mapped = f"jax.shard_map(lambda a, r: {rng.choice(BODIES)}, in_specs=({split}, {reduced}), "
        mapped += f"out_specs={rng.choice(OUT)})"
        if rng.random() < 0.5:
            mapped = f"jax.jit({mapped})"
        text = f"{mapped}(jax.reshard(a, {split}), jax.reshard(a, {reduced}))"
        probes, uses = evaluate(f"{PRELUDE}\nwith jax.set_mesh(mesh):\n    probe(0, {text})\n")
        refused = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
        real = real_spec(text)
        if real is None:
            rejected, found = rejected + 1, found + bool(refused)
            continue
        accepted += 1
        assert not refused, (text, refused)
        value = probes.get(0)
        if isinstance(value, Array) and value.typed is not None:
            typed += 1
            ours = value.typed.spec
            assert (ours.entries, ours.unreduced, ours.reduced) == real, (text, value.typed)
    assert accepted >= 15 * size and typed, (accepted, typed)
    assert found >= 0.4 * rejected, (found, rejected)
