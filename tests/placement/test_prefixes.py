"""Where a tree of shardings is no prefix of a tree of arrays: our word beside JAX's, on random trees."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import (
    Array,
    DictValue,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.overlays.pytrees.prefixes import mismatch
from shardlint.laws.core.values import AxisType, Spec
from shardlint.laws.core.values import Mesh as LawMesh

MESH = Mesh(np.array(jax.devices()[:1]), ("x",))
#: Leaves of random trees, and of their prefixes.
LEAF, WHOLE = "array", "whole"
OUR_MESH = MeshValue(LawMesh(("x",), (1,), (AxisType.AUTO,)))
OUR_WHOLE = ShardingValue(OUR_MESH, SpecValue(Spec()))
CASES = 400
#: How many trees JAX is asked about at once.
TOGETHER = 20


def random_tree(rng: random.Random, depth: int = 0) -> object:
    """A tree of arrays: tuples, lists and dicts, at most three levels deep."""
    kind = rng.choice("aatld" if depth < 3 else "a")
    if kind == "a":
        return LEAF
    count = rng.randint(1, 3)
    if kind == "d":
        return {name: random_tree(rng, depth + 1) for name in "pqr"[:count]}
    items = [random_tree(rng, depth + 1) for _ in range(count)]
    return tuple(items) if kind == "t" else items


def random_prefix(rng: random.Random, tree: object) -> object:
    """A prefix of the tree, often with one thing wrong."""
    if rng.random() < 0.25 or not isinstance(tree, tuple | list | dict):
        wrong = rng.random() < 0.08
        return (WHOLE,) if wrong else WHOLE
    if isinstance(tree, dict):
        made = {name: random_prefix(rng, item) for name, item in tree.items()}
        if rng.random() < 0.12:
            made["z"] = WHOLE
        return made
    items = [random_prefix(rng, item) for item in tree]
    if rng.random() < 0.12:
        items.append(WHOLE)
    as_tuple = isinstance(tree, tuple) != (rng.random() < 0.12)
    return tuple(items) if as_tuple else items


def ours(tree: object) -> Value:
    """The same tree in abstract values."""
    if isinstance(tree, dict):
        return DictValue({key: ours(item) for key, item in tree.items()})
    if isinstance(tree, tuple):
        return Tuple(tuple(map(ours, tree)))
    if isinstance(tree, list):
        return ListValue([ours(item) for item in tree])
    return OUR_WHOLE if tree == WHOLE else Array((2,), "float32")


def device_put(tree: object, prefix: object) -> None:
    jax.device_put(tree, prefix)


def constraint(tree: object, prefix: object) -> None:
    jax.eval_shape(lambda t: jax.lax.with_sharding_constraint(t, prefix), tree)


def jit_argument(tree: object, prefix: object) -> None:
    jax.jit(lambda t: t, in_shardings=(prefix,)).trace(tree)


def jit_result(tree: object, prefix: object) -> None:
    jax.jit(lambda: tree, out_shardings=prefix).trace()


def specs(prefix: object) -> object:
    """The prefix with specs in place of shardings, as shard_map takes it."""
    return jax.tree.map(lambda sharding: sharding.spec, prefix)


def shard_map_argument(tree: object, prefix: object) -> None:
    body = jax.shard_map(
        lambda t: jnp.zeros(()), mesh=MESH, in_specs=(specs(prefix),), out_specs=PartitionSpec()
    )
    jax.eval_shape(body, tree)


def shard_map_result(tree: object, prefix: object) -> None:
    jax.eval_shape(jax.shard_map(lambda: tree, mesh=MESH, in_specs=(), out_specs=specs(prefix)))


CALLS: dict[str, Callable[[object, object], None]] = {
    call.__name__: call
    for call in (device_put, constraint, jit_argument, jit_result, shard_map_argument, shard_map_result)
}


@asks_jax("placement")
def refusals(call: str, cases: list[tuple[object, object]]) -> list[bool]:
    """Return whether JAX refuses each tree with its prefix."""
    leaves = {LEAF: jnp.zeros(2), WHOLE: NamedSharding(MESH, PartitionSpec())}
    return [_refuses(CALLS[call], *jax.tree.map(leaves.__getitem__, case)) for case in cases]


def _refuses(call: Callable[[object, object], None], tree: object, prefix: object) -> bool:
    try:
        call(tree, prefix)
    except ValueError:
        return True
    return False


def cases_of(call: str) -> Iterator[list[tuple[object, object]]]:
    """Yield random trees and prefixes of them."""
    rng = random.Random(call)
    for _ in range(0, CASES, TOGETHER):
        trees = [random_tree(rng) for _ in range(TOGETHER)]
        yield [(tree, random_prefix(rng, tree)) for tree in trees]


@pytest.mark.parametrize("call", CALLS)
def test_a_mismatch_is_what_jax_rejects(call: str) -> None:
    rejected = 0
    for cases in cases_of(call):
        for (tree, prefix), raises in zip(cases, refusals(call, cases), strict=True):
            rejected += raises
            # A bare tuple where jit takes one sharding for each result is matched by jit_result itself.
            found = mismatch(ours(prefix), ours(tree))
            assert (found is not None) == raises, (tree, prefix, found)
    assert 0.1 * CASES < rejected < 0.9 * CASES
