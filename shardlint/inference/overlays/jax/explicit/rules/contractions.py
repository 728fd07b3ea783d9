"""Contractions: matmul, dot, tensordot and einsum as `lax.dot_general` and the operations around it."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Value, as_int, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import axes_of, given
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace, dimensions, rank
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Entry
from shardlint.laws.core.verdicts import Cause


def matmul(t: Trace, call: Call) -> ArrayType:
    """`jnp.matmul(a, b)`."""
    a, b, out = call.bound("a", "b", "out_sharding")
    return multiplied(t, t.operand(a), t.operand(b), out)


def at_operator(t: Trace, call: Call) -> ArrayType:
    """``a @ b``."""
    a, b = call.args
    return multiplied(t, t.operand(a), t.operand(b), None)


def multiplied(t: Trace, a: ArrayType, b: ArrayType, out: Value | None) -> ArrayType:
    """`jnp.tensor_contractions.matmul`: batch dimensions of size 1 that no axis splits are squeezed.

    Those that remain must agree in size and in sharding (ValueError). The result's dimensions are then
    transposed to where numpy has them.
    """
    if not rank(a) or not rank(b):
        raise Open
    lead = max(rank(a), rank(b), 2) - 2
    pairs = list(zip(_batch(a, lead), _batch(b, lead), strict=True))
    shared: list[int] = []
    own_a: list[int] = []
    own_b: list[int] = []
    both: list[int] = []
    squeezed_a: list[int] = []
    squeezed_b: list[int] = []
    batch_a: list[int] = []
    batch_b: list[int] = []
    for i, (one, other) in enumerate(pairs):
        at_a = len(shared) + len(own_a)
        at_b = len(shared) + len(own_b)
        single_a, single_b = one == (1, None), other == (1, None)
        if one is None:
            own_b.append(i)
        elif other is None:
            own_a.append(i)
        elif single_a or single_b:
            if single_a:
                squeezed_a.append(at_a + len(squeezed_a))
            if single_b:
                squeezed_b.append(at_b + len(squeezed_b))
            (both if single_a and single_b else own_b if single_a else own_a).append(i)
        elif t.same(one[0], other[0]) and one[1] == other[1]:
            batch_a.append(at_a)
            batch_b.append(at_b)
            shared.append(i)
        else:
            detail = "batch dimensions of one size that lie along the same axes"
            raise t.refusal(Cause.CONFLICT, "ValueError", detail, i)
    matrix_a, matrix_b = rank(a) > 1, rank(b) > 1
    a, b = t.squeeze(a, squeezed_a), t.squeeze(b, squeezed_b)
    contracted = ((rank(a) - 1,), (rank(b) - 1 - matrix_b,))
    found = t.dot_general(a, b, contracted, (tuple(batch_a), tuple(batch_b)), out)
    own_a += [lead] * matrix_a
    own_b += [lead + matrix_a] * matrix_b
    order = [*shared, *own_a, *own_b]
    found = t.transpose(found, sorted(range(len(order)), key=order.__getitem__))
    return t.expand_dims(found, both) if both else found


def _batch(x: ArrayType, lead: int) -> list[tuple[Dim, Entry] | None]:
    """Return the size and the entry of each batch dimension; None for those that an operand lacks."""
    own = dimensions(x)[:-2]
    return [*(None,) * (lead - len(own)), *own]


def dot(t: Trace, call: Call) -> ArrayType:
    """`jnp.dot(a, b)`: contracts the last dimension of a with the last but one of b; scalars multiply."""
    a, b, out = call.bound("a", "b", "out_sharding")
    x, y = t.operand(a), t.operand(b)
    if not rank(x) or not rank(y):
        return t.dot_general(x, y, ((), ()), ((), ()), out)
    return t.dot_general(x, y, ((rank(x) - 1,), (max(rank(y) - 2, 0),)), ((), ()), out)


def tensordot(t: Trace, call: Call) -> ArrayType:
    """`jnp.tensordot(a, b, axes)`."""
    a, b, axes, out = call.bound("a", "b", "axes", "out_sharding")
    x, y = t.operand(a), t.operand(b)
    if (count := as_int(axes)) is not None:
        left, right = tuple(range(rank(x) - count, rank(x))), tuple(range(count))
    else:
        pair = as_items(axes)
        if pair is None or len(pair) != 2:
            raise Open
        left, right = axes_of(pair[0], rank(x)), axes_of(pair[1], rank(y))
    return t.dot_general(x, y, (left, right), ((), ()), out)


def ragged_dot(t: Trace, call: Call) -> ArrayType:
    """`lax.ragged_dot(lhs, rhs, group_sizes)`: JAX infers no sharding, but takes ``out_sharding=``."""
    lhs, rhs, groups, out = call.bound("lhs", "rhs", "group_sizes", "out_sharding")
    return t.ragged_dot([t.operand(one) for one in (lhs, rhs, groups)], t.result_shape(), out)


def inner(t: Trace, call: Call) -> ArrayType:
    """`jnp.inner(a, b)`: over the last dimension of both."""
    a, b = call.bound("a", "b")
    x, y = t.operand(a), t.operand(b)
    if not rank(x) or not rank(y):
        return t.nary(x, y)
    return t.dot_general(x, y, ((rank(x) - 1,), (rank(y) - 1,)), ((), ()), None)


def vdot(t: Trace, call: Call) -> ArrayType:
    """`jnp.vdot(a, b)`: both flattened."""
    a, b = call.bound("a", "b")
    x, y = t.ravel(t.operand(a)), t.ravel(t.operand(b))
    return t.dot_general(x, y, ((0,), (0,)), ((), ()), None)


def outer(t: Trace, call: Call) -> ArrayType:
    """`jnp.outer(a, b)`: both flattened, as a column and a row."""
    a, b, out = call.bound("a", "b", "out")
    if given(out):
        raise Open
    x, y = t.ravel(t.operand(a)), t.ravel(t.operand(b))
    return t.nary(t.expand_dims(x, (1,)), t.expand_dims(y, (0,)))


def kron(t: Trace, call: Call) -> ArrayType:
    """`jnp.kron(a, b)`: multiplied with dimensions between each other's, then reshaped."""
    a, b = call.bound("a", "b")
    x, y = t.operand(a), t.operand(b)
    width = max(rank(x), rank(y))
    x, y = (t.expand_dims(one, range(width - rank(one))) for one in (x, y))
    x, y = t.expand_dims(x, range(1, 2 * width, 2)), t.expand_dims(y, range(0, 2 * width, 2))
    return t.reshape(t.nary(x, y), t.result_shape())


def cross(t: Trace, call: Call) -> ArrayType:
    """`jnp.cross(a, b)` of three-vectors along the last axis: products of components, stacked."""
    a, b = call.bound("a", "b")
    x, y = t.operand(a), t.operand(b)
    component = t.nary(*t.promoted(t.at(x, rank(x) - 1), t.at(y, rank(y) - 1)))
    stacked = t.stack([t.nary(component, component)] * 3, 0)
    return t.transpose(stacked, [*range(1, rank(stacked)), 0])


def dot_general(t: Trace, call: Call) -> ArrayType:
    """`lax.dot_general(lhs, rhs, dimension_numbers)`."""
    a, b, numbers, out = call.bound("lhs", "rhs", "dimension_numbers", "out_sharding")
    halves = as_items(numbers)
    parts = [as_items(pair) for half in halves or () for pair in as_items(half) or ()]
    if len(parts) != 4:
        raise Open
    axes = [[as_int(item) for item in part or ()] for part in parts]
    if any(part is None for part in parts) or any(axis is None for group in axes for axis in group):
        raise Open
    left, right, batch_left, batch_right = (tuple(n for n in group if n is not None) for group in axes)
    return t.dot_general(t.operand(a), t.operand(b), (left, right), (batch_left, batch_right), out)


def lax_dot(t: Trace, call: Call) -> ArrayType:
    """`lax.dot(lhs, rhs)` of vectors and matrices."""
    a, b, numbers, out = call.bound("lhs", "rhs", "dimension_numbers", "out_sharding")
    if given(numbers):
        raise Open
    x, y = t.operand(a), t.operand(b)
    if not 1 <= rank(x) <= 2 or not 1 <= rank(y) <= 2:
        raise Open
    return t.dot_general(x, y, ((rank(x) - 1,), (0,)), ((), ()), out)


def batch_matmul(t: Trace, call: Call) -> ArrayType:
    """`lax.batch_matmul(lhs, rhs)`."""
    a, b = call.bound("lhs", "rhs")
    x, y = t.operand(a), t.operand(b)
    if rank(x) < 2 or rank(x) != rank(y):
        raise Open
    lead = tuple(range(rank(x) - 2))
    return t.dot_general(x, y, ((rank(x) - 1,), (rank(y) - 2,)), (lead, lead), None)


def multi_dot(t: Trace, call: Call) -> ArrayType:
    """`jnp.linalg.multi_dot` of two arrays; with more, the optimizer chooses the order."""
    (values,) = call.bound("arrays")
    items: Sequence[Value] | None = as_items(values)
    if items is None or len(items) != 2:
        raise Open
    return multiplied(t, t.operand(items[0]), t.operand(items[1]), None)
