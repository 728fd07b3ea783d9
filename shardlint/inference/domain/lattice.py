"""Joins of the values computed on different paths: equal values stay, others become alternatives."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import field
from itertools import combinations, compress
from operator import is_not
from typing import NamedTuple, TypeVar

from shardlint.inference.domain import name_links
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.unknown_choices import swallowed
from shardlint.inference.domain.values import (
    MAX_ALTERNATIVES,
    Alternatives,
    Array,
    Const,
    DictValue,
    Instance,
    ListValue,
    Tag,
    Test,
    Tuple,
    Value,
    unsized,
)
from shardlint.inference.store.effect_log import born, relate
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import of_a_loop, one_of
from shardlint.model.origins import plain_kind
from shardlint.support.lazy_dataclass import dataclass, replace

#: What is known of an array and does not tell it from another.
_NOT_COMPARED = ("sharding", "drawn_at", "indexed", "laid", "columns", "gathered", "made")
_Kind = TypeVar("_Kind", DictValue, ListValue, Instance)
NO_TAG: Tag = frozenset()


@dataclass(frozen=True, slots=True)
class Perhaps(Unknown):
    """An unknown value that comes from some branches, with the constants that it may be on others.

    ``tags`` holds the conditions: first that of the unknown value, then each constant's.
    """

    constants: tuple[Const, ...] = field(compare=False, kw_only=True)
    tags: tuple[Tag, ...] = field(compare=False, kw_only=True)


def options(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a value, or the value itself."""
    return value.options if isinstance(value, Alternatives) else (value,)


def tagged(value: Value) -> tuple[tuple[Value, Tag], ...]:
    """Return the alternatives of a value, each with its condition."""
    if not isinstance(value, Alternatives):
        return ((value, NO_TAG),)
    return tuple(zip(value.options, value.tags or (NO_TAG,) * len(value.options), strict=True))


class Reading(NamedTuple):
    """The paths that a test reads, as texts, in the run of a function with the number ``scope``.

    ``compared`` is the text of what it compares with constants, empty for other tests.
    """

    scope: int
    paths: frozenset[str]
    compared: str = ""

    def meets(self, other: Reading) -> bool:
        """Return whether two tests read the same, or one reads a part of it; comparisons of one expression
        with constants do not count, since it is known which of them exclude each other."""
        if self.scope != other.scope or (self.compared and self.compared == other.compared):
            return False
        if not self.paths.isdisjoint(other.paths):
            return True
        return self._reads_part_of(other) or other._reads_part_of(self)

    def _reads_part_of(self, other: Reading) -> bool:
        wholes = tuple([whole + step for whole in other.paths for step in ".["])
        return any(path.startswith(wholes) for path in self.paths)


#: Marks a test that is not the program's, and that separates possible values of an unknown one.
_SUPPOSED = "supposed"


def supposed(values: Sequence[Value]) -> Value:
    """Return a value that may be any of these; no finding may rest on one of them alone."""
    test = (born(), _SUPPOSED)
    return join_tagged((value, frozenset({(test, value is values[0])})) for value in values)


def is_supposed(tag: Tag) -> bool:
    """Return whether values under this condition are hypothetical rather than the program's: it supposes
    something, or outcomes of tests that may exclude each other."""
    tests = [test for test, _ in tag]
    if any(test[1:] == (_SUPPOSED,) for test in tests):
        return True
    return any(have_common_reads(one, other) for one, other in combinations(tests, 2))


def have_common_reads(one: Test, other: Test) -> bool:
    """Return whether two tests may exclude each other in a way that their identities do not tell."""
    return len(one) > 2 and len(other) > 2 and bool(one[2].meets(other[2]))


def combined(*tags: Tag) -> Tag | None:
    """Return the conjunction of conditions; None if a test would have both outcomes."""
    if len(tags) == 1:
        return tags[0]
    union = NO_TAG.union(*tags)
    # In a dict, a test with two outcomes would be a single key.
    return union if len(union) < 2 or len(dict(union)) == len(union) or _agree(union) else None


def _agree(tag: Tag) -> bool:
    """Return whether all outcomes of each test agree: sets of constants that a value is in have one in
    common."""
    held: dict[Test, Hashable] = {}
    for test, outcome in tag:
        before = held.get(test, outcome)
        if isinstance(before, frozenset) and isinstance(outcome, frozenset):
            held[test] = common = before & outcome
            if not common:
                return False
        elif before is not outcome:
            return False
        else:
            held[test] = outcome
    return True


def join(values: Iterable[Value]) -> Value:
    """Return the join of values; Unknown absorbs the others."""
    return join_tagged(pair for value in values for pair in tagged(value))


def _options_of(pairs: Sequence[tuple[Value, Tag]]) -> list[tuple[Value, Tag | None]]:
    """Return all alternatives of conditional values, each with its condition."""
    found: list[tuple[Value, Tag | None]] = []
    for value, outer in pairs:
        if type(value) is Alternatives:
            found += [(option, combined(tag, outer)) for option, tag in tagged(value)]
        else:
            found.append((value, outer))
    return found


def join_tagged(pairs: Iterable[tuple[Value, Tag]]) -> Value:
    """Return the join of values under known conditions, as `join`.

    An object absorbed by Unknown may be changed unseen from then on, so its contents are made unknown.
    """
    pairs = tuple(pairs)
    options: list[Value] = []
    tags: list[Tag] = []
    for option, tag in _options_of(pairs):
        if tag is None:
            continue
        if isinstance(option, Unknown):
            forget(Tuple(tuple(value for value, _ in pairs)))
            return option if len(pairs) == 1 else _swallowed(option, pairs)
        for i, other in enumerate(options):
            if (merged := _merged(other, option)) is not None:
                options[i] = merged
                tags[i] &= tag
                break
        else:
            if len(options) == MAX_ALTERNATIVES:
                forget(Tuple(tuple(value for value, _ in pairs)))
                return Unknown("too many possible values")
            options.append(option)
            tags.append(tag)
    if not options:
        return Unknown("no value")
    if len(options) == 1:
        return options[0]
    return Alternatives(tuple(options), None, tuple(tags))


#: Kinds that may be a constant.
_PERHAPS_CONSTANT = frozenset({Const, Perhaps, Alternatives})


def _rows(value: Perhaps) -> tuple[tuple[Value, Tag], ...]:
    return tuple(zip((value, *value.constants), value.tags, strict=True))


def _swallowed(unknown: Unknown, pairs: Sequence[tuple[Value, Tag]]) -> Unknown:
    """Return the join of an unknown value with others; constants among them can still be tested."""
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
    """Return an unknown value, distinct from all these, that takes their place."""
    return swallowed(unsized(unknown), *(value for value, _ in pairs))


def _merged(a: Value, b: Value) -> Value | None:
    """Return the single value equal to both: the same one, or arrays that differ in known variation."""
    if same(a, b):
        if a is not b:
            name_links.equate(a, b)
        return a
    if not isinstance(a, Array) or not isinstance(b, Array) or a.varying != b.varying:
        return None
    if a.made != b.made:
        # What only one of them is, the other need not be.
        a, b = replace(a, made=None), replace(b, made=None)
        if a == b:
            return a
    variation, summed = one_of(a.variation, b.variation), a.summed & b.summed
    merged = a.vary(variation, summed)
    return merged if merged == b.vary(variation, summed) else None


def same(a: Value, b: Value) -> bool:
    """Return whether two values are known to be the same; lists and dicts only if they are one object."""
    if a is b:
        return True
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return _all_same(a.items, b.items)
    # 1 == True == 1.0 in Python, but they are different values here.
    return type(a) is type(b) and a == b and same_kind(getattr(a, "value", 0), getattr(b, "value", 0))


def same_kind(a: object, b: object) -> bool:
    """Return whether two constants have the same class; texts and numbers do, wherever they are written."""
    return type(a) is type(b) or plain_kind(a) is plain_kind(b)


def _all_same(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


def join_variables(states: Sequence[dict[str, Value]], tags: Sequence[Tag] = ()) -> dict[str, Value]:
    """Return the join of the variables of paths that meet; ``tags`` are their conditions."""
    if len(states) == 1:
        return states[0]
    labels = tags or (NO_TAG,) * len(states)
    first, *others = states
    joined = dict(first)
    # Most names are unchanged on all paths.
    apart: dict[str, None] = {}
    for state in others:
        apart |= dict.fromkeys(compress(first, map(is_not, first.values(), map(state.get, first))))
    more = dict.fromkeys([name for state in others for name in state if name not in first])
    for name in (*apart, *more):
        values = [(state[name], tag) for state, tag in zip(states, labels, strict=True) if name in state]
        # A name bound on some paths only raises NameError on the others, so where it is used, the program
        # took a path that bound it.
        joined[name] = (
            values[0][0] if all(value is values[0][0] for value, _ in values) else join_tagged(values)
        )
    return joined


def widen(before: Value, after: Value) -> Value:
    """Return a loop variable's widened value, given its value before and after one iteration: ``before``
    itself, if it stands for both.

    An object that an iteration makes anew, of the same form as the last one, becomes one that stands for all
    of them; a later change of one of them is one of any.
    """
    if same(before, after):
        return before
    if type(before) is Unknown:
        forget(after)
        return before
    if isinstance(before, Array) and isinstance(after, Array) and before.dtype == after.dtype:
        return _widened_array(before, after)
    if isinstance(before, Tuple) and isinstance(after, Tuple) and before.fields == after.fields:
        if len(before.items) == len(after.items) and before.cls is after.cls:
            return _widened_tuple(before, after)
    elif isinstance(before, DictValue) and isinstance(after, DictValue):
        if before.kind == after.kind and before.default is after.default is None:
            return _widened_dict(before, after)
    elif isinstance(before, ListValue) and isinstance(after, ListValue) and before.kind == after.kind:
        return _widened_list(before, after)
    elif isinstance(before, Instance) and isinstance(after, Instance) and _are_alike(before, after):
        return _widened_instance(before, after)
    forget(Tuple((before, after)))
    return Unknown("changes in a loop")


def _widened_array(before: Array, after: Array) -> Array:
    if after.gone is not None and before == replace(after, gone=None):
        return replace(after, gone=replace(after.gone, certain=False))
    if before.made != after.made and replace(before, made=None) == replace(after, made=None):
        return replace(before, made=None)
    a, b = before.shape, after.shape
    if a is None or b is None or len(a) != len(b) or before.numpy != after.numpy:
        return Array(None, before.dtype, numpy=before.numpy, origin=before.origin)
    if before.struct != after.struct:
        return Array(None, before.dtype, numpy=before.numpy, origin=before.origin)
    gone = before.gone
    if gone != after.gone and (other := gone or after.gone) is not None:
        gone = replace(other, certain=False)
    variation = of_a_loop(before.variation, after.variation)
    kept = {
        name: one if one == getattr(after, name) else None
        for name in _NOT_COMPARED
        if (one := getattr(before, name)) is not None
    }
    both = Array(
        tuple(m if m == n else fresh() for m, n in zip(a, b, strict=True)),
        before.dtype,
        before.weak and after.weak,
        before.numpy,
        struct=before.struct,
        origin=before.origin,
        name=before.name,
        varying=variation.surely,
        typed=before.typed if before.typed == after.typed else None,
        committed=before.committed if before.committed == after.committed else None,
        memory=before.memory if before.memory == after.memory else None,
        may_vary=variation.perhaps,
        equal=variation.equal,
        summed=before.summed & after.summed,
        traits=variation.traits,
        gone=gone,
        **kept,
    )
    return before if both == before and None not in kept.values() else both


def _widened_all(before: Sequence[Value], after: Sequence[Value]) -> list[Value] | None:
    """Return values, each widened; None if all stay as they were."""
    found = [widen(a, b) for a, b in zip(before, after, strict=True)]
    return found if any(map(is_not, found, before)) else None


def _widened_tuple(before: Tuple, after: Tuple) -> Value:
    items = _widened_all(before.items, after.items)
    return before if items is None else replace(before, items=tuple(items))


def _widened_dict(before: DictValue, after: DictValue) -> Value:
    a, b = before.items, after.items
    if a is not None and b is not None and a.keys() == b.keys():
        items = _widened_all(list(a.values()), [b[key] for key in a])
        if before.items is not None and after.items is not None:  # No item that holds it was forgotten.
            stands = before
            if items is not None:
                widened = dict(zip(a, items, strict=True))
                stands = DictValue(widened, before.origin, before.path, before.kind)
            return _standing_for(stands, before, after)
    forget(Tuple((before, after)))
    return DictValue(None, before.origin, before.path, before.kind)


def _widened_list(before: ListValue, after: ListValue) -> Value:
    a, b = before.items, after.items
    if a is not None and b is not None and len(a) == len(b):
        items = _widened_all(a, b)
        if before.items is not None and after.items is not None:  # No item that holds it was forgotten.
            stands = before if items is None else ListValue(items, before.origin, before.path, before.kind)
            return _standing_for(stands, before, after)
    forget(Tuple((before, after)))
    return ListValue(None, before.origin, before.path, before.kind)


def _are_alike(before: Instance, after: Instance) -> bool:
    """Return whether two objects are of one class and hold attributes of the same names, and nothing else."""
    if before.cls is not after.cls or before.attributes.keys() != after.attributes.keys():
        return False
    return not (before.opaque or after.opaque or before.forgotten or after.forgotten)


def _widened_instance(before: Instance, after: Instance) -> Value:
    a, b = dict(before.attributes), after.attributes
    values = _widened_all(list(a.values()), [b[name] for name in a])
    if not _are_alike(before, after):
        # One of its attributes, which holds it, was forgotten.
        forget(Tuple((before, after)))
        return Unknown("changes in a loop")
    if values is None:
        return _standing_for(before, before, after)
    stands = Instance(before.cls, dict(zip(a, values, strict=True)), False, before.origin, before.path)
    return _standing_for(stands, before, after)


def _standing_for(stands: _Kind, *objects: _Kind) -> _Kind:
    """Return an object that stands for each of these: what changes one of them may change any other."""
    for one in objects:
        if one is not stands:
            relate(stands, one)
    return stands
