"""`jax.numpy`: polynomials, by the number of their coefficients (JAX 0.10.2)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Array, Const, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    given,
    known_int,
    known_rank,
    maximum,
    mixed,
    operand,
    operands,
    reject,
    result,
    size_of,
    strong,
    truth,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Operation
from shardlint.laws.core.dims import Dim, lower_bound


def _coefficients(array: Array) -> Dim:
    shape = known_rank(array)
    if len(shape) != 1:
        unresolved("coefficients in a row")
    return shape[0]


def _combined(size: Callable[[Dim, Dim], Dim], *, inexact: bool = False) -> Transfer:
    """Return `polyadd(a1, a2)` or one of its relatives."""

    def transfer(call: Call) -> Value:
        one, other, trims = call.bind("a1", "a2", trim_leading_zeros=None)
        if truth(trims, False):
            unresolved("leading zeros")
        arrays = operands([one, other])
        dtype, weak = mixed(call, arrays)
        found = size(*map(_coefficients, arrays))
        return result(call, (found,), floating(dtype, False) if inexact else dtype, weak)

    return transfer


def _derived(call: Call) -> Value:
    """`polyder(p, m)`: m coefficients fewer."""
    p, m = call.bind("p", m=Const(1))
    x, times = operand(p), known_int(m)
    size: Dim = _coefficients(x) - times
    least = lower_bound(size)
    if times < 1 or least is None or least < 1:
        unresolved("no coefficients left")
    return result(call, (size,), floating(x.dtype, False))


def _integrated(call: Call) -> Value:
    """`polyint(p, m, k)`: m coefficients more."""
    p, m, k = call.bind("p", m=Const(1), k=None)
    x, times = operand(p), known_int(m)
    if given(k) or times < 1:
        unresolved("constants of the integration")
    return result(call, (_coefficients(x) + times,), floating(x.dtype, False))


def _fitted(call: Call) -> Value:
    """`polyfit(x, y, deg)`: a coefficient more than the degree, for each column of y."""
    x, y, degree, _, full, _, covariance = call.bind("x", "y", "deg", rcond=None, full=None, w=None, cov=None)
    if truth(full, False) or (given(covariance) and covariance != Const(False)):
        unresolved("more than the coefficients")
    arrays = operands([x, y])
    shape = known_rank(arrays[1])
    if not 1 <= len(shape) <= 2 or len(known_rank(arrays[0])) != 1:
        reject("a vector, and a vector or a matrix")
    dtype, _ = mixed(call, arrays)
    return result(call, (size_of(degree) + 1, *shape[1:]), floating(dtype, False))


def _of_zeros(call: Call) -> Value:
    """`poly(seq_of_zeros)`: the coefficients of the polynomial with these zeros."""
    (zeros,) = call.bind("seq_of_zeros")
    x = operand(zeros)
    shape = known_rank(x)
    if len(shape) != 1:
        unresolved("a matrix")
    return result(call, (shape[0] + 1,), floating(x.dtype, False))


def _zeros(call: Call) -> Value:
    """`roots(p, strip_zeros=False)`: complex numbers, one fewer than coefficients."""
    p, strips = call.bind("p", strip_zeros=Const(True))
    x = operand(p)
    size: Dim = _coefficients(x) - 1
    if truth(strips, True) or not lower_bound(size):
        unresolved("how many zeros lead")
    return result(call, (size,), "complex64")


def _powers(call: Call) -> Value:
    """`vander(x, N, increasing)`: a row of powers for each element."""
    x, count, _ = call.bind("x", N=None, increasing=None)
    array = operand(x)
    shape = known_rank(array)
    if len(shape) != 1:
        reject("rank other than 1")
    return strong(call, array, (shape[0], size_of(count) if given(count) else shape[0]))


OPERATIONS: tuple[Operation, ...] = (
    Operation("polyadd polysub", _combined(maximum), sharding=unclaimed, reads_values=True),
    Operation(
        "polymul", _combined(lambda m, n: m + n - 1, inexact=True), sharding=unclaimed, reads_values=True
    ),
    Operation("polyder", _derived, sharding=unclaimed, reads_values=False),
    Operation("polyint", _integrated, sharding=unclaimed, reads_values=True),
    Operation("polyfit", _fitted, sharding=unclaimed, reads_values=True),
    Operation("poly", _of_zeros, sharding=unclaimed, reads_values=True),
    Operation("roots", _zeros, sharding=unclaimed, reads_values=False),
    Operation("vander", _powers, sharding=unclaimed, reads_values=False),
)
