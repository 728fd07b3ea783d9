"""Every layer against Flax: parameters by path with shapes, dtypes and names, and what a call returns."""

from __future__ import annotations

import random
from typing import Any

import flax.linen as nn
import jax
import pytest
from flax import nnx
from flax_calls import SCALE, run_program
from layer_programs import LINEN, NNX, POOLS, linen_program, nnx_program, pool_program
from support.jax_answers import asks_jax
from support.tracing import run_traced

from shardlint.inference.domain.values import Array, DictValue, LibraryObject, SpecValue, Value, as_items
from shardlint.laws.core.verdicts import Rejected

CASES = round(6 * SCALE)
#: What of the real arrays must be known exactly.
DECIDED = 0.95
#: What Flax itself refuses: layers that do not fit their inputs.
REFUSED = (ValueError, TypeError, AssertionError, ZeroDivisionError, AttributeError, IndexError)

Leaves = dict[tuple[str, ...], Any]


def theirs(tree: Any) -> Leaves:
    """The leaves of a real tree by path: shapes with dtypes, and specs."""
    if isinstance(tree, nnx.State):
        return {
            tuple(map(str, path)): plain(leaf.get_value() if isinstance(leaf, nnx.Variable) else leaf)
            for path, leaf in nnx.to_flat_state(tree)
        }
    found = jax.tree_util.tree_flatten_with_path(nn.unbox(tree), is_leaf=lambda x: isinstance(x, jax.P))[0]
    return {
        tuple(str(getattr(part, "key", getattr(part, "idx", part))) for part in path): plain(leaf)
        for path, leaf in found
    }


def plain(leaf: Any) -> Any:
    return tuple(leaf) if isinstance(leaf, jax.P) else (tuple(leaf.shape), str(leaf.dtype))


def ours(tree: Value | None, path: tuple[str, ...] = ()) -> Leaves:
    """The same of an abstract tree; what is not known is not in it."""
    if isinstance(tree, DictValue):
        items: Any = (tree.items or {}).items()
    elif (parts := as_items(tree)) is not None:
        items = enumerate(parts)
    elif isinstance(tree, LibraryObject):
        return ours(tree.fields.get("tree", tree.fields.get("value")), path)
    else:
        if isinstance(tree, SpecValue):
            return {path: tree.spec.entries}
        known = (
            isinstance(tree, Array) and tree.shape is not None and all(isinstance(d, int) for d in tree.shape)
        )
        return {path: (tree.shape, tree.dtype)} if isinstance(tree, Array) and known and tree.dtype else {}
    return {p: leaf for key, item in items for p, leaf in ours(item, (*path, str(key))).items()}


@asks_jax("flax")
def real_leaves(text: str, names: tuple[str, ...]) -> dict[str, Leaves] | None:
    """Return the leaves of trees that a program binds; None where Flax refuses it."""
    real: dict[str, Any] = {}
    try:
        run_traced(text, real)
    except REFUSED:
        return None
    return {name: theirs(real[name]) for name in names}


def compare(text: str, *names: str) -> tuple[int, int] | None:
    """How many leaves there are and how many are known, all alike; None where Flax refuses the program."""
    real = real_leaves(text, names)
    if real is None:
        return None
    found, uses = run_program(text)
    assert not any(isinstance(use.verdict, Rejected) for use in uses), text
    known = total = 0
    for name in names:
        expected, got = real[name], ours(found.get(name))
        assert got.items() <= expected.items(), (text, dict(got.items() - expected.items()))
        known, total = known + len(got), total + len(expected)
    return known, total


def check(texts: list[str], *names: str) -> None:
    results = [result for text in texts if (result := compare(text, *names)) is not None]
    assert len(results) >= CASES // 3
    known, total = (sum(column) for column in zip(*results, strict=True))
    assert known >= DECIDED * total, (known, total, texts[0])


@pytest.mark.parametrize("name", LINEN)
def test_layer_of_linen(name: str) -> None:
    draw = random.Random(f"linen {name}")
    check([linen_program(name, draw) for _ in range(CASES)], "y", "variables", "specs")


@pytest.mark.parametrize("name", NNX)
def test_layer_of_nnx(name: str) -> None:
    draw = random.Random(f"nnx {name}")
    check([nnx_program(name, draw) for _ in range(CASES)], "y", "state", "specs")


@pytest.mark.parametrize("kind", POOLS)
def test_pool(kind: tuple[str, str]) -> None:
    draw = random.Random(f"pool {kind}")
    check([pool_program(kind, draw) for _ in range(CASES)], "y")
