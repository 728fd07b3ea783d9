"""Control flow of `jax.lax`: scan, loops, cond, switch, map. The evaluator is asked about each body.

JAX requires a carry, and the results of branches, to have one type; where it runs, that type is known
from whichever side knows it better.
"""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.overlays.arrays import (
    Stop,
    Transfer,
    given,
    operand,
    same_dim,
    same_shape,
    table,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.trees import leaves, tree_map
from shardlint.inference.values import Array, Const, Integer, Tuple, Value, as_dim, as_items, is_none
from shardlint.laws.dims import Dim, fresh
from shardlint.laws.values import Unknown

_COUNTER = Array((), "int32", weak=True)


def traced(tree: Value) -> Value:
    """The tree with its numbers made arrays, as a traced function sees it."""
    return tree_map(_traced_leaf, tree)


def _traced_leaf(leaf: Value) -> Value:
    numbers = isinstance(leaf, Integer) or (
        isinstance(leaf, Const) and isinstance(leaf.value, (bool, int, float, complex))
    )
    return operand(leaf) if numbers or isinstance(leaf, Array) else leaf


def agreed(first: Value, second: Value) -> Value:
    """The value of a carry or branch result that both describe. Stops where structures differ."""
    if isinstance(first, Unknown):
        return second
    if isinstance(second, Unknown):
        return first
    return tree_map(_agreed_leaf, traced(first), traced(second))


def _agreed_leaf(first: Value, second: Value) -> Value:
    if isinstance(first, Array) and isinstance(second, Array):
        shape = same_shape([first.shape, second.shape])
        if first.weak and not second.weak:
            return Array(shape, second.dtype)
        return Array(shape, first.dtype or second.dtype, first.weak and second.weak)
    return second if isinstance(first, Unknown) else first


def _leading(tree: Value) -> Dim | None:
    """The size of the leading axis that all leaves share."""
    sizes = [x.shape[0] for leaf in leaves(tree) if (x := operand(leaf)).shape]
    return same_dim(sizes) if sizes else None


def _row(leaf: Value) -> Value:
    """One slice of a leaf along its leading axis; what is unknown may be a whole tree."""
    if isinstance(leaf, Unknown):
        return leaf
    x = operand(leaf)
    if x.shape == ():
        raise Stop("a scalar has no leading axis", rejected=True)
    return Array(None if x.shape is None else x.shape[1:], x.dtype)


def _piled(size: Dim, tree: Value) -> Value:
    """The tree with a leading axis of this size on each leaf."""

    def pile(leaf: Value) -> Value:
        if isinstance(leaf, Unknown):
            return leaf
        x = operand(leaf)
        return Array(None if x.shape is None else (size, *x.shape), x.dtype, x.weak)

    return tree_map(pile, tree)


def scan(call: Call) -> Value:
    """`scan(f, init, xs, length)`: the carry as it began, and the outputs piled up."""
    function, init, xs, length, *_ = call.bind(
        "f", "init", xs=Const(None), length=None, reverse=None, unroll=None, _split_transpose=None
    )
    if function is None or init is None or xs is None:
        unresolved("the arguments are not known")
    unknown_xs = isinstance(xs, Unknown)
    size = None if unknown_xs or is_none(xs) else _leading(xs)
    if size is None:
        size = as_dim(length) if given(length) else None
    carry = traced(init)
    step = xs if unknown_xs else tree_map(_row, xs)
    answer = call.interpreter.call(function, [carry, step], {}, call.place)
    pair = as_items(answer)
    if pair is None or len(pair) != 2:
        return Tuple((carry, call.unknown("the body's result is not known")))
    return Tuple((agreed(carry, pair[0]), _piled(fresh() if size is None else size, pair[1])))


def fori_loop(call: Call) -> Value:
    """`fori_loop(lower, upper, body_fun, init_val)`."""
    _, _, body, init, _ = call.bind("lower", "upper", "body_fun", "init_val", unroll=None)
    if body is None or init is None:
        unresolved("the arguments are not known")
    carry = traced(init)
    counter = replace(_COUNTER, weak=False)
    return agreed(carry, call.interpreter.call(body, [counter, carry], {}, call.place))


def while_loop(call: Call) -> Value:
    """`while_loop(cond_fun, body_fun, init_val)`."""
    condition, body, init = call.bind("cond_fun", "body_fun", "init_val")
    if condition is None or body is None or init is None:
        unresolved("the arguments are not known")
    carry = traced(init)
    call.interpreter.call(condition, [carry], {}, call.place)
    return agreed(carry, call.interpreter.call(body, [carry], {}, call.place))


def cond(call: Call) -> Value:
    """`cond(pred, true_fun, false_fun, *operands)`: both branches are traced."""
    if call.opaque or len(call.args) < 3 or call.kwargs.keys() - {"operand"}:
        unresolved("the arguments are not known")
    operands = [*call.args[3:], *call.kwargs.values()]
    return _branches(call, list(call.args[1:3]), operands)


def switch(call: Call) -> Value:
    """`switch(index, branches, *operands)`."""
    branches = as_items(call.args[1]) if not call.opaque and len(call.args) >= 2 else None
    if not branches or call.kwargs:
        unresolved("the branches are not known")
    return _branches(call, list(branches), list(call.args[2:]))


def _branches(call: Call, branches: list[Value], operands: list[Value]) -> Value:
    arguments = [traced(value) for value in operands]
    answer: Value = Unknown("no branch")
    for branch in branches:
        answer = agreed(answer, call.interpreter.call(branch, arguments, {}, call.place))
    return traced(answer)


def map_(call: Call) -> Value:
    """`lax.map(f, xs)`: f of each slice, piled up."""
    function, xs, _ = call.bind("f", "xs", batch_size=None)
    if function is None or xs is None or isinstance(xs, Unknown):
        unresolved("the arguments are not known")
    size = _leading(xs)
    row = tree_map(_row, xs)
    answer = call.interpreter.call(function, [row], {}, call.place)
    return _piled(fresh() if size is None else size, answer)


def associative_scan(call: Call) -> Value:
    """`associative_scan(fn, elems)`: as the elements."""
    _, elements, *_ = call.bind("fn", "elems", reverse=None, axis=None)
    return Unknown("the elements are not known") if elements is None else tree_map(operand, elements)


TABLE: dict[str, Transfer] = table("jax.lax.", {
    "scan": scan,
    "fori_loop": fori_loop,
    "while_loop": while_loop,
    "cond": cond,
    "switch": switch,
    "map": map_,
    "associative_scan": associative_scan,
})  # fmt: skip
