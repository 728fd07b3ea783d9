"""`to_state_dict`, `from_state_dict` and flattened dicts with empty ones in them, beside Flax."""

from __future__ import annotations

from typing import Any

import pytest
from flax_calls import flat_arrays, run_program
from support.jax_answers import asks_jax
from test_lifted import flatten

from shardlint.laws.core.values import Unknown

HEADER = """
import collections
import flax, optax
import flax.linen as nn
import jax, jax.numpy as jnp
from flax.training.train_state import TrainState
from flax import serialization, struct, traverse_util

Pair = collections.namedtuple("Pair", "first second")


@struct.dataclass
class State:
    params: dict
    step: int
    name: str = struct.field(pytree_node=False, default="a")


class Other(struct.PyTreeNode):
    inner: State
    empty: dict


params = {"dense": {"kernel": jnp.ones((4, 8)), "bias": jnp.ones(8)}, "list": [jnp.ones(2), jnp.ones(3)]}
"""
TREES = {
    "dict": "params",
    "frozen": "flax.core.freeze(params)",
    "numbers": "{0: jnp.ones(2), 1: {2: jnp.ones(3)}}",
    "tuple": "(params, (jnp.ones(5), {}), [])",
    "namedtuple": "Pair(jnp.ones(5), Pair(params, ()))",
    "struct": "State(params, jnp.zeros(()))",
    "nested": "Other(State({'a': jnp.ones(3)}, jnp.zeros(())), {})",
    "optimizer": "jax.eval_shape(optax.adam(1e-3).init, params)",
    "train state": """TrainState.create(apply_fn=lambda x: x, params={'w': jnp.ones((4, 8))},
        tx=optax.sgd(1e-2, momentum=0.9))""",
    "identity": "TrainState.create(apply_fn=None, params={'w': jnp.ones(3)}, tx=optax.identity())",
    "leaf": "jnp.ones(3)",
}
RUN = """
def double(x):
    return jax.ShapeDtypeStruct((2, *jnp.shape(x)), jnp.float32)

tree = TREE
state = jax.tree.map(double, serialization.to_state_dict(tree))
again = serialization.to_state_dict(serialization.from_state_dict(tree, state))
"""
FLAT = """
flat = traverse_util.flatten_dict(serialization.to_state_dict(tree), keep_empty_nodes=True, sep="/")
known = {k: double(v) for k, v in flat.items() if v is not traverse_util.empty_node}
nested = {k: v if v is traverse_util.empty_node else double(v) for k, v in flat.items()}
nested = traverse_util.unflatten_dict(nested, sep="/")
restored = serialization.to_state_dict(serialization.from_state_dict(tree, nested))
mapped = traverse_util.path_aware_map(lambda path, x: double(x), serialization.to_state_dict(tree))
"""
_SHOWN = ("state", "again", "known", "nested", "restored", "mapped")


@asks_jax("flax")
def shapes(text: str) -> dict[str, Any]:
    """Return the shapes in the trees, by their paths."""
    real: dict[str, Any] = {}
    exec(text, real)
    return {
        name: {path: (tuple(leaf.shape), str(leaf.dtype)) for path, leaf in flatten(real[name]).items()}
        for name in _SHOWN
        if name in real
    }


@pytest.mark.parametrize("tree", TREES)
def test_state_dicts(tree: str) -> None:
    text = HEADER + RUN.replace("TREE", TREES[tree]) + (FLAT if tree != "leaf" else "")
    found, _ = run_program(text)
    assert {name: flat_arrays(found[name]) for name in _SHOWN if name in found} == shapes(text)


REFUSED = [
    "serialization.from_state_dict(params, {'dense': {}, 'list': {}})",
    "serialization.from_state_dict([1, 2], {'0': 1})",
    "serialization.from_state_dict((1, 2), {'0': 1, '1': 2, '2': 3})",
    "serialization.from_state_dict(Pair(1, 2), {'first': 1})",
    "serialization.from_state_dict(State({}, 0), {'params': {}, 'step': 1, 'more': 2})",
]


@pytest.mark.parametrize("call", REFUSED)
def test_a_state_dict_of_another_tree_is_not_followed(call: str) -> None:
    text = HEADER + f"made = {call}\n"
    with pytest.raises(ValueError):
        exec(text, {})
    assert isinstance(run_program(text)[0]["made"], Unknown)


def test_further_keys_of_a_dict_are_left_out() -> None:
    text = HEADER + "made = serialization.from_state_dict({'a': 1}, {'a': jnp.ones(3), 'b': jnp.ones(4)})\n"
    real: dict[str, Any] = {}
    exec(text, real)
    assert real["made"].keys() == {"a"}
    assert flat_arrays(run_program(text)[0]["made"]) == {("a",): ((3,), "float32")}
