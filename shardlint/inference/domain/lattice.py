"""Joining what different paths computed: equal values stay, others become alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import compress
from operator import is_not

from shardlint.inference.domain import name_links
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.unknown_choices import swallowed
from shardlint.inference.domain.values import (
    MAX_ALTERNATIVES,
    Alternatives,
    Array,
    Const,
    Tag,
    Tuple,
    Value,
    unsized,
)
from shardlint.inference.store.effect_log import born
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import one_of
from shardlint.support.fast_frozen import frozen

NO_TAG: Tag = frozenset()


@frozen
class Perhaps(Unknown):
    """Something unknown that comes from some branches, and constants that it may be from others.

    ``tags`` holds the branches: first those of what is unknown, then each constant's.
    """

    constants: tuple[Const, ...] = field(compare=False, kw_only=True)
    tags: tuple[Tag, ...] = field(compare=False, kw_only=True)


def options(value: Value) -> tuple[Value, ...]:
    """The values this may be."""
    return value.options if isinstance(value, Alternatives) else (value,)


def tagged(value: Value) -> tuple[tuple[Value, Tag], ...]:
    """The values this may be, each with the branches it comes from."""
    if not isinstance(value, Alternatives):
        return ((value, NO_TAG),)
    return tuple(zip(value.options, value.tags or (NO_TAG,) * len(value.options), strict=True))


#: The kind of test that no program made, and that tells apart what an unknown value may be.
_SUPPOSED = "supposed"


def supposed(values: Sequence[Value]) -> Value:
    """What may be either of two values for all that is known: nothing is said of one of them alone."""
    test = (born(), _SUPPOSED)
    return join_tagged((value, frozenset({(test, value is values[0])})) for value in values)


def is_supposed(tag: Tag) -> bool:
    """Whether values under this tag are not the program's."""
    return any(isinstance(test, tuple) and test[1:] == (_SUPPOSED,) for test, _ in tag)


def combined(*tags: Tag) -> Tag | None:
    """The branches of values that meet; None when one test would have had both outcomes."""
    if len(tags) == 1:
        return tags[0]
    union = NO_TAG.union(*tags)
    # As pairs of a dict those of one test with two outcomes are one.
    return union if len(union) < 2 or len(dict(union)) == len(union) else None


def join(values: Iterable[Value]) -> Value:
    """Return the value that is one of these; Unknown swallows the others."""
    return join_tagged(pair for value in values for pair in tagged(value))


def _options_of(pairs: Sequence[tuple[Value, Tag]]) -> list[tuple[Value, Tag | None]]:
    """All that values may be that come from branches, each with the branches it comes from."""
    found: list[tuple[Value, Tag | None]] = []
    for value, outer in pairs:
        if type(value) is Alternatives:
            found += [(option, combined(tag, outer)) for option, tag in tagged(value)]
        else:
            found.append((value, outer))
    return found


def join_tagged(pairs: Iterable[tuple[Value, Tag]]) -> Value:
    """As `join`, for values that come from known branches.

    An object that Unknown swallows may be changed unseen from then on, so it is forgotten.
    """
    pairs = tuple(pairs)
    kept: list[Value] = []
    tags: list[Tag] = []
    for option, tag in _options_of(pairs):
        if tag is None:
            continue
        if isinstance(option, Unknown):
            forget(Tuple(tuple(value for value, _ in pairs)))
            return option if len(pairs) == 1 else _swallowed(option, pairs)
        for i, other in enumerate(kept):
            if (merged := _merged(other, option)) is not None:
                kept[i] = merged
                tags[i] &= tag
                break
        else:
            if len(kept) == MAX_ALTERNATIVES:
                forget(Tuple(tuple(value for value, _ in pairs)))
                return Unknown("too many possible values")
            kept.append(option)
            tags.append(tag)
    if not kept:
        return Unknown("no value")
    if len(kept) == 1:
        return kept[0]
    return Alternatives(tuple(kept), None, tuple(tags))


#: What may be a constant.
_PERHAPS_CONSTANT = frozenset({Const, Perhaps, Alternatives})


def _rows(value: Perhaps) -> tuple[tuple[Value, Tag], ...]:
    return tuple(zip((value, *value.constants), value.tags, strict=True))


def _swallowed(unknown: Unknown, pairs: Sequence[tuple[Value, Tag]]) -> Unknown:
    """What is unknown on some branches and may be constants on others, of which tests may be made."""
    if _PERHAPS_CONSTANT.isdisjoint([type(value) for value, _ in pairs]):
        return _other(unknown, pairs)
    constants: list[Const] = []
    tags: list[Tag] = []
    others: list[Tag] = []
    for value, outer in pairs:
        rows = _rows(value) if isinstance(value, Perhaps) else tagged(value)
        for option, inner in rows:
            if (tag := combined(inner, outer)) is None:
                continue
            if isinstance(option, Const):
                constants.append(option)
                tags.append(tag)
            else:
                others.append(tag)
    common = NO_TAG if not others else frozenset.intersection(*others)
    if not common or not constants or len(constants) > MAX_ALTERNATIVES:
        return _other(unknown, pairs)
    return Perhaps(unknown.reason, constants=tuple(constants), tags=(common, *tags))


def _other(unknown: Unknown, pairs: Sequence[tuple[Value, Tag]]) -> Unknown:
    """What takes the place of all these, being unknown: another value than any of them."""
    return swallowed(unsized(unknown), *(value for value, _ in pairs))


def _merged(a: Value, b: Value) -> Value | None:
    """The one value that two are: the same, or arrays that differ in what is known of their variation."""
    if same(a, b):
        if a is not b:
            name_links.equate(a, b)
        return a
    if not isinstance(a, Array) or not isinstance(b, Array) or a.varying != b.varying:
        return None
    variation, summed = one_of(a.variation, b.variation), a.summed & b.summed
    merged = a.vary(variation, summed)
    return merged if merged == b.vary(variation, summed) else None


def same(a: Value, b: Value) -> bool:
    """Whether two values are known to be the same; lists and dicts only if they are one object."""
    if a is b:
        return True
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return _all_same(a.items, b.items)
    # 1 == True == 1.0 in Python, but not here.
    return type(a) is type(b) and a == b and same_kind(getattr(a, "value", 0), getattr(b, "value", 0))


def same_kind(a: object, b: object) -> bool:
    """Whether two constants are of one class; a text is one wherever it is written."""
    return type(a) is type(b) or (isinstance(a, str) and isinstance(b, str))


def _all_same(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


def join_variables(states: Sequence[dict[str, Value]], tags: Sequence[Tag] = ()) -> dict[str, Value]:
    """Join the variables of paths that meet; ``tags`` are the branches each comes from."""
    if len(states) == 1:
        return states[0]
    labels = tags or (NO_TAG,) * len(states)
    first, *others = states
    joined = dict(first)
    # Most names hold on all paths what they held before these parted.
    apart: dict[str, None] = {}
    for state in others:
        apart |= dict.fromkeys(compress(first, map(is_not, first.values(), map(state.get, first))))
    more = dict.fromkeys([name for state in others for name in state if name not in first])
    for name in (*apart, *more):
        held = [(state[name], tag) for state, tag in zip(states, labels, strict=True) if name in state]
        # A name that only some paths bind raises NameError on the others, so where it is used
        # the program took a path that bound it.
        joined[name] = held[0][0] if all(value is held[0][0] for value, _ in held) else join_tagged(held)
    return joined


def widen(before: Value, after: Value) -> Value:
    """Return what a loop's variable may be, given its value before and after one iteration."""
    if same(before, after):
        return before
    if isinstance(before, Array) and isinstance(after, Array) and before.dtype == after.dtype:
        a, b = before.shape, after.shape
        if a is not None and b is not None and len(a) == len(b):
            dims = tuple(m if m == n else fresh() for m, n in zip(a, b, strict=True))
            return Array(dims, before.dtype, numpy=before.numpy, origin=before.origin)
        return Array(None, before.dtype, numpy=before.numpy, origin=before.origin)
    forget(Tuple((before, after)))
    return Unknown("changes in a loop")
