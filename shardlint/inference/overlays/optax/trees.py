"""`optax.tree` and its relatives: arithmetic on whole trees of arrays, as optax 0.2.8 composes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from shardlint.inference.domain.values import NONE, Array, Const, External, Value, as_bool, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import dtype_value, kind
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    given,
    known_rank,
    operand,
    table,
    unresolved,
)
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.values import Unknown

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

    def cast(self, leaf: Value, other: Value) -> Value:
        """Return a leaf in the dtype of another."""
        if not isinstance(other, Array) or other.dtype is None:
            return Unknown("the dtype is not known")
        return self.apply("astype", leaf, dtype_value(other.dtype))

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


def _corrected(call: Call) -> Value:
    """`tree.bias_correction(moment, decay, count)`: over ``1 - decay ** count`` in each leaf's dtype."""
    moment, decay, count = call.bind("moment", "decay", "count")
    assert moment is not None and decay is not None and count is not None
    do = _Arithmetic(call)
    share = do.apply("asarray", do.operate("Subtract", Const(1), do.operate("Power", decay, count)))
    return tree_map(lambda leaf: do.operate("Divide", leaf, do.cast(share, leaf)), moment)


def _infinity_moment(call: Call) -> Value:
    """`tree.update_infinity_moment(updates, moments, decay, eps)`."""
    updates, moments, decay, eps = call.bind("updates", "moments", "decay", "eps")
    assert updates is not None and moments is not None and decay is not None and eps is not None
    do = _Arithmetic(call)

    def largest(g: Value, t: Value) -> Value:
        return do.apply(
            "maximum", do.operate("Add", do.apply("abs", g), eps), do.operate("Multiply", decay, t)
        )

    return tree_map(largest, updates, moments)


def _norm_moment(call: Call) -> Value:
    """`tree.update_moment_per_elem_norm(updates, moments, decay, order)`: of complex numbers' real norms."""
    updates, moments, decay, order = call.bind("updates", "moments", "decay", "order")
    assert updates is not None and moments is not None and decay is not None and order is not None
    do = _Arithmetic(call)

    def mixed(g: Value, t: Value) -> Value:
        if not isinstance(g, Array) or g.dtype is None:
            return Unknown("whether it is complex is not known")
        size = do.apply("abs", g) if g.dtype.startswith("complex") else g
        return do.mix(t, decay, do.operate("Power", size, order))

    return tree_map(mixed, updates, moments)


def _cast_like(call: Call) -> Value:
    """`tree.cast_like(tree, other_tree)`."""
    tree, other = call.bind("tree", "other_tree")
    assert tree is not None and other is not None
    return tree_map(_Arithmetic(call).cast, tree, other)


def _extreme(name: str, start: float) -> Transfer:
    """`tree.max(tree)`, `tree.min`: of all elements of the leaves that have any."""

    def extreme(call: Call) -> Value:
        (tree,) = call.bind("tree")
        leaves = _leaves(tree)
        if not all(isinstance(leaf, Array) and 0 not in known_rank(leaf) for leaf in leaves):
            unresolved("whether a leaf has elements is not known")
        do = _Arithmetic(call)
        found: Value = Const(start)
        for leaf in leaves:
            found = do.apply(f"{name}imum", found, do.apply(name, leaf))
        return found

    return extreme


def _size(call: Call) -> Value:
    """`tree.size(tree)`: the number of all elements."""
    (tree,) = call.bind("tree")
    do = _Arithmetic(call)
    return do.sum_of([do.apply("size", leaf) for leaf in _leaves(tree)])


def _are_close(call: Call) -> Value:
    """`tree.allclose(a, b)`: whether all elements of all leaves are."""
    one, other, *_ = call.bind("a", "b", rtol=None, atol=None, equal_nan=None)
    assert one is not None and other is not None
    do = _Arithmetic(call)
    found: Value = Const(True)
    for leaf in _leaves(tree_map(lambda a, b: do.apply("allclose", a, b), one, other)):
        found = do.operate("BitAnd", found, leaf)
    return found


def _next_count(call: Call) -> Value:
    """`safe_increment(count)`: one more, or the largest number of its dtype."""
    (count,) = call.bind("count")
    dtype = operand(count).dtype
    if count is None or dtype is None or kind(dtype) not in "iuf":
        unresolved("the dtype")
    do = _Arithmetic(call)
    one = do.apply("array", Const(1), dtype_value(dtype))
    return do.apply("where", do.apply("less", count, one), do.operate("Add", count, one), one)


def _least_norm(call: Call) -> Value:
    """`safe_norm(x, min_norm, ord, axis, keepdims)`: a norm, or the least one."""
    x, least, order, axis, keepdims = call.bind("x", "min_norm", ord=None, axis=None, keepdims=Const(False))
    assert x is not None and least is not None and keepdims is not None
    do = _Arithmetic(call)
    found = do.apply("linalg.norm", x, ord=order or NONE, axis=axis or NONE, keepdims=keepdims)
    return do.apply("where", do.apply("less_equal", found, least), least, found)


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
    "update_infinity_moment": _infinity_moment,
    "update_moment_per_elem_norm": _norm_moment,
    "bias_correction": _corrected,
    "cast_like": _cast_like,
    "max": _extreme("max", -math.inf),
    "min": _extreme("min", math.inf),
    "size": _size,
    "allclose": _are_close,
}  # fmt: skip

TABLE = table("optax.", {
    **{f"tree.{name}": function for name, function in _FUNCTIONS.items()},
    **{f"tree_utils.tree_{name}": function for name, function in _FUNCTIONS.items()},
    "incremental_update": _incremented,
    "global_norm": _norm,
    **{
        name: _FUNCTIONS[name]
        for name in (
            "update_moment", "update_infinity_moment", "update_moment_per_elem_norm", "bias_correction"
        )
    },
    "safe_increment": _next_count,
    "safe_int32_increment": _next_count,
    "safe_norm": _least_norm,
})  # fmt: skip
