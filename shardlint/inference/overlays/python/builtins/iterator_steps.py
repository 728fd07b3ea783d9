"""Steps that iterators share: drawing from other iterators, a row of items, calls for an item."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext

from shardlint.inference.domain.havoc import forget_contents, lose_position
from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import NONE, Const, Instance, LibraryObject, Tuple, Value, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.iterators import Drawn, draw, each_left, iterator_of, made, spend
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place, Span

_NOWHERE = Span("", 1, 1, 1, 1)


def place_of(iterator: LibraryObject) -> Place:
    return iterator.origin or _NOWHERE


def parts_of(iterator: LibraryObject) -> list[LibraryObject | Instance]:
    """Return the iterators that an iterator draws from."""
    parts = iterator.fields["parts"]
    assert isinstance(parts, Tuple)
    return [part for part in parts.items if isinstance(part, LibraryObject | Instance)]


def over(call: Call, kind: str, *values: Value | None, **fields: Value) -> Value:
    """Return an iterator that draws from these values; one of unknown items if a value is missing."""
    if call.opaque or None in values:
        for value in (*call.args, *call.kwargs.values()):
            spend(call.interpreter, value, call.place)
            forget_contents(value)
        return iterator_of(call.interpreter, Unknown(f"{kind}() of something unknown"), call.place)
    parts = Tuple(tuple(iterator_of(call.interpreter, v, call.place) for v in values if v is not None))
    return made(call.interpreter, kind, call.place, parts=parts, **fields)


def given(call: Call, rows: Iterable[Value] | None) -> Value:
    """Return an iterator over existing items, if they are known and not more than a loop unrolls."""
    items = None if rows is None else tuple(itertools.islice(rows, MAX_UNROLLED + 1))
    known = items is not None and len(items) <= MAX_UNROLLED and not call.opaque
    if not known:
        forget_contents(*call.args)
    given = Tuple(items) if known and items is not None else Unknown(call.name)
    return iterator_of(call.interpreter, given, call.place)


def row(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """Return the next item of each part, as a tuple."""
    parts, place = parts_of(iterator), place_of(iterator)
    drawn: list[Drawn] = []
    for part in parts:
        one = draw(interpreter, part, place)
        if one is None:
            return None
        drawn.append(one)
        if not one.sure and not one.endless:
            return _any_row(interpreter, iterator, drawn)
    sure = not drawn or any(one.sure for one in drawn)
    return Drawn(Tuple(tuple(one.item for one in drawn)), sure, endless=not sure)


def _any_row(interpreter: Evaluator, iterator: LibraryObject, drawn: Sequence[Drawn]) -> Drawn | None:
    """Return an item that represents any further row, after the first few items of that row were drawn."""
    lose_position(iterator)
    with interpreter.forked(repeats=True):
        more = [draw(interpreter, part, place_of(iterator)) for part in parts_of(iterator)]
    columns = itertools.zip_longest(drawn, more)
    if None in more:
        return None
    return Drawn(Tuple(tuple(join(one.item for one in column if one) for column in columns)), sure=False)


def perhaps(interpreter: Evaluator, iterator: LibraryObject, item: Value) -> Drawn:
    """Return an item that may be left out, as may each that follows."""
    lose_position(iterator)
    with interpreter.forked(repeats=True):
        more = [draw(interpreter, part, place_of(iterator)) for part in parts_of(iterator)]
    return Drawn(join([item, *(one.item for one in more if one is not None)]), sure=False)


def apply(
    interpreter: Evaluator, iterator: LibraryObject, drawn: Drawn, args: Sequence[Value] | None
) -> Value:
    """Call the iterator's function for a drawn item."""
    function = iterator.fields["function"]
    with nullcontext() if drawn.sure or drawn.endless else interpreter.forked(repeats=True):
        opaque = args is None
        return interpreter.call(function, args or (), {}, place_of(iterator), opaque)


def choosing(kind: str, name: str = "function") -> Callable[[Call], Value]:
    """Return a function that makes an iterator of a kind which calls a function on each item to select
    items."""

    def make(call: Call) -> Value:
        function, iterable = call.bind(name, "iterable")
        return over(call, kind, iterable, function=function or NONE, state=Const(0))

    return make


def chosen(interpreter: Evaluator, iterator: LibraryObject, drawn: Drawn) -> bool | None:
    """Return whether the function holds of an item; None if the item is not certain."""
    if is_none(iterator.fields["function"]):
        outcome = truth(drawn.item)
    else:
        outcome = truth(apply(interpreter, iterator, drawn, [drawn.item]))
    return outcome if drawn.sure or drawn.endless else None


def filter_step(wanted: bool) -> Callable[[Evaluator, LibraryObject], Drawn | None]:
    """Return the step of `filter`, or of `itertools.filterfalse`."""

    def step(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
        for drawn in each_left(interpreter, parts_of(iterator)[0], place_of(iterator)):
            outcome = chosen(interpreter, iterator, drawn)
            if outcome is wanted:
                return drawn
            if outcome is None or drawn.endless:
                found = perhaps(interpreter, iterator, drawn.item)
                with interpreter.forked(repeats=True):
                    chosen(interpreter, iterator, found._replace(sure=True))
                return found
        return None

    return step
