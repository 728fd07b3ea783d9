"""Rules for paths against the functions that code bases apply them with, over real pytrees."""

from __future__ import annotations

import random
import re
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from shardlint.laws.core.values import Spec
from shardlint.laws.flax.path_rules import PathRule, first_match, needs_rule, separator_of

KEYS = ["params", "encoder", "layer_0", "layer_1", "attn", "mlp", "wi.0", "kernel", "bias", "scale", "0"]
PATTERNS = [
    "kernel$", "attn/kernel", "(mlp|attn)/.*/bias", "^params/", r"layer_\d+/attn", ".*", "scale",
    "encoder/mlp$", r"wi\.0", "Kernel", "", r"^(?!.*bias).*kernel", "layer_0.attn",
    "[abc]+/kernel$", r"\bmlp\b",
]  # fmt: skip


def match_partition_rules(rules: list[tuple[str, Any]], params: Any) -> dict[str, Any]:
    """What EasyLM does, and T5X in its spirit: written anew on `tree_map_with_path`."""

    def spec(path: tuple[Any, ...], leaf: Any) -> Any:
        name = "/".join(str(key.key) for key in path)
        if len(leaf.shape) == 0 or np.prod(leaf.shape) == 1:
            return name, P()
        for rule, ps in rules:
            if re.search(rule, name) is not None:
                return name, ps
        return name, None

    specs = jax.tree_util.tree_map_with_path(spec, params)
    return dict(jax.tree_util.tree_leaves(specs, is_leaf=lambda x: isinstance(x, tuple) and len(x) == 2))


def random_tree(draw: random.Random, depth: int = 0) -> Any:
    if depth == 4 or (depth > 1 and draw.random() < 0.4):
        return np.zeros(draw.choice([(), (1,), (1, 1), (4,), (4, 8), (0,)]))
    keys = draw.sample(KEYS, draw.randint(1, 3))
    return {key: random_tree(draw, depth + 1) for key in keys}


def test_rules_take_what_match_partition_rules_gives() -> None:
    draw = random.Random(5)
    taken = missed = 0
    for _ in range(300):
        tree = {"params": random_tree(draw)} if draw.random() < 0.5 else random_tree(draw, 1)
        specs = {pattern: P(str(i)) for i, pattern in enumerate(PATTERNS)}
        chosen = draw.sample(PATTERNS, draw.randint(0, 5))
        theirs = match_partition_rules([(pattern, specs[pattern]) for pattern in chosen], tree)
        ours = [PathRule(pattern, Spec(tuple(specs[pattern]))) for pattern in chosen]
        for keys, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
            path = tuple(str(key.key) for key in keys)
            number = first_match(ours, path) if needs_rule(leaf.shape) else None
            expected = theirs["/".join(path)]
            if not needs_rule(leaf.shape):
                assert expected == P()
            elif number is None:
                missed += 1
                assert expected is None
            else:
                taken += 1
                assert P(*getattr(ours[number].spec, "entries")) == expected  # noqa: B009
    assert taken > 200 and missed > 100


def window_match(patterns: tuple[str, ...], keys: tuple[str, ...]) -> bool:
    """`_match` of T5X's predecessors (``set_partitions``): a window of keys, each matched to its end."""
    compiled = tuple(re.compile(x + "$") for x in patterns)
    for i in range(len(keys) - len(patterns) + 1):
        matches = [x.match(y) for x, y in zip(compiled, keys[i:], strict=False)]
        if matches and all(matches):
            return True
    return False


def test_tuples_of_patterns_match_a_window_of_keys() -> None:
    draw = random.Random(6)
    seen = {True: 0, False: 0}
    for _ in range(2000):
        keys = tuple(draw.choice(KEYS) for _ in range(draw.randint(1, 4)))
        patterns = tuple(
            draw.choice(["kernel", "attn|b", "layer_.*", r"\d+", "attn", "mlp", ".*", "b"])
            for _ in range(draw.randint(0, 3))
        )
        expected = window_match(patterns, keys)
        seen[expected] += 1
        assert PathRule(patterns, Spec()).matches(keys) == expected
    assert min(seen.values()) > 100


@pytest.mark.parametrize(
    ("pattern", "broken"), [("(", True), ("a{2,1}", True), (("a", "["), True), ("a|b", False)]
)
def test_broken_patterns_match_nothing(pattern: str | tuple[str, ...], broken: bool) -> None:
    rule = PathRule(pattern, Spec())
    assert (rule.broken is not None) == broken
    assert rule.matches(("a",)) != broken


def test_keys_are_joined_as_the_rules_expect() -> None:
    paths = [("layers", "0", "q", "kernel"), ("embed", "table")]
    assert separator_of([PathRule(r"layers/\d+/q", Spec())], paths) == "/"
    assert separator_of([PathRule(r"layers\.\d+\.q", Spec()), PathRule("table", Spec())], paths) == "."
    assert separator_of([PathRule("q.kernel", Spec())], paths) == "/"
    assert separator_of([], paths) == "/"
