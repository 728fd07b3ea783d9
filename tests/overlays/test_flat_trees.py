"""Trees as vectors and as leaves, and back: beside JAX, on random trees."""

from __future__ import annotations

import random

import jax
import pytest
from support.evaluation import evaluate_module

from shardlint.inference.domain.values import Array, Const
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.inference.overlays.pytrees.trees import leaves

HEADER = "import jax.numpy as jnp\nfrom jax.flatten_util import ravel_pytree\n"
DTYPES = ("float32", "bfloat16", "int32", "bool")


def tree(rng: random.Random, depth: int = 2) -> str:
    """Return a random tree of arrays and numbers."""
    kind = rng.choice(("array", "array", "number", "dict", "list", "tuple")) if depth else "array"
    if kind == "array":
        shape = tuple(rng.randint(0, 3) for _ in range(rng.randint(0, 3)))
        return f"jnp.ones({shape}, {rng.choice(DTYPES)!r})"
    if kind == "number":
        return rng.choice(("3", "2.5", "True"))
    parts = [tree(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if kind == "dict":
        return "{" + ", ".join(f"{name!r}: {part}" for name, part in zip("cab", parts, strict=False)) + "}"
    return f"[{', '.join(parts)}]" if kind == "list" else f"({''.join(f'{part}, ' for part in parts)})"


@pytest.mark.parametrize("seed", range(40))
def test_vectors_and_trees_are_those_of_jax(seed: int) -> None:
    program = f"{HEADER}flat, back = ravel_pytree({tree(random.Random(seed))})\nagain = back(flat)\n"
    here: dict[str, object] = {}
    exec(program, here)
    known = evaluate_module(program).variables
    for name in ("flat", "again"):
        real = jax.tree.leaves(here[name])
        found = leaves(known[name])
        assert [(one.shape, one.dtype) for one in found if isinstance(one, Array)] == [
            (one.shape, str(one.dtype)) for one in real
        ], program


@pytest.mark.parametrize("seed", range(40))
def test_trees_made_of_leaves_by_a_structure_are_those_of_jax(seed: int) -> None:
    """Structures as JAX's methods take them: from a list of leaves, or an iterator."""
    program = (
        f"import jax, jax.numpy as jnp\nones, structure = jax.tree.flatten({tree(random.Random(seed))})\n"
        "listed = structure.unflatten([jnp.ones(i) for i, _ in enumerate(ones)])\n"
        "drawn = structure.unflatten(jnp.ones(i) for i, _ in enumerate(ones))\n"
        "count = jnp.ones(structure.num_leaves)\n"
    )
    here: dict[str, object] = {}
    exec(program, here)
    known = evaluate_module(program).variables
    for name in ("listed", "drawn", "count"):
        real = jax.tree.leaves_with_path(here[name])
        found = map_arrays(known[name], lambda array, path: Const(f"{path}: {array.shape}"))
        text = [leaf.value for leaf in leaves(found) if isinstance(leaf, Const)]
        assert text == [f"{jax.tree_util.keystr(path)}: {leaf.shape}" for path, leaf in real], program
