"""Symbolic dimensions: what is computed with sizes left open holds for every size."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shardlint.laws.core.dims import (
    Dim,
    Expr,
    divisible,
    equal,
    floordiv,
    fresh,
    is_anonymous,
    lower_bound,
    mod,
    product,
    substitute,
    symbol,
    symbols,
)
from shardlint.laws.propagation.operands import alike

#: Each symbol's name and least value.
LOWS = {"n": 0, "m": 1, "k": 2}
OPERATORS: dict[str, tuple[Callable[[Dim, Dim], Dim], Callable[[int, int], int]]] = {
    "+": (operator.add, operator.add),
    "-": (operator.sub, operator.sub),
    "*": (operator.mul, operator.mul),
    "//": (floordiv, operator.floordiv),
    "%": (mod, operator.mod),
}

Tree = Any
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.one_of(st.sampled_from(sorted(LOWS)), st.integers(-4, 16)),
    lambda inner: st.tuples(st.sampled_from(sorted(OPERATORS)), inner, inner),
    max_leaves=7,
)
SIZES = st.fixed_dictionaries({name: st.integers(low, 40) for name, low in LOWS.items()})


def symbolic(tree: Tree) -> Dim:
    """Evaluate a tree with its symbols left open."""
    if isinstance(tree, str):
        return symbol(tree, LOWS[tree])
    if isinstance(tree, int):
        return tree
    op, left, right = tree
    return OPERATORS[op][0](symbolic(left), symbolic(right))


def concrete(tree: Tree, sizes: Mapping[str, int]) -> int:
    """Evaluate a tree with Python's integers."""
    if isinstance(tree, str):
        return sizes[tree]
    if isinstance(tree, int):
        return tree
    op, left, right = tree
    return OPERATORS[op][1](concrete(left, sizes), concrete(right, sizes))


def both(tree: Tree, sizes: Mapping[str, int]) -> tuple[Dim, int]:
    """A tree's value both ways; trees that divide by zero are not drawn."""
    try:
        return symbolic(tree), concrete(tree, sizes)
    except ZeroDivisionError:
        assume(False)
        raise


@settings(max_examples=600, deadline=None)
@given(TREES, SIZES)
def test_substituting_commutes_with_arithmetic(tree: Tree, sizes: dict[str, int]) -> None:
    opened, value = both(tree, sizes)
    assert substitute(opened, sizes) == value or is_anonymous(opened)


@settings(max_examples=600, deadline=None)
@given(TREES, TREES, SIZES)
def test_divisible_and_equal_claim_nothing_false(left: Tree, right: Tree, sizes: dict[str, int]) -> None:
    (a, x), (b, y) = both(left, sizes), both(right, sizes)
    assert equal(a, b) in (None, x == y)
    if y:
        assert divisible(a, b) in (None, x % y == 0)
    assert divisible(a * b, b) in ((True, None) if isinstance(b, Expr) else (x * y % b == 0 if b else None,))


@settings(max_examples=400, deadline=None)
@given(TREES, SIZES)
def test_lower_bounds_hold(tree: Tree, sizes: dict[str, int]) -> None:
    opened, value = both(tree, sizes)
    low = lower_bound(opened)
    assert low is None or low <= value


@settings(max_examples=300, deadline=None)
@given(TREES, TREES, TREES)
def test_equal_expressions_compare_equal(a: Tree, b: Tree, c: Tree) -> None:
    x, y, z = (both(tree, dict.fromkeys(LOWS, 7))[0] for tree in (a, b, c))
    assume(not any(is_anonymous(dim) for dim in (x, y, z, x * y * z)))
    assert x + y == y + x and x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert x - x == 0
    distributed = x * y + x * z
    assert (y + z) * x == distributed or is_anonymous(distributed)


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_an_expression_is_never_a_constant(tree: Tree) -> None:
    opened, _ = both(tree, dict.fromkeys(LOWS, 5))
    assert isinstance(opened, int) or symbols(opened)


N, M = symbol("n", 1), symbol("m", 1)


@pytest.mark.parametrize(
    ("dim", "by", "claim"),
    [
        (8 * N, 4, True),
        (4 * N + 2, 4, False),
        (4 * N + 2, 2, True),
        (N, 4, None),
        (2 * N, 4, None),
        (N * M, M, True),
        (N * M + M, M, True),
        (N * M + 1, M, None),
        (N, N, True),
        (N // 2 * 4, 4, True),
        (12, 8, False),
        (0, 8, True),
        (8, 0, None),
    ],
)
def test_divisibility(dim: Dim, by: Dim, claim: bool | None) -> None:
    assert divisible(dim, by) is claim


@pytest.mark.parametrize(
    ("left", "right", "claim"),
    [
        (N, N, True),
        (N, M, None),
        (N + 1, N, False),
        (N, 0, False),
        (2 * N, N, False),
        (N, 1, None),
        (3, 3, True),
    ],
)
def test_equality(left: Dim, right: Dim, claim: bool | None) -> None:
    assert equal(left, right) is claim


def test_fresh_dimensions_are_only_themselves() -> None:
    one, other = fresh(), fresh()
    assert equal(one, one) is True
    assert equal(one, other) is None
    assert is_anonymous(one * 2) and not is_anonymous(N)


def test_products_and_writing() -> None:
    assert product((2, N, 3)) == 6 * N
    assert product(()) == 1
    assert str(2 * N + 1) == "2*n + 1"
    assert str(N - 1) == "n - 1"
    assert str((N + 1) // 2) == "(n + 1)//2"
    assert substitute(N * M + 1, {"n": 3}) == 3 * M + 1


def test_what_grows_without_bound_becomes_unknown() -> None:
    dim: Dim = 1
    for _ in range(40):
        dim = dim * N
    assert is_anonymous(dim)
    total: Dim = 0
    for i in range(40):
        total = total + symbol(f"s{i}")
    assert is_anonymous(total)


def test_a_multiple_of_a_positive_size_differs_from_it() -> None:
    several, perhaps_none = symbol("k", 2), symbol("z", 0)
    for one, other in ((M, 2 * M), (3 * M, M), (several * M, M)):
        assert alike(one, other) is False
    # Zero is its own multiple, and so is what is multiplied by one.
    for one, other in ((perhaps_none, 2 * perhaps_none), (M * M, M)):
        assert alike(one, other) is None
