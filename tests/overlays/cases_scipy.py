"""Random calls of `jax.scipy.linalg`."""

from __future__ import annotations

from cases_products import solve, square
from overlay_harness import Case, Draw, Generator

from shardlint.inference.domain.values import Array, Const, Tuple


def factored(d: Draw) -> Case:
    """A factor, with whether it is the lower one, and a right side."""
    (a, b), kwargs = solve(d)
    return [Tuple((a, Const(True))), b], kwargs


def pivoted(d: Draw) -> Case:
    """A factor with its pivots, and a right side."""
    (a, b), kwargs = solve(d)
    assert isinstance(a, Array) and a.shape is not None
    return [Tuple((a, Array(a.shape[:-1], "int32"))), b], kwargs


LINALG: dict[str, Generator] = {
    **dict.fromkeys(("cholesky", "inv", "expm", "det", "cho_factor"), square),
    **dict.fromkeys(("solve", "solve_triangular"), solve),
    "cho_solve": factored,
    "lu_solve": pivoted,
}
