"""Random trees that are mapped beside trees of specs, beside what JAX does."""

from __future__ import annotations

import random

import jax
from jax.sharding import PartitionSpec
from support.checking import errors
from support.sizes import size

HEAD = "import jax\nfrom jax.sharding import PartitionSpec as P\n"


def tree(rng: random.Random, leaf: str, depth: int = 3) -> str:
    """Return the text of a random tree."""
    kind = rng.choice(("leaf", "dict", "dict", "list", "tuple", "none")) if depth else "leaf"
    if kind == "leaf":
        return leaf
    if kind == "none":
        return "None" if rng.random() < 0.3 else leaf
    items = [tree(rng, leaf, depth - 1) for _ in range(rng.randint(1, 2))]
    if kind == "dict":
        names = rng.sample(("w", "b", "k"), len(items))
        return "{" + ", ".join(f'"{name}": {item}' for name, item in zip(names, items, strict=True)) + "}"
    return f"[{', '.join(items)}]" if kind == "list" else f"({', '.join(items)},)"


def changed(rng: random.Random, text: str) -> str:
    """Return the text of a tree that may differ from another one in one place."""
    olds = [("1.0", "P()")] * 3 + [('"w"', '"v"'), ("[", "("), ("None", "P()"), ("1.0", "{'w': P()}")]
    old, new = rng.choice(olds)
    at = [i for i in range(len(text)) if text.startswith(old, i)]
    if at and rng.random() < 0.6:
        place = rng.choice(at)
        text = text[:place] + new + text[place + len(old) :]
    if text.count("[") != text.count("]"):
        text = text.replace("[", "(").replace("]", ",)").replace(",,", ",")
    return text.replace("1.0", "P()")


def test_random_trees() -> None:
    rng = random.Random(4)
    found = raised = 0
    for _ in range(size("SHARDLINT_MAPPED_TREES", 150, 1000)):
        first = tree(rng, "1.0")
        second = changed(rng, first) if rng.random() < 0.7 else tree(rng, "P()")
        text = f"jax.tree.map(lambda x, spec: x, {first}, {second})\n"
        try:
            exec(text, {"jax": jax, "P": PartitionSpec})
            rejected = False
        except ValueError:
            rejected = True
        said = [one.code for one in errors(HEAD + text)]
        assert said in ([], ["SHL301"]), text
        assert rejected or not said, text
        found, raised = found + bool(said), raised + rejected
    assert found > 0.8 * raised > 0
