"""Compositions of lax primitives: a rule calls them on types, in the order of the library's implementation.

A rule stops at the first law that rejects (`Refused`), or whose verdict is unknown (`Open`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Union

from shardlint.inference.domain.values import (
    Array,
    Const,
    LibraryObject,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
    as_dim,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import operands as arrays
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless, type_of
from shardlint.laws import propagation as laws
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, Shape, equal
from shardlint.laws.core.values import Entry, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided
from shardlint.laws.versions.era import since

#: A rule returns the types of a call's results, in order, as far as they are known.
Rule = Callable[["Trace", Call], Union[ArrayType, Sequence[ArrayType]]]
Pair = tuple[Sequence[int], Sequence[int]]


class Refused(Exception):
    """Raised when a law rejects an operation."""

    def __init__(self, verdict: Rejected) -> None:
        super().__init__(verdict.detail)
        self.verdict = verdict
        #: Whether JAX refuses it of concrete arrays, and perhaps not of traced ones.
        self.concrete = False


class Open(Exception):
    """Raised when the types of the results are unknown."""


class Trace:
    """One library call: the context's mesh, the overlay's results, and the primitives.

    ``eager``: nothing is traced, and arrays are concrete. The mesh of an unknown caller is treated as none,
    but no bare spec of an ``out_sharding=`` is placed on it.
    """

    def __init__(self, context: Mesh | Unknown | None, results: Sequence[Array], *, eager: bool) -> None:
        self.context = context if isinstance(context, Mesh) else None
        self.callers = isinstance(context, Unknown)
        self.results = results
        self.eager = eager
        #: Whether a rule has read the call's sharding.
        self.read_sharding = False

    # -- operands ---------------------------------------------------------------------------------------

    def operand(self, value: Value | None) -> ArrayType:
        """Return the type of an argument, which must be an array."""
        kind = None if value is None else self.operand_or_option(value)
        if kind is None:
            raise Open
        return kind

    def operand_or_option(self, value: Value) -> ArrayType | None:
        """Return the type of an argument, or None if it is neither an array nor a number."""
        if isinstance(value, Unknown):
            raise Open
        if isinstance(value, LibraryObject) and isinstance(value.fields.get("value"), Array):
            value = value.fields["value"]
        if (items := as_items(value)) is not None:
            if not all(map(_is_number, _leaves(items))):
                raise Open
            shape = arrays.operand(value).shape
            return None if shape is None else ArrayType(shape, None, meshless(shape))
        kind = type_of(value)
        if kind is not None and (kind.sharding is None or kind.shape is None):
            raise Open
        return kind

    def items(self, value: Value | None) -> list[ArrayType]:
        """Return the types of a list's arrays."""
        items = as_items(value)
        if not items:
            raise Open
        return [self.operand(item) for item in items]

    def size(self, value: Value | None) -> Dim:
        """Return a size argument."""
        dim = as_dim(value)
        if dim is None:
            raise Open
        return dim

    def same(self, one: Dim, other: Dim) -> bool:
        """Return whether two sizes are equal."""
        answer = equal(one, other)
        if answer is None:
            raise Open
        return answer

    def result_shape(self) -> Shape:
        """Return the shape of the only result."""
        if len(self.results) != 1 or self.results[0].shape is None:
            raise Open
        return self.results[0].shape

    def refusal(self, cause: Cause, exception: str, detail: str, dimension: int | None = None) -> Refused:
        """Return a rejection by the library itself, before it calls a primitive."""
        return Refused(Rejected(cause, exception, "trace", dimension=dimension, detail=detail))

    # -- primitives ------------------------------------------------------------------------------------

    def nary(self, *operands: ArrayType, operation: str | None = None) -> ArrayType:
        """`lax.add` and its relatives. ``operation`` matters to unreduced and reduced axes alone."""
        shapes = [shape for x in operands if (shape := shape_of(x))]
        shape = shapes[0] if shapes else ()
        for other in shapes[1:]:
            if len(other) != len(shape):
                raise Open
            shape = tuple(b if a == 1 else a for a, b in zip(shape, other, strict=True))
        return self._typed(shape, laws.elementwise(self.context, *operands, operation=operation))

    def select(self, which: ArrayType, *cases: ArrayType) -> ArrayType:
        """`lax.select_n`."""
        return self._typed(shape_of(cases[0]), laws.select_n(self.context, which, *cases))

    def clamp(self, low: ArrayType, x: ArrayType, high: ArrayType) -> ArrayType:
        """`lax.clamp`."""
        return self._typed(shape_of(x), laws.clamp(self.context, low, x, high))

    def dot_general(
        self,
        a: ArrayType,
        b: ArrayType,
        contracted: Pair,
        batch: Pair,
        out: Value | None = None,
        order: Sequence[int] = (),
    ) -> ArrayType:
        """`lax.dot_general`. Dimension i of the result is dimension ``order[i]`` in the order of ``out``."""
        wanted = self._out(out, order)
        left = [i for i in range(rank(a)) if i not in (*contracted[0], *batch[0])]
        right = [i for i in range(rank(b)) if i not in (*contracted[1], *batch[1])]
        shape = (
            *(shape_of(a)[i] for i in (*batch[0], *left)),
            *(shape_of(b)[i] for i in right),
        )
        return self._typed(shape, laws.dot_general(self.context, a, b, (contracted, batch), wanted))

    def ragged_dot(self, operands: Sequence[ArrayType], shape: Shape, out: Value | None) -> ArrayType:
        """`lax.ragged_dot` to a result of this shape."""
        found = laws.ragged_dot_general(self.context, list(operands), shape, self._out(out))
        return self._typed(shape, found)

    def convert(self, x: ArrayType) -> ArrayType:
        """`lax.convert_element_type`."""
        return self._typed(shape_of(x), laws.convert(self.context, x))

    def reduce(
        self, x: ArrayType, axes: Sequence[int], out: Value | None = None, operation: str | None = None
    ) -> ArrayType:
        """`lax.reduce` and its relatives. ``operation`` (max, prod, and …) matters to unreduced axes."""
        assert x.sharding is not None
        if operation is None and (x.sharding.spec.unreduced or x.sharding.spec.reduced):
            raise Open
        found = laws.reduce(self.context, x, tuple(axes), operation, self._out(out))
        return self._typed(without(shape_of(x), axes), found)

    def one_hot(self, x: ArrayType, shape: Shape, axis: int, out: Value | None) -> ArrayType:
        """`jax.nn.one_hot(out_sharding=)` of this shape."""
        return self._typed(shape, laws.one_hot(self.context, x, shape, axis, self._out(out)))

    def reduce_sum(self, x: ArrayType, axes: Sequence[int], out: Value | None = None) -> ArrayType:
        """`lax.reduce_sum`."""
        wanted = self._out(out)
        return self._typed(without(shape_of(x), axes), laws.reduce_sum(self.context, x, tuple(axes), wanted))

    def arg_extreme(self, x: ArrayType, axis: int) -> ArrayType:
        """`lax.argmax`, `lax.argmin`."""
        return self._typed(without(shape_of(x), (axis,)), laws.argminmax(self.context, x, axis))

    def cumulative(self, x: ArrayType, axis: int) -> ArrayType:
        """`lax.cumsum` and its relatives."""
        return self._typed(shape_of(x), laws.cumulative(self.context, x, axis))

    def sort(self, axis: int, *operands: ArrayType) -> ArrayType:
        """`lax.sort`: the first operand. Each result has the type of its operand."""
        return self._typed(shape_of(operands[0]), laws.sort(self.context, operands, axis))

    def top_k(self, x: ArrayType, k: Dim, axis: int) -> ArrayType:
        """`lax.top_k`: the values."""
        return self._typed(replaced(shape_of(x), axis, k), laws.top_k(self.context, x, axis))

    def reshape(self, x: ArrayType, shape: Shape, out: Value | None = None) -> ArrayType:
        """`lax.reshape`."""
        return self._typed(shape, laws.reshape(self.context, x, shape, out_sharding=self._out(out)))

    def broadcast_in_dim(
        self, x: ArrayType, shape: Shape, dimensions: Sequence[int], out: Value | TypeSharding | None = None
    ) -> ArrayType:
        """`lax.broadcast_in_dim`."""
        wanted = out if isinstance(out, TypeSharding) else self._out(out)
        found = laws.broadcast_in_dim(self.context, x, shape, tuple(dimensions), wanted)
        return self._typed(shape, found)

    def expand_dims(self, x: ArrayType, dimensions: Sequence[int]) -> ArrayType:
        """`lax.expand_dims`."""
        shape = list(shape_of(x))
        for dimension in sorted(dimensions):
            shape.insert(dimension, 1)
        return self._typed(tuple(shape), laws.expand_dims(self.context, x, tuple(dimensions)))

    def transpose(self, x: ArrayType, permutation: Sequence[int]) -> ArrayType:
        """`lax.transpose`."""
        shape = tuple(shape_of(x)[i] for i in permutation)
        return self._typed(shape, laws.transpose(self.context, x, tuple(permutation)))

    def squeeze(self, x: ArrayType, dimensions: Sequence[int]) -> ArrayType:
        """`lax.squeeze`."""
        found = laws.squeeze(self.context, x, tuple(dimensions))
        return self._typed(without(shape_of(x), dimensions), found)

    def reverse(self, x: ArrayType) -> ArrayType:
        """`lax.rev`."""
        return self._typed(shape_of(x), laws.rev(self.context, x))

    def tile(self, x: ArrayType, counts: Sequence[int]) -> ArrayType:
        """`lax.tile`."""
        shape = tuple(n * count for n, count in zip(shape_of(x), counts, strict=True))
        return self._typed(shape, laws.tile(self.context, x, counts))

    def pad(self, x: ArrayType, value: ArrayType, shape: Shape) -> ArrayType:
        """`lax.pad` to a result of this shape."""
        return self._typed(shape, laws.pad(self.context, x, value, shape))

    def concatenate(self, parts: Sequence[ArrayType], axis: int) -> ArrayType:
        """`lax.concatenate`."""
        total: Dim = 0
        for part in parts:
            total = total + shape_of(part)[axis]
        return self._typed(
            replaced(shape_of(parts[0]), axis, total), laws.concatenate(self.context, list(parts), axis)
        )

    def stack(self, parts: Sequence[ArrayType], axis: int) -> ArrayType:
        """`lax.stack`."""
        shape = (*shape_of(parts[0])[:axis], len(parts), *shape_of(parts[0])[axis:])
        return self._typed(shape, laws.stack(self.context, list(parts), axis))

    def split(self, x: ArrayType, sizes: Sequence[Dim], axis: int) -> list[ArrayType]:
        """`lax.split`."""
        found = laws.split(self.context, x, sizes, axis)
        if isinstance(found, Rejected):
            raise Refused(found)
        if isinstance(found, Undecided):
            raise Open
        shapes = [replaced(shape_of(x), axis, size) for size in sizes]
        return [ArrayType(shape, None, sharding) for shape, sharding in zip(shapes, found, strict=True)]

    def unstack(self, x: ArrayType, axis: int) -> ArrayType:
        """`lax.unstack`: each part."""
        return self._typed(without(shape_of(x), (axis,)), laws.unstack(self.context, x, axis))

    def slice(self, x: ArrayType, shape: Shape) -> ArrayType:
        """`lax.slice` to a result of this shape."""
        return self._typed(shape, laws.slice(self.context, x, shape))

    def dynamic_slice(self, x: ArrayType, starts: Sequence[ArrayType], shape: Shape) -> ArrayType:
        """`lax.dynamic_slice`."""
        return self._typed(shape, laws.dynamic_slice(self.context, x, list(starts), shape))

    def dynamic_update_slice(self, x: ArrayType, update: ArrayType, starts: Sequence[ArrayType]) -> ArrayType:
        """`lax.dynamic_update_slice`."""
        found = laws.dynamic_update_slice(self.context, x, update, list(starts))
        return self._typed(shape_of(x), found)

    def gather(
        self, x: ArrayType, indices: ArrayType, window: laws.Window, sizes: Shape, shape: Shape
    ) -> ArrayType:
        """`lax.gather` to a result of this shape."""
        return self._typed(shape, laws.gather(self.context, x, indices, window, sizes))

    def scatter(self, x: ArrayType, indices: ArrayType, updates: ArrayType, window: laws.Window) -> ArrayType:
        """`lax.scatter` and its relatives."""
        return self._typed(shape_of(x), laws.scatter(self.context, x, indices, updates, window))

    def linalg(self, x: ArrayType, shape: Shape) -> ArrayType:
        """A primitive of `lax.linalg` that takes matrices apart: a result of this shape."""
        return self._typed(shape, laws.linalg(self.context, [x], (2,), len(shape)))

    def triangular_solve(
        self, a: ArrayType, b: ArrayType, *, transpose: bool, left: bool = True
    ) -> ArrayType:
        """`lax.linalg.triangular_solve`."""
        found = laws.triangular_solve(self.context, a, b, left_side=left, transpose_a=transpose)
        return self._typed(shape_of(b), found)

    def convolve(
        self, x: ArrayType, kernel: ArrayType, shape: Shape, feature: int, out: Value | None
    ) -> ArrayType:
        """`lax.conv_general_dilated` to a result of this shape."""
        found = laws.conv_general_dilated(self.context, x, kernel, shape, feature, self._out(out))
        return self._typed(shape, found)

    def window(self, x: ArrayType, shape: Shape) -> ArrayType:
        """`lax.reduce_window_sum` and its relatives, to a result of this shape."""
        return self._typed(shape, laws.reduce_window(self.context, x, shape))

    def iota(self, shape: Shape, out: Value | None = None) -> ArrayType:
        """Create arrays: replicated over the context's mesh, or sharded as ``out``."""
        return self._typed(shape, laws.iota(self.context, shape, self._out(out)))

    # -- compositions of jax.numpy --------------------------------------------------------------------

    def promoted(self, *operands: ArrayType) -> list[ArrayType]:
        """`jnp.util.promote_shapes`: operands of one rank, unless they already have one apart from
        scalars."""
        ranks = {rank(x) for x in operands}
        if len(ranks - {0}) < 2:
            return list(operands)
        width = max(ranks)
        return [self.expand_dims(x, range(width - rank(x))) for x in operands]

    def broadcast_arrays(self, *operands: ArrayType) -> list[ArrayType]:
        """`jnp.util._broadcast_arrays`: operands of one shape; if their shapes differed, of one sharding as
        well."""
        shapes = [shape_of(x) for x in operands]
        if all(shape == shapes[0] for shape in shapes):
            return list(operands)
        width = max(map(len, shapes))
        first = max(operands, key=rank)
        assert first.sharding is not None
        entries = entries_of(first)
        if all(entries[width - rank(x) :] == entries_of(x) for x in operands):
            sharding, shape = first.sharding, arrays.broadcast(shapes)
        else:
            combined = self._combined([_padded(x, width) for x in operands])
            assert combined.sharding is not None
            sharding, shape = combined.sharding, arrays.broadcast(shapes)
        if shape is None:
            raise Open
        return [self.broadcast_to(x, shape, sharding) for x in operands]

    def _combined(self, operands: Sequence[ArrayType]) -> ArrayType:
        """`lax.broadcast_shardings`: it computes the sharding itself, and raises its own exception."""
        try:
            return self.nary(*operands)
        except Refused as refused:
            verdict = refused.verdict
            if verdict.cause is not Cause.CONFLICT or verdict.size is not None:
                raise
            # The operands agree along each dimension, but one axis would be used for two dimensions of the
            # result.
            raise Refused(replace(verdict, exception="DuplicateSpecError")) from None

    def broadcast_to(self, x: ArrayType, shape: Shape, sharding: TypeSharding | None = None) -> ArrayType:
        """`lax.broadcast_to`, which since 0.10.0 splits what is whole, and changes nothing else."""
        if shape_of(x) == shape and (sharding is None or x.sharding == sharding):
            return x
        if sharding is not None and since("0.10.0"):
            wanted = (*sharding.spec.entries, *(None,) * (len(shape) - len(sharding.spec)))
            for i, (own, entry) in enumerate(zip(entries_of(x), wanted[len(shape) - rank(x) :], strict=True)):
                if own is not None and own != entry:
                    detail = "an operand that is whole, or sharded as the result"
                    raise self.refusal(Cause.CONFLICT, "ValueError", detail, i)
        return self.broadcast_in_dim(x, shape, range(len(shape) - rank(x), len(shape)), sharding)

    def at(self, x: ArrayType, axis: int) -> ArrayType:
        """``x[..., i, ...]``: a slice of length 1, squeezed."""
        if self.eager and any(entries_of(x)):
            # For concrete arrays on several devices JAX uses another kind of slice.
            raise Open
        return self.squeeze(self.slice(x, replaced(shape_of(x), axis, 1)), (axis,))

    def ravel(self, x: ArrayType) -> ArrayType:
        """`jnp.ravel`."""
        size: Dim = 1
        for n in shape_of(x):
            size = size * n
        return self.reshape(x, (size,))

    # -- answers ---------------------------------------------------------------------------------------

    def _typed(self, shape: Shape, found: laws.Outcome) -> ArrayType:
        if isinstance(found, Rejected):
            raise Refused(found)
        if isinstance(found, Undecided):
            raise Open
        return ArrayType(shape, None, found)

    def _out(self, value: Value | None, order: Sequence[int] = ()) -> laws.OutSharding:
        """Return an ``out_sharding=``, with its entries reordered if an order is passed.

        Without reordering, a spec is passed unchanged to the primitive, which also checks surplus entries.
        """
        self.read_sharding = self.read_sharding or arrays.given(value)
        wanted = out_sharding(value)
        if self.callers and isinstance(wanted, Spec):
            return Unknown("the mesh of the context is the caller's")
        in_order = [*order] == [*range(len(order))]
        if in_order or wanted is None or isinstance(wanted, Unknown):
            return wanted
        spec = wanted.spec if isinstance(wanted, TypeSharding) else wanted
        if len(spec) > len(order):
            raise Open
        padded = (*spec.entries, *(None,) * (len(order) - len(spec)))
        spec = replace(spec, entries=tuple(padded[i] for i in order))
        return replace(wanted, spec=spec) if isinstance(wanted, TypeSharding) else spec


def out_sharding(value: Value | None) -> laws.OutSharding:
    """Return an argument as the sharding it requests of the result."""
    if value is None or is_none(value):
        return None
    if isinstance(value, SpecValue):
        return value.spec
    if isinstance(value, ShardingValue):
        mesh, spec = value.mesh, value.spec
        if isinstance(mesh, MeshValue) and isinstance(spec, SpecValue):
            return TypeSharding(replace(mesh.mesh, abstract=True), spec.spec)
    return Unknown("an out_sharding that is not known")


def first(call: Call) -> Value | None:
    """Return a call's first argument, whatever its parameter is called."""
    return next(iter(call.arguments.values()), None)


def shape_of(x: ArrayType) -> Shape:
    """Return the shape of an operand."""
    assert x.shape is not None
    return x.shape


def rank(x: ArrayType) -> int:
    """Return the number of an operand's dimensions."""
    return len(shape_of(x))


def entries_of(x: ArrayType) -> tuple[Entry, ...]:
    """Return the entry of each dimension of an operand."""
    assert x.sharding is not None
    entries = x.sharding.spec.entries
    return (*entries, *(None,) * (rank(x) - len(entries)))


def dimensions(x: ArrayType) -> list[tuple[Dim, Entry]]:
    """Return each dimension's size and entry."""
    return list(zip(shape_of(x), entries_of(x), strict=True))


def without(shape: Shape, axes: Sequence[int]) -> Shape:
    """Return a shape without some of its dimensions."""
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def replaced(shape: Shape, axis: int, size: Dim) -> Shape:
    """Return a shape with another size of one dimension."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def _padded(x: ArrayType, width: int) -> ArrayType:
    """Return the type with dimensions of size 1 in front."""
    assert x.sharding is not None
    missing = width - rank(x)
    spec = replace(x.sharding.spec, entries=((None,) * missing + entries_of(x)))
    return ArrayType((1,) * missing + shape_of(x), x.dtype, replace(x.sharding, spec=spec))


def _leaves(items: Sequence[Value]) -> list[Value]:
    """Return the items of nested lists."""
    found: list[Value] = []
    for item in items:
        inner = as_items(item)
        found.extend([item] if inner is None else _leaves(inner))
    return found


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, bool | int | float | complex)


def unclaimed(t: Trace, call: Call) -> ArrayType:
    """Nothing is claimed on Explicit axes, where JAX may not take what is split. Raises Open."""
    raise Open
