"""Iterators: each item is computed on demand and drawn once.

An iterator is a `LibraryObject` whose kind begins with ``iterator.``. Its fields are the sources of its
items, which may be iterators, and its position, ``state``. Drawing an item (`draw`) mutates the iterator, as
writing mutates a list. A branch that may not be taken may draw from an outer iterator; after the branch, its
position is unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeGuard

from shardlint.inference.domain.builtin_bases import seen_as
from shardlint.inference.domain.classes import class_attribute, operator_method
from shardlint.inference.domain.havoc import ITERATOR, forget, forget_contents, lose_position
from shardlint.inference.domain.iteration import MAX_UNROLLED, VIEWS, constant, element, hashable, iterate
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    Function,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_int,
    is_none,
)
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import AxisType, Unknown, entry_axes
from shardlint.model.spans import Place


class Drawn(NamedTuple):
    """An item drawn from an iterator.

    ``sure`` means that it exists. Otherwise there may be any number of items from here on, each like this
    one; infinitely many if ``endless``.
    """

    item: Value
    sure: bool = True
    endless: bool = False


class Items(NamedTuple):
    """All remaining items of an iterable, if ``known``; otherwise each is like ``one``."""

    known: Sequence[Value] | None
    one: Value = Unknown("an item of something unknown")


#: Draws the next item of an iterator of one kind; None if none remains.
Step = Callable[[Evaluator, LibraryObject], Drawn | None]
#: By kind, registered by the module that creates iterators of the kind.
STEPS: dict[str, Step] = {}
_UNKNOWN = Unknown("what is left in an iterator")
_NOTHING = Tuple(())
#: The state of an exhausted iterator, which stays exhausted.
ENDED = NONE


def is_iterator(value: Value) -> TypeGuard[LibraryObject]:
    """Return whether a value is an iterator."""
    return type(value) is LibraryObject and value.kind.startswith(ITERATOR)


def made(interpreter: Evaluator, kind: str, place: Place | None, **fields: Value) -> LibraryObject:
    """Return a new iterator."""
    return LibraryObject(ITERATOR + kind, fields, place, interpreter.path)


def iterator_of(interpreter: Evaluator, value: Value, place: Place) -> LibraryObject | Instance:
    """Return the result of `iter(value)`."""
    if is_iterator(value):
        return value
    if isinstance(value, Instance) and isinstance(class_attribute(value.cls, "__iter__"), Function):
        found = interpreter.call(operator_method(interpreter, value, "__iter__", place), [], {}, place)
        return (
            found
            if is_iterator(found) or isinstance(found, Instance)
            else _unknown(interpreter, found, place)
        )
    value = seen_as(value, "__iter__")
    if isinstance(value, DictValue):
        return _dict_iterator(interpreter, "view.keys", value, place)
    if isinstance(value, LibraryObject) and value.kind in VIEWS:
        return _dict_iterator(interpreter, value.kind, value.fields["of"], place)
    if not isinstance(value, ListValue):
        known = _rows(interpreter, value, place)
        if known is None:
            return _unknown(interpreter, value, place)
        value = Tuple(known)
    return made(interpreter, "items", place, over=value, state=Const(0))


def reversed_of(interpreter: Evaluator, value: Value, place: Place) -> LibraryObject:
    """Return the result of `reversed(value)`."""
    if not isinstance(value, ListValue):
        known = None if is_iterator(value) else iterate(value)
        value = ListValue(None) if known is None else Tuple(tuple(known))
    state = Unknown("from an end that is not known") if value.items is None else Const(len(value.items) - 1)
    return made(interpreter, "reversed", place, over=value, state=state)


def _unknown(interpreter: Evaluator, value: Value, place: Place) -> LibraryObject:
    """Return an iterator over a value of which only a typical item is known."""
    return made(interpreter, "items", place, over=Tuple((element(value),)), state=_UNKNOWN)


def _dict_iterator(interpreter: Evaluator, view: str, value: Value, place: Place) -> LibraryObject:
    held = value.items if isinstance(value, DictValue) else None
    keys = Tuple(tuple(map(constant, held or ())))
    state = _UNKNOWN if held is None else Const(0)
    return made(interpreter, "dict", place, over=value, keys=keys, view=Const(view), state=state)


def draw(interpreter: Evaluator, iterator: LibraryObject | Instance, place: Place) -> Drawn | None:
    """Draw the next item; None if certainly none remains."""
    if isinstance(iterator, Instance):
        return _from_instance(interpreter, iterator, place)
    changing(iterator)
    if not _is_followed(interpreter, iterator):
        lose_position(iterator)
    drawn = STEPS[iterator.kind](interpreter, iterator)
    if drawn is not None and not drawn.sure and not drawn.endless:
        lose_position(iterator)
    return drawn


def _is_followed(interpreter: Evaluator, iterator: LibraryObject) -> bool:
    """Return whether the position of an iterator is known on this branch.

    A loop of unknown length may have drawn from it before. The body of a running generator is not a branch.
    """
    path, last = interpreter.path, iterator.drawn
    if last is not None and path[: len(last)] != last:
        return False
    if not interpreter.certain(iterator.path):
        since = tuple(
            fork for fork in interpreter.path_since(iterator.path) if fork not in interpreter.bodies
        )
        if interpreter.loops_among(since):
            return False
        iterator.drawn = path
    return True


def _from_instance(interpreter: Evaluator, iterator: Instance, place: Place) -> Drawn:
    """Return an item of an object with `__next__`, of unknown number."""
    if not isinstance(class_attribute(iterator.cls, "__next__"), Function):
        return Drawn(_UNKNOWN, sure=False)
    with interpreter.forked(repeats=True):
        one = interpreter.call(interpreter.attribute(iterator, "__next__", place), [], {}, place)
    return Drawn(one, sure=False)


def each_left(interpreter: Evaluator, value: Value, place: Place) -> Iterator[Drawn]:
    """Yield drawn items up to one that is not certain; of very many only that one."""
    iterator = iterator_of(interpreter, value, place)
    if (at_most(iterator) or 0) > MAX_UNROLLED:
        lose_position(iterator)
    for _ in range(MAX_UNROLLED + 1):
        drawn = draw(interpreter, iterator, place)
        if drawn is None:
            return
        yield drawn
        if not drawn.sure:
            return
    spend(interpreter, iterator, place)
    yield Drawn(_UNKNOWN, sure=False)


def drain(interpreter: Evaluator, value: Value, place: Place) -> Items:
    """Draw all items of an iterable."""
    if not is_iterator(value) and not isinstance(value, Instance):
        known = _rows(interpreter, value, place)
        return Items(None, element(value)) if known is None else Items(known)
    drawn = list(each_left(interpreter, value, place))
    items = [one.item for one in drawn]
    return Items(items) if not drawn or drawn[-1].sure else Items(None, join(items))


def items_of(interpreter: Evaluator, value: Value, place: Place) -> tuple[Value, ...] | None:
    """Return all items of an iterable, drawn; None if they are unknown, and then they are out of sight."""
    if isinstance(value, ListValue | Tuple):
        if (items := iterate(value)) is None:
            forget_contents(value)
        return items
    known, one = drain(interpreter, value, place)
    if known is None:
        forget(one)
        return None
    return tuple(known)


def spend(interpreter: Evaluator, value: Value, place: Place) -> None:
    """Let unseen code draw any number of items, if a value is an iterator."""
    if is_iterator(value):
        lose_position(value)
        with interpreter.forked(repeats=True):
            drawn = draw(interpreter, value, place)
        if drawn is not None:
            forget(drawn.item)


def at_most(iterator: Value) -> int | None:
    """Return an upper bound of an iterator's remaining items; None if its sources give none."""
    if not is_iterator(iterator):
        return None
    over, parts, state = (iterator.fields.get(name) for name in ("over", "parts", "state"))
    if isinstance(parts, Tuple) and iterator.kind not in _MAY_BE_LONGER:
        return min((n for part in parts.items if (n := at_most(part)) is not None), default=None)
    at = as_int(state)
    if not isinstance(over, Tuple | ListValue | DictValue) or over.items is None or at is None:
        return None
    return at + 1 if iterator.kind == "iterator.reversed" else len(over.items) - at


#: Iterators that may have more items than the shortest of their sources.
_MAY_BE_LONGER = frozenset(
    ITERATOR + kind for kind in ("chain", "zip_longest", "cycle", "nested comprehension", "accumulate")
)


def _rows(interpreter: Evaluator, value: Value, place: Place) -> tuple[Value, ...] | None:
    """Return the items of a value that is not an iterator.

    In jit, a row of an array is `x[0]`; outside too, if it is not split, as its type says or its placement.
    """
    known = iterate(value)
    if not known or not isinstance(value, Array) or value.typed is None or value.numpy or value.gone:
        # Of an array that was deleted, the first item is an error, not its iterator.
        return known
    mesh, entries = value.typed.mesh, value.typed.spec.entries
    whole = (mesh is None or set(mesh.types) == {AxisType.EXPLICIT}) and not any(entries)
    if interpreter.context.in_jit is not True and not whole and not _lies_whole(value):
        return known
    row = interpreter.item(value, Const(0), place)
    return (row,) * len(known) if isinstance(row, Array) else known


def _lies_whole(array: Array) -> bool:
    """Return whether the program put an array whole on each device of a mesh."""
    home = array.committed
    spec = home.spec if isinstance(home, ShardingValue) and home == array.sharding else None
    return isinstance(spec, SpecValue) and not any(map(entry_axes, spec.spec.entries))


def _next_item(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """Draw from a list as it is now, or from items that do not change."""
    return _item_at(iterator, 1)


def _previous_item(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    return _item_at(iterator, -1)


def _item_at(iterator: LibraryObject, step: int) -> Drawn | None:
    """Return the item at the iterator's position."""
    over, state = iterator.fields["over"], iterator.fields["state"]
    assert isinstance(over, Tuple | ListValue)
    items, at = over.items, as_int(state)
    if is_none(state) or over == _NOTHING:
        return None
    if items is None or at is None:
        if isinstance(over, ListValue) and over.kind == "range":
            return Drawn(Integer(fresh(None)), sure=False)
        return Drawn(join(items) if items else _UNKNOWN, sure=False)
    if not 0 <= at < len(items):
        iterator.fields["state"] = ENDED
        return None
    iterator.fields["state"] = Const(at + step)
    return Drawn(items[at])


def _next_entry(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """Draw from a dict as it is now. If its keys have changed, Python raises, or skips some."""
    over, keys, state = (iterator.fields[name] for name in ("over", "keys", "state"))
    if is_none(state):
        return None
    number, pick = as_int(state), VIEWS[str(getattr(iterator.fields["view"], "value", ""))]
    assert isinstance(keys, Tuple)
    held = over.items if isinstance(over, DictValue) else None
    if held is None or number is None or len(held) != len(keys.items):
        forget_contents(over)
        return Drawn(_UNKNOWN, sure=False)
    if number >= len(held):
        iterator.fields["state"] = ENDED
        return None
    key, item = next(itertools.islice(held.items(), number, None))
    if hashable(keys.items[number])[1] != key:
        forget_contents(over)
        return Drawn(_UNKNOWN, sure=False)
    iterator.fields["state"] = Const(number + 1)
    return Drawn(pick(key, item))


STEPS |= {
    "iterator.items": _next_item,
    "iterator.reversed": _previous_item,
    "iterator.dict": _next_entry,
}
