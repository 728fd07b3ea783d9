"""Iterative solvers of `jax.scipy.sparse.linalg`, which call a function that multiplies by the matrix."""

from __future__ import annotations

from shardlint.inference.domain.values import NONE, Array, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.arrays.operands import Transfer, given, operand, table, unresolved
from shardlint.inference.overlays.jax.lax.control_flow import traced
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.values import Unknown


def _solve(call: Call) -> Value:
    """`cg(A, b, x0)`, `gmres`, `bicgstab`: a solution of the form of ``x0``, which is like ``b`` by default,
    and None. A function ``A`` is traced for arguments of that form (JAX 0.12.0.1)."""
    matrix, b, x0 = call.argument(0, "A"), call.argument(1, "b"), call.argument(2, "x0")
    guess = x0 if given(x0) else b
    if call.opaque or matrix is None or guess is None or isinstance(guess, Unknown):
        unresolved("the arguments are not known")
    form = tree_map(_like, traced(guess))
    product: Value = matrix
    if not isinstance(matrix, Array):
        with call.interpreter.within(in_jit=True):
            product = call.interpreter.call(matrix, [form], {}, call.place)
    return Tuple((computed(call.interpreter, form, [b or NONE, product]), NONE))


def _like(leaf: Value) -> Value:
    """Return an array of the form of another. Loops refuse integers, which their first round would change."""
    found = operand(leaf)
    dtype = found.dtype if is_inexact(found.dtype) else None
    return Array(found.shape, dtype).vary(found.variation)


TABLE: dict[str, Transfer] = table(
    "jax.scipy.sparse.linalg.", dict.fromkeys(("cg", "gmres", "bicgstab"), _solve)
)
