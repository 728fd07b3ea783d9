"""Linear algebra of batches of matrices on Explicit axes: each function with each layout, beside JAX."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from explicit_programs import Operand, Program
from support.sizes import scale
from test_explicit_programs import Tally, compare

#: The share of the programs that is compared.
SCALE = scale("SHARDLINT_LINALG_SCALE", 1 / 8)
SIZES, NAMES = (4, 2), ("x", "y")

#: Functions of square matrices ``a``.
OF_MATRICES = (
    "jnp.linalg.cholesky(a)", "jnp.linalg.cholesky(a, upper=True)", "jnp.linalg.eigvalsh(a)",
    "jnp.linalg.cholesky(a, symmetrize_input=False)", "jnp.linalg.eigh(a)[0]", "jnp.linalg.eigh(a)[1]",
    "jnp.linalg.qr(a)[0]", "jnp.linalg.qr(a, mode='r')", "jnp.linalg.svd(a)[0]", "jnp.linalg.svd(a)[1]",
    "jnp.linalg.svd(a, compute_uv=False)", "jnp.linalg.inv(a)", "jnp.linalg.det(a)", "jnp.linalg.pinv(a)",
    "jnp.linalg.slogdet(a)[1]", "jax.scipy.linalg.cholesky(a)", "jax.scipy.linalg.cholesky(a, lower=True)",
    "jax.scipy.linalg.inv(a)", "jax.scipy.linalg.det(a)", "jax.scipy.linalg.cho_factor(a)[0]",
    "lax.linalg.cholesky(a)", "lax.linalg.eigh(a)[0]", "lax.linalg.eigh(a)[1]", "lax.linalg.lu(a)[0]",
    "lax.linalg.lu(a)[2]", "lax.linalg.qr(a)[1]", "lax.linalg.cholesky(a, symmetrize_input=False)",
    "jax.scipy.linalg.lu_factor(a)[0]", "jax.scipy.linalg.lu_factor(a)[1]",
)  # fmt: skip
#: Functions of square matrices ``a`` and right sides ``b``.
OF_SYSTEMS = (
    "jnp.linalg.solve(a, b)", "jax.scipy.linalg.solve(a, b)", "jax.scipy.linalg.solve_triangular(a, b)",
    "jax.scipy.linalg.solve(a, b, assume_a='pos')", "jax.scipy.linalg.solve_triangular(a, b, trans=1)",
    "jax.scipy.linalg.solve_triangular(a, b, lower=True, trans='N')",
    "lax.linalg.triangular_solve(a, b, left_side=True)", "lax.linalg.triangular_solve(a, b)",
    "lax.linalg.triangular_solve(a, b, left_side=True, transpose_a=True)",
    "jax.scipy.linalg.cho_solve((a, True), b)", "jax.scipy.linalg.cho_solve((a, False), b)",
    "jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(a), b)",
)  # fmt: skip
MATRICES = ((8, 8), (2, 2), (8, 4, 4), (4, 2, 2), (2, 4, 8, 8), (8, 3, 3))
SYSTEMS = (
    ((8, 8), (8,)), ((8, 8), (8, 4)), ((8, 4, 4), (8, 4, 2)), ((8, 4, 4), (8, 4)), ((4, 4, 4), (4, 2)),
    ((2, 4, 8, 8), (2, 4, 8, 8)), ((4, 4), (8, 4, 2)), ((1, 8, 8), (1, 8, 2)),
)  # fmt: skip


def layouts(shape: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Every spec of a shape, with each axis along no dimension or one."""
    found = []
    for places in itertools.product((None, *range(len(shape))), repeat=len(NAMES)):
        entries: list[Any] = [None] * len(shape)
        for axis, place in zip(NAMES, places, strict=True):
            if place is not None:
                entries[place] = axis if entries[place] is None else ("x", "y")
        ways = {None: 1, "x": 4, "y": 2, ("x", "y"): 8}
        if all(size % ways[entry] == 0 for size, entry in zip(shape, entries, strict=True)):
            found.append(tuple(entries))
    return found


def programs() -> list[Program]:
    """Every function with every layout."""
    found = [
        Program(SIZES, NAMES, "EE", [Operand(shape, "float32", spec)], [statement])
        for statement, shape in itertools.product(OF_MATRICES, MATRICES)
        for spec in layouts(shape)
    ]
    for statement, (first, second) in itertools.product(OF_SYSTEMS, SYSTEMS):
        for one, other in itertools.product(layouts(first), layouts(second)):
            operands = [Operand(first, "float32", one), Operand(second, "float32", other)]
            found.append(Program(SIZES, NAMES, "EE", operands, [statement]))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(4))
def test_linear_algebra_agrees_with_jax(part: int) -> None:
    tally = Tally()
    for program in programs()[part :: round(4 / SCALE)]:
        compare(program, tally)
    assert tally.typed >= 0.8 * tally.accepted, tally
    assert tally.rejected >= 0.3 * tally.accepted, tally
    assert tally.found >= 0.7 * tally.rejected, tally
