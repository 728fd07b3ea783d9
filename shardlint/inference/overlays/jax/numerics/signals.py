"""`jax.numpy`: windows, differences along dimensions, and other functions of signals (JAX 0.10.2)."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import Const, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.contractions import convolve
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    arrays_list,
    axes_of,
    axis_of,
    given,
    known_rank,
    mixed,
    operand,
    operands,
    result,
    size_of,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Operation
from shardlint.laws.core.dims import Dim, equal, lower_bound, product


def _window(call: Call) -> Value:
    """`hanning(M)` and its relatives, `kaiser(M, beta)`."""
    size, *_ = call.bind("M", beta=None)
    return result(call, (size_of(size),), "float32")


def _gradient(call: Call) -> Value:
    """`gradient(f, *varargs, axis=None)`: a difference for each dimension, or for the only one."""
    if call.opaque or (not call.args and "f" not in call.kwargs):
        unresolved("the arguments are not known")
    f, *steps = call.args or (call.kwargs["f"],)
    x = operand(f)
    shape = known_rank(x)
    axes = axes_of(call.kwargs.get("axis"), len(shape))
    if any(equal(shape[at], 1) is not False for at in axes):
        unresolved("a dimension of one element")
    dtype, weak = mixed(call, operands([x, *steps]))
    found = result(call, shape, floating(dtype, False), weak)
    return found if len(axes) == 1 else arrays_list([found] * len(axes))


def _unwrapped(call: Call) -> Value:
    """`unwrap(p, discont, axis, period)`: as it was, in floats."""
    p, _, axis, _ = call.bind("p", discont=None, axis=Const(-1), period=None)
    x = operand(p)
    shape, dtype = known_rank(x), floating(x.dtype, False)
    if dtype != x.dtype and not lower_bound(shape[axis_of(axis, len(shape))]):
        # Without elements, it is returned.
        dtype = None
    return result(call, shape, dtype)


def _differences(call: Call) -> Value:
    """`ediff1d(ary, to_end, to_begin)`: of the flattened array, with what stands before and behind."""
    array, *more = call.bind("ary", to_end=None, to_begin=None)
    x = operand(array)
    size: Dim = product(known_rank(x)) - 1
    least = lower_bound(size)
    if least is None or least < 0:
        unresolved("an array that may have no elements")
    for part in more:
        if given(part):
            size = size + product(known_rank(operand(part)))
    return result(call, (size,), x.dtype, x.weak and not any(map(given, more)))


def _correlated(call: Call) -> Value:
    """`correlate(a, v, mode="valid")`: as `convolve`, with another default."""
    by_position = len(call.args) > 2 or "mode" in call.kwargs
    return convolve(call if by_position else replace(call, kwargs={**call.kwargs, "mode": Const("valid")}))


OPERATIONS: tuple[Operation, ...] = (
    Operation("bartlett blackman hamming hanning", _window, sharding=unclaimed, reads_values=False),
    Operation("kaiser", _window, sharding=unclaimed, reads_values=False),
    Operation("gradient", _gradient, sharding=unclaimed, reads_values=False),
    Operation("unwrap", _unwrapped, sharding=unclaimed, reads_values=True),
    Operation("ediff1d", _differences, sharding=unclaimed, reads_values=True),
    Operation("correlate", _correlated, sharding=unclaimed, reads_values=True),
)
