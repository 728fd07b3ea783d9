"""Plans of a reshape: which dimension is split, or which are merged, and where its axes go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import NoReturn

from shardlint.laws.core.dims import Dim, Expr, Shape, Symbol, divisible, product, substitute, symbol
from shardlint.laws.core.values import Entry, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided
from shardlint.laws.propagation.operands import (
    Operand,
    Partitions,
    alike,
    canonical,
    divides,
    greater,
    law,
    refuse,
    same,
    stop,
    unsure,
    ways,
)
from shardlint.laws.versions.era import since

#: One dimension of the shorter shape: its size, or the sizes of the longer one that it is made of.
_Part = Dim | list[Dim]
#: With more unknown sizes than this, their cases are not distinguished.
MAX_UNKNOWN = 4


def reshaped(operand: Operand, sizes: Shape, *, in_order: bool) -> Partitions:
    """Return the entries of a sharded operand in its new shape (`_reshape_sharding_rule`).

    Which dimensions are split or merged depends on which sizes are 1: for an unknown size the result must be
    the same whether it is 1 or more. It is assumed to be positive.
    """
    answers = [_answer(case, new, in_order=in_order) for case, new in _cases(operand, sizes)]
    for answer in answers:
        if isinstance(answer, Undecided):
            unsure(answer.reason)
    first = answers[0]
    if isinstance(first, Rejected):
        if all(isinstance(answer, Rejected) and answer.exception == first.exception for answer in answers):
            stop(first)
        unsure("whether the reshape is supported depends on sizes that are not known")
    if any(answer != first for answer in answers):
        unsure("the sharding depends on sizes that are not known")
    assert not isinstance(first, Undecided)
    return first


def same_shape(old: Shape, new: Shape) -> bool:
    """Return whether two shapes are equal; unsure where it is not known."""
    answers = [alike(one, other) for one, other in zip(old, new, strict=False)]
    if len(old) != len(new) or False in answers:
        return False
    if None in answers:
        unsure("whether the shape changes is not known")
    return True


def _cases(operand: Operand, sizes: Shape) -> list[tuple[Operand, Shape]]:
    """Return the shapes with each unknown size 1, or at least 2; the most general case comes first."""
    unknown = {atom for size in (*operand.shape, *sizes) for atom in _unknowns(size)}
    names = sorted(atom.name for atom in unknown)
    if len(names) > MAX_UNKNOWN or len(set(names)) < len(names):
        return [(operand, sizes)]
    many = {atom.name: symbol(atom.name, _at_least(operand, atom)) for atom in unknown}
    cases: list[tuple[Operand, Shape]] = []
    for ones in chain.from_iterable(combinations(names, count) for count in range(len(names) + 1)):
        known: dict[str, Dim] = {name: 1 if name in ones else many[name] for name in names}
        try:
            shape, new = (tuple(substitute(size, known) for size in old) for old in (operand.shape, sizes))
        except ZeroDivisionError:
            continue
        if alike(product(shape), product(new)) is not False and all(
            entry is None or divisible(size, ways(operand.mesh, entry)) is not False
            for size, entry in zip(shape, operand.partitions, strict=True)
        ):
            cases.append((replace(operand, shape=shape), new))
    return cases or [(operand, sizes)]


def _unknowns(size: Dim) -> Iterator[Symbol]:
    if isinstance(size, int):
        return
    for factors, _ in size.terms:
        for atom in factors:
            if isinstance(atom, Symbol):
                yield atom
            else:
                yield from _unknowns(atom.numerator)
                yield from _unknowns(atom.denominator)


def _at_least(operand: Operand, unknown: Symbol) -> int:
    """Return the least value of a size that is not 1: a sharded dimension has a row on each device."""
    least = max(2, unknown.low or 0)
    for size, entry in zip(operand.shape, operand.partitions, strict=True):
        parts = ways(operand.mesh, entry)
        if size == Expr((((unknown,), 1),)) and isinstance(parts, int):
            least = max(least, parts)
    return least


@law
def _answer(operand: Operand, sizes: Shape, *, in_order: bool) -> Partitions:
    if same_shape(_without_ones(operand.shape), _without_ones(sizes)):
        held = operand.partitions if since("0.12.0") else operand.listed
        entries = iter([e for n, e in zip(operand.shape, held, strict=True) if not same(n, 1)])
        return tuple(None if same(n, 1) else next(entries) for n in sizes)
    if since("0.11.0"):
        return _beside_ones(operand, sizes, in_order)
    if len(sizes) > operand.rank:
        parts = _split_of(operand, operand.shape, sizes)
        if parts is not None:
            return _split(operand, operand.partitions, parts, len(sizes), in_order)
    if len(sizes) < operand.rank:
        parts = _split_of(operand, sizes, operand.shape)
        if parts is not None:
            return _merged(operand, operand.listed, sizes, parts, in_order)
    return _unsupported(operand)


def _beside_ones(operand: Operand, sizes: Shape, in_order: bool) -> Partitions:
    """Split or merge the other dimensions as if those of size 1 were not there.

    Since 0.11.1 a size of 1 keeps the entry of a size of 1 at its place.
    """
    held = tuple(e for n, e in zip(operand.shape, operand.partitions, strict=True) if not same(n, 1))
    old, new = _without_ones(operand.shape), _without_ones(sizes)
    entries: Partitions | None = None
    if len(new) > len(old) and (parts := _split_of(operand, old, new)) is not None:
        entries = _split(operand, held, parts, len(new), in_order)
    elif len(new) < len(old) and (parts := _split_of(operand, new, old)) is not None:
        entries = _merged(operand, held, new, parts, in_order)
    if entries is None:
        return _unsupported(operand)
    left, result = iter(entries), list[Entry]()
    for place, size in enumerate(sizes):
        if not same(size, 1):
            result.append(next(left))
        elif not since("0.11.1"):
            result.append(None)
        elif place < operand.rank:
            result.append(operand.partitions[place] if same(operand.shape[place], 1) else None)
        elif len(new) > len(old):
            result.append(None)
        else:
            refuse(Cause.UNSUPPORTED, "out_sharding= for a reshape to sizes of 1", "IndexError")
    return tuple(result)


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if not same(size, 1))


def _unsupported(operand: Operand) -> NoReturn:
    dimension, entry = next((i, e) for i, e in enumerate(operand.partitions) if e is not None)
    refuse(
        Cause.UNSUPPORTED, "out_sharding= for a reshape of a sharded dimension",
        dimension=dimension, entry=entry, size=operand.shape[dimension],
    )  # fmt: skip


def _split_of(operand: Operand, short: Shape, long: Shape) -> list[_Part] | None:
    """Return the sizes of ``short`` as parts of ``long``, where at most one is split (`_split_on_one_axis`).

    None where there is no such reading. More than one split is rejected at once. The loop is JAX's own, with
    its order of tests, since shapes with sizes of 1 have more than one reading.
    """
    ones = 0
    while short and same(short[-1], 1) and same(long[-1], 1):
        short, long, ones = short[:-1], long[:-1], ones + 1
    parts: list[_Part] = []
    i = j = splits = 0
    while j < len(long):
        if i >= len(short):
            refuse(Cause.UNSUPPORTED, "out_sharding= for a reshape to sizes of 1", "IndexError")
        if same(short[i], long[j]):
            parts.append(short[i])
        else:
            splits += 1
            if splits > 1:
                _unsupported(operand)
            run = [long[j]]
            while not same(product(run), short[i]) or (j + 1 < len(long) and same(long[j + 1], 1)):
                if greater(product(run), short[i]):
                    return None
                if same(product(run), short[i]) and i + 1 < len(short) and same(long[j + 1], short[i + 1]):
                    break
                j += 1
                if j >= len(long) and since("0.11.0"):
                    refuse(Cause.UNSUPPORTED, "out_sharding= for a reshape to sizes of 0", "IndexError")
                if j >= len(long):
                    return None
                run.append(long[j])
            parts.append(run)
        i, j = i + 1, j + 1
    if len(parts) != len(short):
        refuse(Cause.UNSUPPORTED, "out_sharding= for a reshape to sizes of 1", "AssertionError")
    return parts + [1] * ones


def _split(operand: Operand, held: Partitions, parts: list[_Part], rank: int, in_order: bool) -> Partitions:
    """`_split_an_axis_sharding_rule`: the axes of a split dimension go to its parts, from the left."""
    entries: list[Entry] = []
    for part, entry in zip(parts, held, strict=True):
        if not isinstance(part, list):
            entries.append(entry)
        elif entry is None:
            entries.extend([None] * len(part))
        elif in_order:
            entries.extend(_dealt(operand, entry_axes(entry), part))
        else:
            _unsupported(operand)
    assert len(entries) == rank
    return tuple(entries)


def _merged(
    operand: Operand, held: Partitions, sizes: Shape, parts: list[_Part], in_order: bool
) -> Partitions:
    """`_merge_an_axis_sharding_rule`: a merged dimension lies along the axes of its first parts."""
    entries: list[Entry] = []
    left = iter(held)
    for size, part in zip(sizes, parts, strict=True):
        if not isinstance(part, list):
            entries.append(next(left))
            continue
        merged = [next(left) for _ in part]
        if all(entry is None for entry in merged):
            entries.append(None)
            continue
        while merged[-1] is None:
            merged.pop()
        if None in merged or not in_order:
            _unsupported(operand)
        axes = tuple(chain.from_iterable(entry_axes(entry) for entry in merged))
        entries.extend(_dealt(operand, axes, [size]))
    return tuple(entries)


def _dealt(operand: Operand, axes: tuple[str, ...], sizes: Sequence[Dim]) -> Partitions:
    """Axes dealt to dimensions, each as many as divide it (`lax.split_partitions`)."""
    left, entries = list(axes), []
    for size in sizes:
        dealt: list[str] = []
        while left and greater(size, ways(operand.mesh, tuple(dealt))):
            dealt.append(left.pop(0))
            if not divides([operand], operand.mesh, tuple(dealt), size):
                _unsupported(operand)
        entries.append(tuple(dealt))
    if left:
        refuse(
            Cause.UNSUPPORTED, "out_sharding= for a reshape that leaves axes over", "AssertionError",
            entry=left[0],
        )  # fmt: skip
    return canonical(entries)
