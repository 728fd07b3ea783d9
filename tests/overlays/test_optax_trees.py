"""Arithmetic on whole trees, `optax.tree` and its relatives: shapes and dtypes of leaves beside optax."""

from __future__ import annotations

import random
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from support.checking import uses
from support.jax_answers import asks_jax

from shardlint.inference.overlays.optax import trees
from shardlint.model.uses import Placement

HEADER = """
import jax, jax.numpy as jnp, numpy as np, optax, optax.tree, optax.tree_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
def tree(*kinds):
    return {"a": jnp.ones((4, 2), kinds[0]), "b": [jnp.ones(3, kinds[1]), None, jnp.ones((), kinds[2])]}
"""
DTYPES = ("float32", "bfloat16", "int32", "complex64")
#: The arguments of each function, two trees among them.
CALLS = {
    "add": ("{T}, {U}", "{T}, {T}, {U}"),
    "sub": ("{T}, {U}",),
    "mul": ("{T}, {U}",),
    "div": ("{T}, {U}",),
    "scale": ("2, {T}", "0.5, {T}", "jnp.float32(2), {T}"),
    "add_scale": ("{T}, 0.5, {U}", "tree_x={T}, scalar=2, tree_y={T}"),
    "cast": ("{T}, jnp.bfloat16", "{T}, None", "{U}, 'float16'"),
    "clip": ("{T}, 0, 1", "{T}", "{T}, max_value=2"),
    "conj": ("{T}",),
    "real": ("{T}",),
    "zeros_like": ("{T}", "{T}, jnp.bfloat16"),
    "ones_like": ("{U}", "{T}, dtype=int"),
    "full_like": ("{T}, 2", "{U}, fill_value=1, dtype=jnp.int32"),
    "where": ("True, {T}, {U}", "jnp.ones((), bool), {U}, {T}"),
    "sum": ("{T}", "{U}"),
    "norm": ("{T}", "{T}, squared=True", "{U}, 2"),
    "vdot": ("{T}, {U}",),
    "update_moment": ("{T}, {U}, 0.9, 1", "{U}, {T}, 0.99, 2"),
    "update_infinity_moment": ("{T}, {U}, 0.9, 1e-8", "{U}, {T}, 0.99, eps=0.0"),
    "update_moment_per_elem_norm": ("{T}, {U}, 0.9, 2", "{U}, {T}, 0.99, 1", "{U}, {T}, 0.5, 3"),
    "bias_correction": ("{T}, 0.9, jnp.ones((), jnp.int32)", "{U}, decay=0.9, count=3"),
    "cast_like": ("{T}, {U}", "{U}, other_tree={T}"),
    "max": ("{T}", "{U}"),
    "min": ("{T}", "{U}"),
    "size": ("{T}", "{U}"),
    "allclose": ("{T}, {U}", "{U}, {T}, rtol=0.1"),
    "safe_increment": ("{T}['a']", "count={U}['b'][0]", "3", "2.5"),
    "safe_int32_increment": ("{T}['a']", "count={U}['b'][0]", "3", "2.5"),
    "safe_norm": ("{T}['a'], 0.1", "{U}['a'], min_norm=1, axis=0", "{T}['a'], 0.5, None, 1, True"),
    "incremental_update": ("{T}, {U}, 0.1", "{U}, {T}, step_size=0.5"),
    "global_norm": ("{T}", "updates={U}"),
}


@asks_jax("overlays")
def leaves(call: str) -> list[tuple[tuple[int, ...], str]] | None:
    """Return shape and dtype of each leaf of what a call returns; None if it raises."""
    scope: dict[str, Any] = {}
    exec(HEADER, scope)
    try:
        found = jax.eval_shape(lambda: jax.tree.map(jnp.asarray, eval(call, scope)))
    except (TypeError, ValueError):
        return None
    return [(leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(found)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", trees.TABLE)
def test_trees_agree_with_optax(name: str) -> None:
    assert callable(eval(name, {"optax": optax}))
    rng, agreed = random.Random(name), 0
    for number in range(12):
        kinds = [rng.choice(DTYPES) for _ in range(6)]
        pattern = CALLS[name.rpartition(".")[2].removeprefix("tree_")]
        given = pattern[number % len(pattern)].format(
            T=f"tree{tuple(kinds[:3])}", U=f"tree{tuple(kinds[3:])}"
        )
        call = f"{name}({given})"
        expected = leaves(call)
        if expected is None:
            continue
        placed = uses(
            f"{HEADER}jax.device_put(jax.tree.map(jnp.asarray, {call}), NamedSharding(mesh, P()))\n"
        )
        found = [(use.shape, use.dtype) for use in placed if isinstance(use, Placement)]
        assert found == expected, call
        agreed += 1
    assert agreed >= 4
