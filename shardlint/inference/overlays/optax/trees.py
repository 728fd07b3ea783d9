"""`optax.tree` and its relatives: arithmetic on whole trees of arrays, as optax 0.2.8 composes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.inference.domain.values import Const, External, Value, as_bool, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, given, table, unresolved
from shardlint.inference.overlays.pytrees.trees import tree_map

_ONE = Const(1.0)


class _Arithmetic:
    """Operations on the leaves of trees, evaluated where a call stands."""

    def __init__(self, call: Call) -> None:
        self._interpreter, self._place = call.interpreter, call.place

    def operate(self, operator: str, one: Value, other: Value) -> Value:
        """Return the result of a binary operator: ``Add``, ``Multiply``."""
        return self._interpreter.operation(operator, one, other, self._place)

    def apply(self, function: str, *args: Value, **kwargs: Value) -> Value:
        """Return the result of a function of `jax.numpy`."""
        return self._interpreter.call(External(f"jax.numpy.{function}"), list(args), kwargs, self._place)

    def mix(self, one: Value, share: Value, other: Value) -> Value:
        """Return ``share * one + (1 - share) * other``."""
        rest = self.operate("Subtract", _ONE, share)
        return self.operate(
            "Add", self.operate("Multiply", share, one), self.operate("Multiply", rest, other)
        )

    def sum_of(self, leaves: Sequence[Value]) -> Value:
        """Return the sum of leaves, which starts at 0."""
        total: Value = Const(0)
        for leaf in leaves:
            total = self.operate("Add", total, leaf)
        return total


#: Computes a leaf of the result from those of the trees, and the other arguments.
_OfLeaves = Callable[[_Arithmetic, Sequence[Value], Sequence[Value]], Value]


def _each(trees: str, others: str, compute: _OfLeaves, **defaults: Value | None) -> Transfer:
    """Return a function of leaves: ``trees`` and ``others`` are its parameters in their order, of which those
    of trees are mapped over."""

    def mapped(call: Call) -> Value:
        names = (trees if not others else f"{trees} {others}").split()
        order = [name for name in names if name not in defaults]
        bound = dict(zip((*order, *defaults), call.bind(*order, **defaults), strict=True))
        rest = [bound[name] or Const(None) for name in others.split()]
        first, *more = (bound[name] or Const(None) for name in trees.split())
        return tree_map(lambda *leaves: compute(_Arithmetic(call), leaves, rest), first, *more)

    return mapped


def _added(call: Call) -> Value:
    """`tree.add(tree_x, tree_y, *other_trees)`."""
    if call.kwargs or call.opaque or len(call.args) < 2:
        unresolved("trees by keyword")
    first, *more = call.args
    return tree_map(lambda *leaves: _Arithmetic(call).sum_of(leaves), first, *more)


def _binary(operator: str) -> Transfer:
    return _each("tree_x tree_y", "", lambda do, leaves, _: do.operate(operator, *leaves))


def _scaled(call: Call) -> Value:
    """`tree.scale(scalar, tree)`."""
    scalar, tree = call.bind("scalar", "tree")
    assert scalar is not None and tree is not None
    return tree_map(lambda leaf: _Arithmetic(call).operate("Multiply", scalar, leaf), tree)


def _added_scaled(call: Call) -> Value:
    """`tree.add_scale(tree_x, scalar, tree_y)`."""
    x, scalar, y = call.bind("tree_x", "scalar", "tree_y")
    assert x is not None and scalar is not None and y is not None
    do = _Arithmetic(call)
    scalar = do.apply("asarray", scalar)
    return tree_map(lambda a, b: do.operate("Add", a, do.operate("Multiply", scalar, b)), x, y)


def _incremented(call: Call) -> Value:
    """`incremental_update(new_tensors, old_tensors, step_size)`: a moving average."""
    new, old, step = call.bind("new_tensors", "old_tensors", "step_size")
    assert new is not None and old is not None and step is not None
    return tree_map(lambda a, b: _Arithmetic(call).mix(a, step, b), new, old)


def _moment(call: Call) -> Value:
    """`tree.update_moment(updates, moments, decay, order)`."""
    updates, moments, decay, order = call.bind("updates", "moments", "decay", "order")
    assert updates is not None and moments is not None and decay is not None and order is not None
    do = _Arithmetic(call)
    return tree_map(lambda g, t: do.mix(t, decay, do.operate("Power", g, order)), updates, moments)


def _cast(call: Call) -> Value:
    """`tree.cast(tree, dtype)`."""
    tree, dtype = call.bind("tree", "dtype")
    assert tree is not None and dtype is not None
    return (
        tree
        if is_none(dtype)
        else tree_map(lambda leaf: _Arithmetic(call).apply("astype", leaf, dtype), tree)
    )


def _like(name: str, *values: str) -> Transfer:
    """Return a function that makes a tree of new arrays like those of another."""

    def made(call: Call) -> Value:
        tree, *rest, dtype = call.bind("tree", *values, dtype=None)
        assert tree is not None
        filled = [value or Const(None) for value in rest]
        kwargs = {"dtype": dtype} if dtype is not None and given(dtype) else {}
        return tree_map(lambda leaf: _Arithmetic(call).apply(name, leaf, *filled, **kwargs), tree)

    return made


def _chosen(call: Call) -> Value:
    """`tree.where(condition, tree_x, tree_y)`."""
    condition, x, y = call.bind("condition", "tree_x", "tree_y")
    assert condition is not None and x is not None and y is not None
    return tree_map(lambda a, b: _Arithmetic(call).apply("where", condition, a, b), x, y)


def _leaves(tree: Value | None) -> list[Value]:
    found: list[Value] = []
    assert tree is not None
    tree_map(lambda leaf: found.append(leaf) or leaf, tree)  # type: ignore[func-returns-value]
    return found


def _summed(call: Call) -> Value:
    """`tree.sum(tree)`: of all elements of all leaves."""
    tree, _ = call.bind("tree", associative_reduction=None)
    do = _Arithmetic(call)
    return do.sum_of([do.apply("sum", leaf) for leaf in _leaves(tree)])


def _norm(call: Call) -> Value:
    """`tree.norm(tree, ord, squared)`, `global_norm(updates)`."""
    name = "updates" if call.name == "optax.global_norm" else "tree"
    tree, order, squared = call.bind(name, ord=None, squared=Const(False))
    root = as_bool(squared)
    if (given(order) and as_str(order) is None and order != Const(2)) or root is None:
        unresolved("another norm")
    do = _Arithmetic(call)
    total = do.sum_of([do.apply("sum", do.apply("square", do.apply("abs", leaf))) for leaf in _leaves(tree)])
    return do.apply("array", total if root else do.apply("sqrt", total))


def _products(call: Call) -> Value:
    """`tree.vdot(tree_x, tree_y)`."""
    x, y = call.bind("tree_x", "tree_y")
    assert x is not None and y is not None
    do = _Arithmetic(call)
    return do.sum_of(_leaves(tree_map(lambda a, b: do.apply("vdot", a, b), x, y)))


_FUNCTIONS: dict[str, Transfer] = {
    "add": _added,
    "sub": _binary("Subtract"),
    "mul": _binary("Multiply"),
    "div": _binary("Divide"),
    "scale": _scaled,
    "add_scale": _added_scaled,
    "cast": _cast,
    "clip": _each(
        "tree", "min_value max_value", lambda do, leaves, bounds: do.apply("clip", *leaves, *bounds),
        min_value=None, max_value=None,
    ),
    "conj": _each("tree", "", lambda do, leaves, _: do.apply("conj", *leaves)),
    "real": _each("tree", "", lambda do, leaves, _: do.apply("real", *leaves)),
    "zeros_like": _like("zeros_like"),
    "ones_like": _like("ones_like"),
    "full_like": _like("full_like", "fill_value"),
    "where": _chosen,
    "sum": _summed,
    "norm": _norm,
    "vdot": _products,
    "update_moment": _moment,
}  # fmt: skip

TABLE = table("optax.", {
    **{f"tree.{name}": function for name, function in _FUNCTIONS.items()},
    **{f"tree_utils.tree_{name}": function for name, function in _FUNCTIONS.items()},
    "incremental_update": _incremented,
    "global_norm": _norm,
})  # fmt: skip
