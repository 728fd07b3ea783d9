"""Iterators of Python's builtins and of `itertools`: the step that makes the next item of each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from shardlint.inference.domain.havoc import forget, lose_position
from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.lattice import join, options
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Const,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    as_int,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.iterators import (
    ENDED,
    STEPS,
    Drawn,
    drain,
    draw,
    each_left,
    items_of,
    iterator_of,
    made,
    reversed_of,
    spend,
)
from shardlint.inference.overlays.python.builtins.iterator_steps import (
    apply,
    choosing,
    chosen,
    filter_step,
    given,
    over,
    parts_of,
    perhaps,
    place_of,
    row,
)
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import Unknown


def _zip(call: Call) -> Value:
    call.ignore("strict")
    return over(call, "zip", *call.args)


def _map(call: Call) -> Value:
    if len(call.args) < 2:
        return over(call, "map", None)
    function, *values = call.args
    return over(call, "map", *values, function=function)


def _next_mapped(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    drawn = row(interpreter, iterator)
    if drawn is None:
        return None
    assert isinstance(drawn.item, Tuple)
    return drawn._replace(item=apply(interpreter, iterator, drawn, drawn.item.items))


def _starmap(call: Call) -> Value:
    function, iterable = call.bind("function", "iterable")
    return over(call, "starmap", iterable, function=function or NONE)


def _next_spread(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    drawn = draw(interpreter, parts_of(iterator)[0], place_of(iterator))
    if drawn is None:
        return None
    args = items_of(interpreter, drawn.item, place_of(iterator))
    return drawn._replace(item=apply(interpreter, iterator, drawn, args))


def _next_while(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """`itertools.takewhile`."""
    if iterator.fields["state"] == ENDED:
        return None
    (part,), place = parts_of(iterator), place_of(iterator)
    drawn = draw(interpreter, part, place)
    if drawn is None:
        return None
    outcome = chosen(interpreter, iterator, drawn)
    if outcome is False:
        iterator.fields["state"] = ENDED
        return None
    if outcome is True:
        return drawn
    found = perhaps(interpreter, iterator, drawn.item)
    with interpreter.forked(repeats=True):
        chosen(interpreter, iterator, found._replace(sure=True))
    return found


def _next_after(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """`itertools.dropwhile`: its state is 1 after the first item it returned."""
    if as_int(iterator.fields["state"]) == 1:
        return draw(interpreter, parts_of(iterator)[0], place_of(iterator))
    for drawn in each_left(interpreter, parts_of(iterator)[0], place_of(iterator)):
        outcome = chosen(interpreter, iterator, drawn)
        if outcome is None or drawn.endless:
            found = perhaps(interpreter, iterator, drawn.item)
            with interpreter.forked(repeats=True):
                chosen(interpreter, iterator, found._replace(sure=True))
            return found
        if outcome is False:
            iterator.fields["state"] = Const(1)
            return drawn
    return None


def _enumerate(call: Call) -> Value:
    iterable, start = call.bind("iterable", start=Const(0))
    first = as_int(start)
    state = Unknown("a number") if first is None else Const(first)
    return over(call, "enumerate", iterable, state=state)


def _next_numbered(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    drawn = draw(interpreter, parts_of(iterator)[0], place_of(iterator))
    number = iterator.fields["state"]
    if drawn is None:
        return None
    if not drawn.sure:
        return drawn._replace(item=Tuple((Integer(fresh(None)), drawn.item)))
    if (at := as_int(number)) is not None:
        iterator.fields["state"] = Const(at + 1)
    return Drawn(Tuple((number, drawn.item)))


def _chain(call: Call) -> Value:
    return over(call, "chain", Tuple(tuple(call.args)), inner=NONE)


def _chain_from(call: Call) -> Value:
    (outer,) = call.bind("iterable")
    return over(call, "chain", outer, inner=NONE)


def _next_in_chain(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    (outer,), place = parts_of(iterator), place_of(iterator)
    for _ in range(MAX_UNROLLED):
        inner = iterator.fields["inner"]
        if isinstance(inner, LibraryObject | Instance):
            drawn = draw(interpreter, inner, place)
            if drawn is not None and (drawn.sure or drawn.endless):
                return drawn
            if drawn is not None:
                return _rest_of_chain(interpreter, iterator, drawn)
        following = draw(interpreter, outer, place)
        if following is None:
            iterator.fields["inner"] = NONE
            return None
        if not following.sure:
            return _rest_of_chain(interpreter, iterator, following)
        iterator.fields["inner"] = iterator_of(interpreter, following.item, place)
    return _rest_of_chain(interpreter, iterator, Drawn(NONE, sure=False))


def _rest_of_chain(interpreter: Evaluator, iterator: LibraryObject, drawn: Drawn) -> Drawn:
    """Return an item that represents any further one, of this iterable or a later one."""
    (outer,), place = parts_of(iterator), place_of(iterator)
    with interpreter.forked(repeats=True):
        spend(interpreter, drawn.item, place)
        for following in each_left(interpreter, outer, place):
            for part in options(following.item):
                left = drain(interpreter, part, place)
                forget(Tuple((left.one, *(left.known or ()))))
    return Drawn(Unknown("an item of something unknown"), sure=False)


def _islice(call: Call) -> Value:
    bounds = [None if is_none(arg) else as_int(arg) for arg in call.args[1:]]
    unknown = any(b is None and not is_none(a) for a, b in zip(call.args[1:], bounds, strict=True))
    if call.opaque or unknown or not 1 <= len(bounds) <= 3 or any(b is not None and b < 0 for b in bounds):
        return over(call, "islice", None)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, None)[:3]
    ends = {"stop": Const(stop), "step": Const(step or 1), "next": Const(start or 0), "state": Const(0)}
    return over(call, "islice", call.args[0], **ends)


def _next_in_slice(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    fields, (part,), place = iterator.fields, parts_of(iterator), place_of(iterator)
    if fields["state"] == ENDED:
        return None
    taken, following, step, stop = (as_int(fields[name]) for name in ("state", "next", "step", "stop"))
    if taken is None or following is None or step is None or following - taken > MAX_UNROLLED:
        return perhaps(interpreter, iterator, Unknown("an item of something unknown"))
    for _ in range(taken, following):
        skipped = draw(interpreter, part, place)
        if skipped is None:
            fields["state"] = ENDED
            return None
        if not skipped.sure and not skipped.endless:
            return perhaps(interpreter, iterator, skipped.item)
    taken = max(taken, following)
    fields["state"] = Const(taken)
    drawn = None if stop is not None and taken >= stop else draw(interpreter, part, place)
    if drawn is None:
        fields["state"] = ENDED
        return None
    following += step
    fields |= {
        "state": Const(taken + 1),
        "next": Const(following if stop is None else min(following, stop)),
    }
    return Drawn(drawn.item) if drawn.endless and stop is not None else drawn


def _accumulate(call: Call) -> Value:
    iterable, function, initial = call.bind("iterable", func=NONE, initial=NONE)
    first = NONE if initial is None else initial
    if not is_none(first) and any(is_none(one) or isinstance(one, Unknown) for one in options(first)):
        # The number of items is unknown.
        spend(call.interpreter, iterable or NONE, call.place)
        return iterator_of(call.interpreter, Unknown("totals from what may be None"), call.place)
    return over(call, "accumulate", iterable, function=function or NONE, state=first, begun=Const(False))


def _next_total(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    fields, place = iterator.fields, place_of(iterator)
    total = fields["state"]
    begun = fields["begun"] == Const(True) or isinstance(total, Unknown)
    if not begun and not is_none(total):
        fields["begun"] = Const(True)
        return Drawn(total)
    drawn = draw(interpreter, parts_of(iterator)[0], place)
    if drawn is None:
        return None
    fields["begun"] = Const(True)
    if not drawn.sure:
        total = Unknown("a total of something unknown")
    elif not begun:
        total = drawn.item
    if begun and is_none(fields["function"]):
        total = interpreter.operation("Add", total, drawn.item, place)
    elif begun:
        total = apply(interpreter, iterator, drawn, [total, drawn.item])
    fields["state"] = total
    return drawn._replace(item=total)


def _zip_longest(call: Call) -> Value:
    return over(call, "zip_longest", *call.args, fill=call.kwargs.get("fillvalue", NONE))


def _next_longest(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    drawn = [draw(interpreter, part, place_of(iterator)) for part in parts_of(iterator)]
    if all(one is None for one in drawn):
        return None
    items = [iterator.fields["fill"] if one is None else one.item for one in drawn]
    if all(one is None or one.sure for one in drawn):
        return Drawn(Tuple(tuple(items)))
    return perhaps(interpreter, iterator, Unknown("an item of something unknown"))


def _count(call: Call) -> Value:
    start, step = call.bind(start=Const(0), step=Const(1))
    return made(call.interpreter, "count", call.place, state=start or NONE, step=step or NONE)


def _next_number(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    number = iterator.fields["state"]
    following = interpreter.operation("Add", number, iterator.fields["step"], place_of(iterator))
    iterator.fields["state"] = following
    # With an unknown position, the next item is unknown, too.
    return Drawn(number, sure=not isinstance(number, Unknown), endless=isinstance(number, Unknown))


def _repeat(call: Call) -> Value:
    value, times = call.bind("object", times=None)
    if times is None and value is not None:
        return made(call.interpreter, "repeat", call.place, value=value)
    count = as_int(times)
    return given(call, None if count is None or value is None else itertools.repeat(value, count))


def _cycle(call: Call) -> Value:
    (iterable,) = call.bind("iterable")
    return over(call, "cycle", iterable, saved=ListValue([], path=call.interpreter.path), state=Const(-1))


def _next_round(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """`itertools.cycle`: its state is the index of the next saved item, -1 until all items are saved."""
    saved, at = iterator.fields["saved"], as_int(iterator.fields["state"])
    assert isinstance(saved, ListValue) and saved.items is not None
    if at == -1:
        drawn = draw(interpreter, parts_of(iterator)[0], place_of(iterator))
        if drawn is not None and (drawn.sure or drawn.endless):
            changing(saved)
            saved.items.append(drawn.item)
            return drawn
        if drawn is not None:
            return drawn._replace(item=join([drawn.item, *saved.items]))
        at = 0
    if not saved.items:
        return None if at == 0 else Drawn(Unknown("an item of something unknown"), sure=False)
    if at is None:
        # Whether all items are saved is unknown.
        return Drawn(Unknown("an item of something unknown"), sure=False)
    iterator.fields["state"] = Const((at + 1) % len(saved.items))
    return Drawn(saved.items[at])


def _pairwise(call: Call) -> Value:
    (iterable,) = call.bind("iterable")
    return over(call, "pairwise", iterable, state=NONE, begun=Const(False))


def _next_pair(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    fields, (part,), place = iterator.fields, parts_of(iterator), place_of(iterator)
    if fields["begun"] == Const(False):
        first = draw(interpreter, part, place)
        if first is None:
            return None
        fields |= {"begun": Const(True), "state": first.item}
    drawn = draw(interpreter, part, place)
    if drawn is None:
        return None
    before = fields["state"] if drawn.sure else Unknown("an item of something unknown")
    fields["state"] = drawn.item
    return drawn._replace(item=Tuple((before, drawn.item)))


def _tee(call: Call) -> Value:
    iterable, number = call.bind("iterable", n=Const(2))
    count = as_int(number)
    if iterable is None or count is None or not 0 <= count <= MAX_UNROLLED:
        return Unknown("itertools.tee")
    i, source = call.interpreter, iterator_of(call.interpreter, iterable, call.place)
    if isinstance(source, LibraryObject) and source.kind == "iterator.tee":
        # Python copies it.
        spend(i, source, call.place)
        return Unknown("itertools.tee")
    buffer = ListValue([], path=i.path)
    copies = (
        made(i, "tee", call.place, parts=Tuple((source,)), buffer=buffer, state=Const(0))
        for _ in range(count)
    )
    return Tuple(tuple(copies))


def _next_copied(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    buffer, at = iterator.fields["buffer"], as_int(iterator.fields["state"])
    assert isinstance(buffer, ListValue)
    if buffer.items is None or at is None:
        return perhaps(interpreter, iterator, Unknown("an item of something unknown"))
    if at >= len(buffer.items):
        drawn = draw(interpreter, parts_of(iterator)[0], place_of(iterator))
        if drawn is None or not drawn.sure:
            return drawn
        if not interpreter.certain(buffer.path):
            # The position of the other copies is unknown afterwards.
            lose_position(iterator)
            return drawn._replace(sure=False)
        changing(buffer)
        buffer.items.append(drawn.item)
    iterator.fields["state"] = Const(at + 1)
    return Drawn(buffer.items[at])


def _iter(call: Call) -> Value:
    """``iter(iterable)``, and ``iter(function, sentinel)``."""
    given, sentinel = call.bind("object", sentinel=None)
    if sentinel is None:
        return iterator_of(call.interpreter, given or NONE, call.place)
    fields = {"function": given or NONE, "sentinel": sentinel, "state": Const(0)}
    return made(call.interpreter, "calls", call.place, **fields)


def _next_call(interpreter: Evaluator, iterator: LibraryObject) -> Drawn | None:
    """Return the step of ``iter(function, sentinel)``."""
    if iterator.fields["state"] == ENDED:
        return None
    if not isinstance(iterator.fields["state"], Unknown):
        item = apply(interpreter, iterator, Drawn(NONE), ())
        ends = truth(interpreter.comparison("Equal", item, iterator.fields["sentinel"]))
        if ends is False:
            return Drawn(item)
        if ends:
            iterator.fields["state"] = ENDED
            return None
    return Drawn(apply(interpreter, iterator, Drawn(NONE, sure=False), ()), sure=False)


def _reversed(call: Call) -> Value:
    (sequence,) = call.bind("sequence")
    return reversed_of(call.interpreter, sequence or NONE, call.place)


def _pools(call: Call) -> list[tuple[Value, ...]] | None:
    """Return all items of each argument; they are drawn at once."""
    pools = [items_of(call.interpreter, arg, call.place) for arg in call.args]
    return None if call.opaque or None in pools else [pool for pool in pools if pool is not None]


def _product(call: Call) -> Value:
    pools, repeat = _pools(call), as_int(call.kwargs.get("repeat", Const(1)))
    if pools is None or repeat is None or not 0 <= repeat <= MAX_UNROLLED:
        return given(call, None)
    return given(call, map(Tuple, itertools.product(*pools, repeat=repeat)))


def _selections(
    choose: Callable[[Sequence[Value], int], Iterable[tuple[Value, ...]]],
) -> Callable[[Call], Value]:
    """Return `itertools.combinations` or one of its relatives."""

    def make(call: Call) -> Value:
        iterable, size = call.bind("iterable", r=None)
        pool = None if iterable is None else items_of(call.interpreter, iterable, call.place)
        if pool is None:
            return given(call, None)
        count = len(pool) if size is None or is_none(size) else as_int(size)
        return given(call, None if count is None or count < 0 else map(Tuple, choose(pool, count)))

    return make


STEPS |= {
    "iterator.zip": row,
    "iterator.map": _next_mapped,
    "iterator.starmap": _next_spread,
    "iterator.filter": filter_step(True),
    "iterator.filterfalse": filter_step(False),
    "iterator.takewhile": _next_while,
    "iterator.dropwhile": _next_after,
    "iterator.enumerate": _next_numbered,
    "iterator.chain": _next_in_chain,
    "iterator.islice": _next_in_slice,
    "iterator.accumulate": _next_total,
    "iterator.zip_longest": _next_longest,
    "iterator.count": _next_number,
    "iterator.repeat": lambda interpreter, iterator: Drawn(
        iterator.fields["value"], sure=False, endless=True
    ),
    "iterator.calls": _next_call,
    "iterator.cycle": _next_round,
    "iterator.pairwise": _next_pair,
    "iterator.tee": _next_copied,
}
TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.iter": _iter,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": choosing("filter"),
    "builtins.enumerate": _enumerate,
    "builtins.reversed": _reversed,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "itertools.islice": _islice,
    "itertools.filterfalse": choosing("filterfalse"),
    "itertools.takewhile": choosing("takewhile", "predicate"),
    "itertools.dropwhile": choosing("dropwhile", "predicate"),
    "itertools.starmap": _starmap,
    "itertools.accumulate": _accumulate,
    "itertools.zip_longest": _zip_longest,
    "itertools.count": _count,
    "itertools.cycle": _cycle,
    "itertools.repeat": _repeat,
    "itertools.pairwise": _pairwise,
    "itertools.tee": _tee,
    "itertools.product": _product,
    "itertools.combinations": _selections(itertools.combinations),
    "itertools.permutations": _selections(itertools.permutations),
}
