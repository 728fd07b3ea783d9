"""Functions that call themselves for the parts of a tree, beside what Python computes."""

from __future__ import annotations

import random

import pytest
from support.checking import check

FUNCTIONS = {
    "generator": """
def flat(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value
""",
    "list": """
def flat(tree, prefix=""):
    found = []
    for key, value in tree.items():
        if isinstance(value, dict):
            found += flat(value, f"{prefix}{key}/")
        else:
            found.append((f"{prefix}{key}", value))
    return found
""",
    "two functions": """
def flat(tree, prefix=""):
    return [pair for key, value in tree.items() for pair in leaf(f"{prefix}{key}", value)]
def leaf(name, value):
    return flat(value, name + "/") if isinstance(value, dict) else [(name, value)]
""",
}
PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
{function}
TREE = {tree}
for name, size in flat(TREE):
    jax.device_put(jnp.ones(size), NamedSharding(mesh, P("y" if name.endswith("y") else None)))
"""


def _tree(rng: random.Random, depth: int) -> dict:
    tree: dict = {}
    for key in rng.sample("abxy", rng.randint(1, 2)):
        tree[key] = _tree(rng, depth - 1) if depth and rng.random() < 0.8 else rng.choice((4, 8, 6))
    return tree


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("seed", range(6))
def test_all_leaves_are_known(kind: str, seed: int) -> None:
    tree = _tree(random.Random(seed), 4)
    scope: dict = {}
    exec(FUNCTIONS[kind], scope)
    wrong = any(name.endswith("y") and size % 4 for name, size in scope["flat"](tree))
    found = check(PROGRAM.format(function=FUNCTIONS[kind], tree=tree), devices=8)
    assert ("SHL202" in [finding.code for finding in found]) is wrong


def test_a_recursion_without_end_is_cut() -> None:
    text = "from jax.sharding import PartitionSpec as P\ndef f(tree):\n    return f({'a': tree})\nP(f({}))\n"
    assert check(text) == []
