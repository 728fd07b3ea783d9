"""Random programs, one kind a primitive: the JAX call, and the same question to the law."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from comparing import Program, Sizes, concrete, out_of
from drawing import SIZES, Draw
from jax import lax

from shardlint.laws import propagation as laws
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim, product, symbol
from shardlint.laws.core.values import Mesh

Kind = Callable[[Draw], Program]


def unary(draw: Draw) -> Program:
    draw.array(draw.shape())
    name, function = draw.rng.choice((("exp", lax.exp), ("neg", lax.neg), ("abs", lax.abs)))
    return Program(function, lambda c, a, s: laws.elementwise(c, *a, operation=name))


def power(draw: Draw) -> Program:
    draw.array(draw.shape())
    return Program(
        lambda x: lax.integer_pow(x, 2), lambda c, a, s: laws.elementwise(c, *a, operation="integer_pow")
    )


def binary(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    other = () if draw.rng.random() < 0.1 else tuple(1 if draw.rng.random() < 0.1 else n for n in shape)
    draw.array(other if other == () else shape, like=0)
    kinds = (("add", lax.add), ("mul", lax.mul), ("sub", lax.sub), ("max", lax.max), ("lt", lax.lt))
    name, function = draw.rng.choice(kinds)
    return Program(function, lambda c, a, s: laws.elementwise(c, *a, operation=name))


def binary_of_ones(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    draw.array(tuple(1 if draw.rng.random() < 0.3 else n for n in shape), like=0)
    return Program(lax.add, lambda c, a, s: laws.elementwise(c, *a, operation="add"))


def quotient(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    draw.array(() if draw.rng.random() < 0.2 else shape, like=0 if draw.rng.random() < 0.5 else None)
    return Program(lax.div, lambda c, a, s: laws.elementwise(c, *a, operation="div"))


def convert(draw: Draw) -> Program:
    draw.array(draw.shape())
    return Program(lambda x: lax.convert_element_type(x, np.int32), lambda c, a, s: laws.convert(c, *a))


def select_n(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    draw.array(shape, like=0)
    draw.array(() if draw.rng.random() < 0.3 else shape, like=0, dtype=np.bool_)
    return Program(
        lambda x, y, which: lax.select_n(which, x, y), lambda c, a, s: laws.select_n(c, a[2], a[0], a[1])
    )


def clamp(draw: Draw) -> Program:
    shape = draw.shape()
    low = draw.rng.choice(((), shape))
    for one in (low, shape, draw.rng.choice(((), shape))):
        draw.array(one)
    return Program(lax.clamp, lambda c, a, s: laws.clamp(c, *a))


def dot_general(draw: Draw) -> Program:
    rng = draw.rng
    batch = [rng.choice(SIZES) for _ in range(rng.choice((0, 0, 1, 2)))]
    summed = [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    sides = []
    for _ in range(2):
        free = [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2)))]
        tags = [("b", i) for i in range(len(batch))] + [("s", i) for i in range(len(summed))]
        tags += [("f", i) for i in range(len(free))]
        rng.shuffle(tags)
        sizes = {"b": batch, "s": summed, "f": free}
        sides.append((tags, tuple(sizes[kind][i] for kind, i in tags), free))
    numbers: Any = tuple(
        tuple(tuple(tags.index((kind, i)) for i in range(len(group))) for tags, _, _ in sides)
        for kind, group in (("s", summed), ("b", batch))
    )
    draw.array(sides[0][1])
    draw.array(sides[1][1])
    out = draw.out_sharding((*batch, *sides[0][2], *sides[1][2]))
    return Program(
        lambda x, y: lax.dot_general(x, y, numbers, out_sharding=out),
        lambda c, a, s: laws.dot_general(c, a[0], a[1], numbers, out_of(out)),
    )


def matmul(draw: Draw) -> Program:
    rng = draw.rng
    m, k, n = (rng.choice((4, 8, 8, 16)) for _ in range(3))
    draw.array((m, k))
    draw.array((k, n))
    numbers = (((1,), (0,)), ((), ()))
    return Program(
        lambda x, y: lax.dot_general(x, y, numbers), lambda c, a, s: laws.dot_general(c, a[0], a[1], numbers)
    )


def ragged_dot(draw: Draw) -> Program:
    rng = draw.rng
    m, k, n, groups = (rng.choice((2, 4, 8)) for _ in range(4))
    draw.array((m, k))
    draw.array((groups, k, n))
    draw.array((groups,), dtype=np.int32)
    out = draw.out_sharding((m, n))
    return Program(
        lambda x, y, g: lax.ragged_dot(x, y, g, out_sharding=out),
        lambda c, a, s: laws.ragged_dot_general(c, a, s((m, n)), out_of(out)),
    )


def _other_shape(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Another shape of as many elements: sizes split, merged, ones put in or taken out."""
    rng, new = draw.rng, list(shape)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        step = rng.random()
        if step < 0.4 and new:
            i = rng.randrange(len(new))
            divisors = [d for d in range(1, new[i] + 1) if new[i] % d == 0] or [1]
            d = rng.choice(divisors)
            new[i : i + 1] = [d, new[i] // d]
        elif step < 0.7 and len(new) > 1:
            i = rng.randrange(len(new) - 1)
            new[i : i + 2] = [new[i] * new[i + 1]]
        elif step < 0.85:
            new.insert(rng.randrange(len(new) + 1), 1)
        elif 1 in new:
            new.remove(1)
    return tuple(new) if draw.rng.random() < 0.9 else (math.prod(shape),)


def reshape(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    new = _other_shape(draw, shape)
    order = None
    if draw.rng.random() < 0.15:
        order = list(range(len(shape)))
        draw.rng.shuffle(order)
    out = draw.out_sharding(new) if draw.rng.random() < 0.6 else None
    return Program(
        lambda x: lax.reshape(x, new, order, out_sharding=out),
        lambda c, a, s: laws.reshape(c, a[0], s(new), order, out_of(out)),
    )


def reshape_of_factors(draw: Draw) -> Program:
    """As code on batches does: ``(b, s, h * d)`` to ``(b, s, h, d)`` and back, with any of them open."""
    rng = draw.rng
    factors = [rng.choice((1, 2, 4, 8, 8, 3)) for _ in range(rng.randint(1, 4))]
    groups = [_grouped(rng, len(factors)) for _ in range(2)]
    names: list[Dim] = [symbol(f"f{i}") if rng.random() < 0.7 else n for i, n in enumerate(factors)]
    old, new = (tuple(math.prod(factors[i] for i in group) for group in shape) for shape in groups)
    draw.array(old)

    def law(context: Mesh | None, arrays: list[ArrayType], sizes: Sizes) -> Any:
        if sizes is concrete:
            return laws.reshape(context, arrays[0], new)
        spelled = [tuple(product(names[i] for i in group) for group in shape) for shape in groups]
        return laws.reshape(context, replace(arrays[0], shape=spelled[0]), spelled[1])

    return Program(lambda x: lax.reshape(x, new), law)


def _grouped(rng: random.Random, count: int) -> list[range]:
    cuts = sorted({0, count, *(i for i in range(1, count) if rng.random() < 0.7)})
    return [range(a, b) for a, b in pairwise(cuts)]


def broadcast_in_dim(draw: Draw) -> Program:
    rng = draw.rng
    shape = draw.shape(1)
    places = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    if rng.random() < 0.15:
        rng.shuffle(places)
    draw.array(tuple(1 if rng.random() < 0.2 else shape[i] for i in places))
    out = draw.out_sharding(shape)
    return Program(
        lambda x: lax.broadcast_in_dim(x, shape, places, out_sharding=out),
        lambda c, a, s: laws.broadcast_in_dim(c, a[0], s(shape), places, out_of(out)),
    )


def expand_dims(draw: Draw) -> Program:
    shape = draw.shape(0, 3)
    draw.array(shape)
    count = draw.rng.randint(0, 2)
    places = draw.rng.sample(range(len(shape) + count), count)
    return Program(lambda x: lax.expand_dims(x, places), lambda c, a, s: laws.expand_dims(c, a[0], places))


def transpose(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    order = list(range(len(shape)))
    draw.rng.shuffle(order)
    return Program(lambda x: lax.transpose(x, order), lambda c, a, s: laws.transpose(c, a[0], order))


def squeeze(draw: Draw) -> Program:
    shape = tuple(1 if draw.rng.random() < 0.4 else n for n in draw.shape())
    draw.array(shape)
    ones = [i for i, n in enumerate(shape) if n == 1 and draw.rng.random() < 0.7]
    return Program(lambda x: lax.squeeze(x, ones), lambda c, a, s: laws.squeeze(c, a[0], ones))


def rev(draw: Draw) -> Program:
    shape = draw.shape(1)
    draw.array(shape)
    return Program(lambda x: lax.rev(x, (0,)), lambda c, a, s: laws.rev(c, *a))


def tile(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    reps = tuple(draw.rng.choice((1, 1, 1, 2, 3)) for _ in shape)
    return Program(lambda x: lax.tile(x, reps), lambda c, a, s: laws.tile(c, a[0], reps))


def _axes(draw: Draw, rank: int) -> tuple[int, ...]:
    return tuple(sorted(draw.rng.sample(range(rank), draw.rng.randint(0, rank))))


def reduce(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    axes = _axes(draw, len(shape))
    kinds = (("max", lax.reduce_max), ("prod", lax.reduce_prod), ("min", lax.reduce_min))
    name, function = draw.rng.choice(kinds)
    return Program(lambda x: function(x, axes), lambda c, a, s: laws.reduce(c, a[0], axes, name))


def reduce_and(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape, dtype=np.bool_)
    axes = _axes(draw, len(shape))
    return Program(lambda x: lax.reduce_and(x, axes), lambda c, a, s: laws.reduce(c, a[0], axes, "and"))


def reduce_sum(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    axes = _axes(draw, len(shape))
    out = draw.out_sharding(tuple(n for i, n in enumerate(shape) if i not in axes))
    return Program(
        lambda x: lax.reduce_sum(x, axes, out_sharding=out),
        lambda c, a, s: laws.reduce_sum(c, a[0], axes, out_of(out)),
    )


def argminmax(draw: Draw) -> Program:
    shape = draw.shape(1, empty=False)
    draw.array(shape)
    axis = draw.rng.randrange(len(shape))
    return Program(lambda x: lax.argmax(x, axis, np.int32), lambda c, a, s: laws.argminmax(c, a[0], axis))


def concatenate(draw: Draw) -> Program:
    shape = draw.shape(1)
    axis = draw.rng.randrange(len(shape))
    for i in range(draw.rng.choice((1, 2, 2, 3))):
        size = draw.rng.choice((shape[axis], shape[axis], draw.rng.choice(SIZES)))
        draw.array((*shape[:axis], size, *shape[axis + 1 :]), like=0 if i else None)
    return Program(lambda *x: lax.concatenate(x, axis), lambda c, a, s: laws.concatenate(c, a, axis))


def stack(draw: Draw) -> Program:
    shape = draw.shape(0, 3)
    for i in range(draw.rng.choice((1, 2, 3))):
        draw.array(shape, like=0 if i else None)
    axis = draw.rng.randint(0, len(shape))
    return Program(lambda *x: lax.stack(x, axis), lambda c, a, s: laws.stack(c, a, axis))


def unstack(draw: Draw) -> Program:
    shape = draw.shape(1)
    draw.array(shape)
    axis = draw.rng.randrange(len(shape))
    return Program(lambda x: lax.unstack(x, axis), lambda c, a, s: laws.unstack(c, a[0], axis))


def pad(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    draw.array(())
    config = [tuple(draw.rng.choice((0, 0, 0, 1, 2, 4)) for _ in range(3)) for _ in shape]
    new = [
        n + low + high + max(n - 1, 0) * inner for n, (low, high, inner) in zip(shape, config, strict=True)
    ]
    return Program(lambda x, y: lax.pad(x, y, config), lambda c, a, s: laws.pad(c, a[0], a[1], s(new)))


def split(draw: Draw) -> Program:
    shape = draw.shape(1)
    draw.array(shape)
    axis = draw.rng.randrange(len(shape))
    size = shape[axis]
    halves = [size // 2, size - size // 2]
    first = draw.rng.randint(0, size)
    parts = draw.rng.choice((halves, [size], [first, size - first]))
    return Program(lambda x: lax.split(x, parts, axis), lambda c, a, s: laws.split(c, a[0], s(parts), axis))


def slice_(draw: Draw) -> Program:
    shape = draw.shape()
    draw.array(shape)
    cuts = []
    for size in shape:
        start = draw.rng.choice((0, 0, 0, size // 2, draw.rng.randint(0, size)))
        stop = draw.rng.choice((size, size, draw.rng.randint(start, size)))
        cuts.append((start, stop, draw.rng.choice((1, 1, 1, 2))))
    new = [-(-(stop - start) // step) for start, stop, step in cuts]
    starts, stops, steps = ([cut[i] for cut in cuts] for i in range(3))
    return Program(lambda x: lax.slice(x, starts, stops, steps), lambda c, a, s: laws.slice(c, a[0], s(new)))


def dynamic_slice(draw: Draw) -> Program:
    shape = draw.shape(1)
    draw.array(shape)
    sizes = [draw.rng.choice((n, n, n // 2, draw.rng.randint(0, n))) for n in shape]
    for _ in shape:
        draw.array((), dtype=np.int32)
    return Program(
        lambda x, *starts: lax.dynamic_slice_p.bind(x, *starts, slice_sizes=tuple(sizes)),
        lambda c, a, s: laws.dynamic_slice(c, a[0], a[1:], s(sizes)),
    )


def dynamic_update_slice(draw: Draw) -> Program:
    shape = draw.shape(1)
    draw.array(shape)
    draw.array(tuple(draw.rng.choice((n, n, n // 2)) for n in shape), like=0)
    for _ in shape:
        draw.array((), dtype=np.int32)
    return Program(
        lambda x, y, *starts: lax.dynamic_update_slice_p.bind(x, y, *starts),
        lambda c, a, s: laws.dynamic_update_slice(c, a[0], a[1], a[2:]),
    )


def _window(draw: Draw) -> tuple[Any, ...]:
    """A gather's shapes and numbers: batching dimensions, dimensions that are indexed, whole ones."""
    rng = draw.rng
    kinds = [rng.choice(("batch", "index", "index", "whole")) for _ in range(rng.choice((1, 2, 2, 3)))]
    shape = tuple(rng.choice(SIZES) for _ in kinds)
    batching = [i for i, kind in enumerate(kinds) if kind == "batch"]
    indexed = [i for i, kind in enumerate(kinds) if kind == "index"]
    collapsed = [i for i in indexed if rng.random() < 0.6]
    sizes = [
        1
        if i in batching or i in collapsed
        else n
        if i not in indexed or rng.random() < 0.5
        else max(1, n // 2)
        for i, n in enumerate(shape)
    ]
    queries = [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2)))]
    rows = [("batch", i) for i in batching] + [("query", i) for i in range(len(queries))]
    rng.shuffle(rows)
    indices = [shape[i] if kind == "batch" else queries[i] for kind, i in rows]
    rows_of_batch = [rows.index(("batch", i)) for i in batching]
    kept = [i for i in range(len(shape)) if i not in collapsed and i not in batching]
    rank = len(indices) + len(kept)
    offset = sorted(rng.sample(range(rank), len(kept)))
    window = laws.Window(
        tuple(offset), tuple(collapsed), tuple(indexed), tuple(batching), tuple(rows_of_batch)
    )
    rest = iter(indices)
    left = iter([sizes[i] for i in kept])
    result = tuple(next(left) if i in offset else next(rest) for i in range(rank))
    return shape, (*indices, len(indexed)), window, sizes, result


def gather(draw: Draw) -> Program:
    shape, indices, window, sizes, _ = _window(draw)
    draw.array(shape)
    draw.array(indices, dtype=np.int32)
    numbers = lax.GatherDimensionNumbers(
        window.offset, window.collapsed, window.start_index_map, window.operand_batching,
        window.indices_batching,
    )  # fmt: skip
    return Program(
        lambda x, i: lax.gather(x, i, numbers, sizes),
        lambda c, a, s: laws.gather(c, a[0], a[1], window, s(sizes)),
    )


def scatter(draw: Draw) -> Program:
    shape, indices, window, _, updates = _window(draw)
    draw.array(shape)
    draw.array(indices, dtype=np.int32)
    draw.array(updates, like=draw.rng.choice((None, 0)))
    numbers = lax.ScatterDimensionNumbers(
        window.offset, window.collapsed, window.start_index_map, window.operand_batching,
        window.indices_batching,
    )  # fmt: skip
    function = draw.rng.choice((lax.scatter, lax.scatter_add, lax.scatter_mul))
    return Program(
        lambda x, i, u: function(x, i, u, numbers),
        lambda c, a, s: laws.scatter(c, a[0], a[1], a[2], window, function.__name__),
    )


def sort(draw: Draw) -> Program:
    shape = draw.shape(1)
    count = draw.rng.choice((1, 1, 2))
    for i in range(count):
        draw.array(shape, like=0 if i else None)
    axis = draw.rng.randrange(len(shape))
    return Program(lambda *x: lax.sort(x, axis)[0], lambda c, a, s: laws.sort(c, a, axis))


def cumulative(draw: Draw) -> Program:
    shape = draw.shape(1)
    draw.array(shape)
    axis = draw.rng.randrange(len(shape))
    function = draw.rng.choice((lax.cumsum, lax.cumprod, lax.cummax, lax.cumlogsumexp))
    return Program(lambda x: function(x, axis), lambda c, a, s: laws.cumulative(c, a[0], axis))


def top_k(draw: Draw) -> Program:
    shape = draw.shape(1, empty=False)
    draw.array(shape)
    axis = draw.rng.randrange(len(shape))
    return Program(lambda x: lax.top_k(x, 1, axis=axis), lambda c, a, s: laws.top_k(c, a[0], axis))


def iota(draw: Draw) -> Program:
    shape = draw.shape(1)
    out = draw.out_sharding(shape)
    return Program(
        lambda: lax.broadcasted_iota(np.int32, shape, 0, out_sharding=out),
        lambda c, a, s: laws.iota(c, s(shape), out_of(out)),
    )


def convolution(draw: Draw) -> Program:
    rng = draw.rng
    batch, features, out_features = (rng.choice((2, 4, 8)) for _ in range(3))
    length, width, stride = rng.choice((4, 8, 12)), rng.choice((1, 2, 3)), rng.choice((1, 1, 2))
    draw.array((batch, length, features))
    draw.array((width, features, out_features))
    padding = rng.choice(("SAME", "VALID"))
    span = length if padding == "SAME" else length - width + 1
    new = (batch, -(-span // stride), out_features)
    out = draw.out_sharding(new)
    return Program(
        lambda x, k: lax.conv_general_dilated(
            x, k, (stride,), padding, dimension_numbers=("NWC", "WIO", "NWC"), out_sharding=out
        ),
        lambda c, a, s: laws.conv_general_dilated(c, a[0], a[1], s(new), 2, out_of(out)),
    )


def reduce_window(draw: Draw) -> Program:
    shape = tuple(draw.rng.choice((4, 8, 8)) for _ in range(draw.rank(1, 3)))
    draw.array(shape)
    window = tuple(draw.rng.choice((1, 1, 2, 4)) for _ in shape)
    new = [n // w for n, w in zip(shape, window, strict=True)]
    return Program(
        lambda x: lax.reduce_window(x, -np.inf, lax.max, window, window, "VALID"),
        lambda c, a, s: laws.reduce_window(c, a[0], s(new)),
    )


def lu(draw: Draw) -> Program:
    batch = draw.shape(0, 2)
    n = draw.rng.choice((4, 8))
    draw.array((*batch, n, n))
    return Program(lambda x: lax.linalg.lu(x)[1], lambda c, a, s: laws.linalg(c, a, (2,), len(batch) + 1))


def triangular_solve(draw: Draw) -> Program:
    batch = draw.shape(0, 2)
    n, m = draw.rng.choice((4, 8)), draw.rng.choice((4, 8))
    left, transposed = draw.rng.random() < 0.5, draw.rng.random() < 0.5
    draw.array((*batch, n, n))
    draw.array((*batch, n, m) if left else (*batch, m, n), like=0)
    return Program(
        lambda x, y: lax.linalg.triangular_solve(x, y, left_side=left, transpose_a=transposed),
        lambda c, a, s: laws.triangular_solve(c, *a, left_side=left, transpose_a=transposed),
    )


def approximate_top_k(draw: Draw) -> Program:
    shape = draw.shape(1, empty=False)
    draw.array(shape)
    axis = draw.rng.randrange(len(shape))
    return Program(
        lambda x: lax.approx_max_k(x, 1, reduction_dimension=axis), lambda c, a, s: laws.top_k(c, a[0], axis)
    )


def fft(draw: Draw) -> Program:
    shape = draw.shape(1, empty=False)
    draw.array(shape)
    count = draw.rng.randint(1, min(3, len(shape)))
    new = (*shape[:-1], shape[-1] // 2 + 1)
    return Program(lambda x: lax.fft(x, "RFFT", shape[-count:]), lambda c, a, s: laws.fft(c, a[0], s(new)))


def bitcast_convert_type(draw: Draw) -> Program:
    shape = draw.shape()
    kinds = ((np.float32, np.int32, 0), (np.float32, np.int8, 1), (np.int8, np.int32, -1))
    old, new, more = draw.rng.choice(kinds)
    draw.array((*shape, 4) if more < 0 else shape, dtype=old)
    rank = len(shape) + max(more, 0)
    return Program(
        lambda x: lax.bitcast_convert_type(x, new), lambda c, a, s: laws.bitcast_convert_type(c, a[0], rank)
    )


KINDS: dict[str, Kind] = {
    kind.__name__.rstrip("_"): kind
    for kind in (
        unary, power, binary, binary_of_ones, quotient, convert, select_n, clamp, dot_general, matmul,
        ragged_dot, reshape, reshape_of_factors, broadcast_in_dim, expand_dims, transpose, squeeze, rev,
        tile, reduce, reduce_and, reduce_sum, argminmax, concatenate, stack, unstack, pad, split, slice_,
        dynamic_slice, dynamic_update_slice, gather, scatter, sort, cumulative, top_k, iota, convolution,
        reduce_window, lu, triangular_solve, approximate_top_k, fft, bitcast_convert_type,
    )
}  # fmt: skip
