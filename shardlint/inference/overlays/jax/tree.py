"""`jax.tree` and `jax.tree_util`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    Alternatives,
    Const,
    LibraryObject,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, table, unresolved
from shardlint.inference.overlays.pytrees.differing_trees import refuse_differing
from shardlint.inference.overlays.pytrees.key_paths import at_path
from shardlint.inference.overlays.pytrees.trees import leaves, tree_map, tree_map_with_path
from shardlint.laws.core.values import Unknown

_STRUCTURE = "jax.tree.structure"


def _function(value: Value | None) -> Value:
    if value is None:
        unresolved("the function is not given")
    return value


def map_(call: Call) -> Value:
    """`tree.map(f, tree, *rest)`: the evaluator calls f on each leaf."""
    if call.opaque or len(call.args) < 2 or call.kwargs.keys() - {"is_leaf"}:
        unresolved("the arguments are not known")
    function, tree, *rest = call.args

    def at_leaf(path: tuple[Value, ...], leaf: Value, *parts: Value) -> Value:
        # By its path an array that is placed is told from its siblings; other calls are alike without it.
        placing = any(isinstance(part, SpecValue | ShardingValue) for part in parts)
        one = at_path(leaf, path, call.interpreter.written(call.place_of(1, "tree"))) if placing else leaf
        value = call.interpreter.call(function, [one, *parts], {}, call.place)
        # An unknown leaf may be a whole tree.
        return leaf if isinstance(leaf, Unknown | Alternatives) else value

    is_leaf = stops(call, call.kwargs.get("is_leaf"))
    if refuse_differing(call, tree, rest, is_leaf):
        return Unknown("JAX rejects these trees")
    return tree_map_with_path(at_leaf, tree, *rest, is_leaf=is_leaf)


def stops(call: Call, is_leaf: Value | None) -> Callable[[Value], bool] | None:
    """Return ``is_leaf=`` as a function on nodes, which the evaluator calls; None if it is missing."""
    if is_leaf is None or is_none(is_leaf):
        return None
    predicate = is_leaf

    def decide(node: Value) -> bool:
        outcome = truth(call.interpreter.call(predicate, [node], {}, call.place))
        return unresolved("is_leaf of something unknown") if outcome is None else outcome

    return decide


def leaves_(call: Call) -> Value:
    """`tree.leaves(tree)`."""
    tree, is_leaf = call.bind("tree", is_leaf=None)
    return ListValue(leaves(_tree(tree), stops(call, is_leaf)))


def structure(call: Call) -> Value:
    """`tree.structure(tree)`."""
    tree, is_leaf = call.bind("tree", is_leaf=None)
    return _structure(call, tree, is_leaf)


def flatten(call: Call) -> Value:
    """`tree.flatten(tree)`: the leaves and the structure."""
    tree, is_leaf = call.bind("tree", is_leaf=None)
    found = leaves(_tree(tree), stops(call, is_leaf))
    return Tuple((ListValue(found), _structure(call, tree, is_leaf)))


def _structure(call: Call, tree: Value | None, is_leaf: Value | None) -> Value:
    """Return a structure: the tree, with an object that is no node for each leaf."""
    marked = tree_map(lambda leaf: Const("a leaf"), _tree(tree), is_leaf=stops(call, is_leaf))
    return LibraryObject(_STRUCTURE, {"tree": marked})


def unflatten(call: Call) -> Value:
    """`tree.unflatten(structure, leaves)`, `structure.unflatten(leaves)`."""
    structure, values = call.bind("treedef", "leaves")
    if not isinstance(structure, LibraryObject) or structure.kind != _STRUCTURE:
        unresolved("the structure is not known")
    items: Sequence[Value] | None = values.items if isinstance(values, (Tuple, ListValue)) else None
    tree = structure.fields["tree"]
    if items is None or len(items) != len(leaves(tree)):
        unresolved("the leaves are not known")
    given_leaves = iter(items)
    return tree_map(lambda _: next(given_leaves), tree)


def _number_of_leaves(structure: LibraryObject, name: str) -> Value | None:
    return Const(len(leaves(structure.fields["tree"]))) if name == "num_leaves" else None


def _tree(tree: Value | None) -> Value:
    return unresolved("the tree is not given") if tree is None else tree


def reduce(call: Call) -> Value:
    """`tree.reduce(f, tree, initializer)`."""
    function, tree, initial, is_leaf = call.bind("function", "tree", initializer=None, is_leaf=None)
    values = leaves(_tree(tree), stops(call, is_leaf))
    if initial is not None:
        values.insert(0, initial)
    if not values:
        unresolved("an empty tree")
    total, *others = values
    for value in others:
        total = call.interpreter.call(_function(function), [total, value], {}, call.place)
    return total


def all_(call: Call) -> Value:
    """`tree.all(tree)`: True for an empty tree, else unknown."""
    tree, is_leaf = call.bind("tree", is_leaf=None)
    if leaves(_tree(tree), stops(call, is_leaf)):
        unresolved("the leaves' truth")
    return Const(True)


_FUNCTIONS: dict[str, Transfer] = {
    "map": map_,
    "leaves": leaves_,
    "structure": structure,
    "flatten": flatten,
    "unflatten": unflatten,
    "reduce": reduce,
    "all": all_,
}

_NAMES = {"map": ("f", "tree"), "tree_map": ("f", "tree")}

TABLE: dict[str, Transfer] = {
    **table("jax.tree.", _FUNCTIONS, _NAMES),
    **table("jax.tree_util.", {f"tree_{name}": function for name, function in _FUNCTIONS.items()}, _NAMES),
    **table("jax.", {"tree_map": map_}, _NAMES),
}
METHODS: dict[tuple[str, str], Transfer] = {(_STRUCTURE, "unflatten"): TABLE["jax.tree.unflatten"]}
ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {_STRUCTURE: _number_of_leaves}
