"""Whole trees of a program, by path: the real ones, and what the evaluator knows of them."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
from flax import nnx
from flax_calls import run_program
from flax_models import IMPORTS, MODELS
from support.jax_answers import asks_jax, literal
from support.tracing import run_traced

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    Instance,
    LibraryObject,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
)
from shardlint.inference.overlays.pytrees.nodes import parts
from shardlint.laws.core.verdicts import Rejected

HEADER = f"""{IMPORTS}
import numpy as np
from flax import struct
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from typing import Any

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
nnx_part = nnx.with_partitioning(nnx.initializers.lecun_normal(), (None, "model"))
{MODELS}"""

Leaves = dict[tuple[str, ...], Any]
_BOXES = (nn.meta.AxisMetadata, nnx.Variable)
#: Fields that hold all of an object, which paths do not show.
_INSIDE = ("tree", "items", "streams", "value")


def theirs(tree: Any) -> Leaves:
    """The leaves of a real tree: shapes with dtypes, specs, shardings' specs, numbers; boxes opened."""
    if isinstance(tree, nnx.Module | nnx.Optimizer):
        tree = nnx.state(tree)
    found: Leaves = {}
    stops = (jax.P, *_BOXES)
    for path, leaf in jax.tree_util.tree_flatten_with_path(
        tree, is_leaf=lambda node: isinstance(node, stops)
    )[0]:
        keys = tuple(str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))) for key in path)
        found[keys] = _plain(leaf)
    return found


def _plain(leaf: Any) -> Any:
    while isinstance(leaf, _BOXES):
        leaf = leaf.get_value() if isinstance(leaf, nnx.Variable) else leaf.value
    if isinstance(leaf, jax.P):
        return tuple(leaf)
    if isinstance(leaf, jax.sharding.NamedSharding):
        return "sharding", tuple(leaf.spec)
    return (tuple(leaf.shape), str(leaf.dtype)) if hasattr(leaf, "shape") else leaf


def ours(tree: Value | None, path: tuple[str, ...] = ()) -> Leaves:
    """The same of an abstract tree; what is not known is not in it."""
    if isinstance(tree, DictValue):
        items: Any = (tree.items or {}).items()
    elif isinstance(tree, Tuple) and tree.fields is not None:
        items = zip(tree.fields, tree.items, strict=True)
    elif tree is not None and (children := as_items(tree)) is not None:
        items = enumerate(children)
    elif isinstance(tree, LibraryObject) and (inside := [n for n in _INSIDE if n in tree.fields]):
        return ours(tree.fields[inside[0]], path)
    elif isinstance(tree, LibraryObject) and tree.kind == "flax.nnx.Optimizer":
        items = [(name, tree.fields[name]) for name in ("step", "opt_state", "model") if name in tree.fields]
    elif isinstance(tree, LibraryObject | Instance):
        items = (parts(tree) or {}).items()
    else:
        return _leaf(tree, path)
    return {p: leaf for key, item in items for p, leaf in ours(item, (*path, str(key))).items()}


def _leaf(leaf: Value | None, path: tuple[str, ...]) -> Leaves:
    if isinstance(leaf, SpecValue):
        return {path: leaf.spec.entries}
    if isinstance(leaf, ShardingValue) and isinstance(leaf.spec, SpecValue):
        return {path: ("sharding", leaf.spec.spec.entries)}
    if isinstance(leaf, Const) and leaf.value is not None:
        return {path: leaf.value}
    known = isinstance(leaf, Array) and leaf.shape is not None and all(isinstance(d, int) for d in leaf.shape)
    return {path: (leaf.shape, leaf.dtype)} if isinstance(leaf, Array) and known and leaf.dtype else {}


def _written(tree: Leaves) -> Leaves:
    """Return leaves of which each has a literal: what has none is told by its text."""
    return {path: _literal(leaf) for path, leaf in tree.items()}


def _literal(leaf: Any) -> Any:
    try:
        literal(leaf)
    except TypeError:
        return f"<{type(leaf).__name__}>"
    return leaf


@asks_jax("flax")
def real_trees(text: str, names: tuple[str, ...]) -> dict[str, Leaves]:
    """Return the leaves of trees that a program binds."""
    real: dict[str, Any] = {}
    run_traced(text, real)
    return {name: _written(theirs(real[name])) for name in names}


def agree(text: str, *names: str) -> tuple[int, int]:
    """Run a program both ways: how many leaves are known of how many, all of them alike."""
    real = real_trees(HEADER + text, names)
    found, uses = run_program(HEADER + text)
    assert not any(isinstance(getattr(use, "verdict", None), Rejected) for use in uses), text
    known = total = 0
    for name in names:
        expected, got = real[name], ours(found.get(name))
        assert got.items() <= expected.items(), (text, name, dict(got.items() - expected.items()))
        known, total = known + len(got), total + len(expected)
    return known, total
