"""Memory of calls: a function that is called again with equal arguments gives what it gave before.

A run's result is kept if the run changed nothing that was there before it (`effects`). With it are kept the
variables that it read from outside, the uses that it recorded and the functions that it defined. When the
function is called again under an equal context and those variables are as they were, all this is given
again, as if the function had run: what it made is made anew, and its steps count. What a constructor sets of
a new object is a part of what it gives.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from shardlint.inference.domain.values import (
    Function,
    Instance,
    Native,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.path_queries import hold, of_run
from shardlint.inference.machine.trace import Met, Note
from shardlint.inference.machine.variable_reads import note_read, read_of
from shardlint.inference.overlays.flax.linen.module_runs import in_module
from shardlint.inference.store.effect_log import EFFECTS, NOTHING, born
from shardlint.inference.summaries.canonical_keys import Keys, TooLarge, scopes_around
from shardlint.inference.summaries.instantiation import NotRenewable, Renewal
from shardlint.inference.summaries.module_reads import Read, split
from shardlint.inference.summaries.reentry_point import Situation, states
from shardlint.inference.summaries.replay import give_again, pay_for_copies, record, tell_kept
from shardlint.inference.summaries.summary import Given, Kept, kept_read
from shardlint.laws.core import dims
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: What a call is remembered by.
Key = tuple[Any, ...]
#: Results kept for one function and one set of arguments.
_MAX_KEPT = 12
#: Runs of a function without one result given again, after which no more are kept.
_MAX_VAIN = 60


class Memory:
    """The results kept in one analysis."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[Kept]] = {}
        self.keys = Keys()
        #: By code: how many runs were kept or tried to be since the last result that was given again.
        self._vain: dict[Hashable, int] = {}

    def run(
        self, interpreter: Machine, function: Function, bound: dict[str, Value], place: Place, nested: int
    ) -> Value:
        """Run a function with bound parameters, or give again what it gave."""
        code = function.code.key
        makes = _taken(interpreter, bound)
        vain = self._vain.get(code, 0)
        if vain > _MAX_VAIN or interpreter.context.watched is not None or function.code.is_lambda:
            return interpreter.run_function(function, bound, place)
        try:
            key = self._key(interpreter, function, bound)
        except TooLarge:
            self._vain[code] = vain + 1
            return interpreter.run_function(function, bound, place)
        found = self._find(interpreter, key, function, nested, makes)
        if found is not None:
            self._vain[code] = 0
            again = give_again(interpreter, found, self.keys, function, place, nested, makes)
            pay_for_copies(interpreter, found)
            return again
        self._vain[code] = vain + 1
        result, made = self._first(interpreter, function, bound, place, nested, key, makes)
        if made is not None:
            self.keep(key, made)
            pay_for_copies(interpreter, made)
        return result

    def _find(
        self,
        interpreter: Machine,
        key: Key,
        function: Function,
        nested: int,
        makes: Instance | None,
    ) -> Kept | None:
        """A run that was given arguments of this key, which was made just now."""
        mark = self.keys.mark()
        for one in self._kept.get(key, ()):
            if one.makes == (makes is not None):
                if self._meets(interpreter, one, function, nested):
                    return one
                self.keys.rewind(mark)
        return None

    def keep(self, key: Hashable, one: Kept) -> None:
        """Let the result of a run be given again."""
        bucket = self._kept.setdefault(key, [])
        bucket.insert(0, one)
        del bucket[_MAX_KEPT:]

    def forget(self, traces: Set[Hashable]) -> None:
        """Forget the runs that met any of these, and which functions gave nothing again."""
        self._vain.clear()
        for key, kept in list(self._kept.items()):
            left = [one for one in kept if one.met.ran.isdisjoint(traces)]
            if left:
                self._kept[key] = left
            else:
                del self._kept[key]

    def key_of(self, scope: Scope, values: Iterable[Value | None]) -> Hashable:
        """Return what values are to code in a scope, as long as nothing changes; None if that is too much."""
        self.keys.start(scope)
        try:
            return EFFECTS.epoch, self.keys.of_all(values)
        except TooLarge:
            return None

    def _key(self, interpreter: Machine, function: Function, bound: dict[str, Value]) -> Key:
        keys = self.keys
        keys.start(function.scope)
        return (
            function.code.key,
            tuple(bound),
            keys.of_all(bound.values()),
            keys.of_context(interpreter.context),
            keys.of(function.owner),
            _is_body(interpreter, function),
            interpreter.device_count,
            frozenset(interpreter.switches),
            EFFECTS.epoch,
            in_module(interpreter),
        )

    def again(self, interpreter: Machine, situation: Situation, one: Kept) -> Kept | None:
        """Make a run once more, where the interpreter stands as it did for it.

        None if it would be another one, or gives what cannot be kept.
        """
        function, bound, place = situation.function, situation.bound, situation.place
        try:
            if self._key(interpreter, function, bound) != situation.key:
                return None
        except TooLarge:
            return None
        mark = self.keys.mark()
        if not self._reads_alike(one, function):
            return None
        self.keys.rewind(mark)
        makes = cast(Instance, next(iter(bound.values()))) if one.makes else None
        return self._first(interpreter, function, bound, place, situation.nested, situation.key, makes)[1]

    def _meets(self, interpreter: Machine, one: Kept, function: Function, nested: int) -> bool:
        """Whether a run would go as the kept one went."""
        limit = interpreter.limit
        if one.nested is not None and (nested, limit) != (one.nested, one.height):
            return False
        if one.nested is None and nested + one.height > limit:
            return False
        if one.closes and function.scope is not one.function.scope:
            return False
        if not hold(interpreter, one.circumstances):
            return False
        body = interpreter.context.body
        if body != one.body and not one.met.ran.isdisjoint((body, one.body)):
            return False
        if any(f.function is not None and f.function.key in one.met.ran for f in interpreter.frames):
            return False
        if not self._reads_alike(one, function):
            return False
        if self.keys.of_known(interpreter.assumed) != one.given.assumed:
            return False
        return interpreter.budget.affords(one.work)

    def _reads_alike(self, one: Kept, function: Function) -> bool:
        """Whether all that a run read from outside is as it was."""
        keys, around = self.keys, scopes_around(function.scope)
        if len(around) != one.depth:
            return False
        try:
            if not one.fixed.holds(keys):
                return False
            for anchor, name, value, key in one.given.reads:
                if type(anchor) is int or isinstance(anchor, Scope):
                    now = read_of(around[anchor] if isinstance(anchor, int) else anchor, name)
                    if now is value and (now is None or keys.is_constant(now)):
                        continue
                    if now is None or value is None or keys.of(now) != key:
                        return False
                elif keys.of(anchor) != key:
                    return False
        except TooLarge:
            return False
        return True

    def _first(
        self,
        interpreter: Machine,
        function: Function,
        bound: dict[str, Value],
        place: Place,
        nested: int,
        key: Key,
        makes: Instance | None,
    ) -> tuple[Value, Kept | None]:
        """Run a function whose key was just made: what it gives.

        And the run, if what it gives can be given again: if it changes nothing else, and was not cut short.
        What a constructor sets of the object that it makes is a part of what it gives.
        """
        keys, i = self.keys, interpreter
        objects, sizes, tests = list(keys.objects), dict(keys.symbols), dict(keys.tests)
        start, symbols = born(), dims.latest()
        if makes is not None:
            # This run makes it, and nobody else has it.
            makes.born = born()
        outer = (i.reads, i.start, i.mute_base, i.variants, i.picked, i.deepest, i.cut)
        oldest, asked = EFFECTS.oldest, EFFECTS.asked
        context, count, turned = i.context, i.device_count, len(i.switches)
        here = None
        if i.settings.editing:
            here = Situation(
                function, bound, place, nested, key, states(objects), i.context, i.path, i.assumed,
                tuple(i.frames), i.muted, frozenset(i.switches), EFFECTS.epoch,
            )  # fmt: skip
        outside = i.budget.open()
        around_it = Met(ran={function.code.key}, own={function.code.key}).swap(i)
        i.reads, i.start, i.mute_base, i.variants, i.picked = {}, start, i.muted, (0, 1), frozenset()
        i.deepest, i.cut = nested, False
        EFFECTS.oldest, EFFECTS.asked = NOTHING, set()
        finished = False
        try:
            result = i.run_function(function, bound, place)
            finished = True
        finally:
            met, reads, cut, deepest = around_it.swap(i), i.reads, i.cut, i.deepest
            met.tell(i)
            work, short = i.budget.close(outside)
            i.reads, i.start, i.mute_base, i.variants, i.picked = outer[:5]
            i.deepest, i.cut = max(outer[5], deepest), outer[6] or cut
            alone, circumstances = EFFECTS.oldest > start, of_run(i)
            EFFECTS.oldest, EFFECTS.asked = min(oldest, EFFECTS.oldest), asked | EFFECTS.asked
            if not i.is_silent:
                record(i, met.uses, met.notes)
            if i.reads is not None:
                for anchor, name in reads or ():
                    note_read(i, anchor, name)
            if not finished:
                tell_kept(i, met, None)
                i.budget.settle(work, kept=False)
        one = None
        pure = not short and alone and count == i.device_count and turned == len(i.switches)
        if pure and self.keys.of_context(i.context) == self.keys.of_context(context):
            with suppress(NotRenewable, TooLarge):
                renewal = Renewal(start, symbols, i.path, i.path)
                template = renewal.of(result if makes is None else Tuple((result, makes)))
                renewal.take_over(i.tests)
                around = scopes_around(function.scope)
                keys.resume(function.scope, objects, sizes, tests)
                depths = {id(scope): depth for depth, scope in enumerate(around)}
                fixed, others = split(keys, reads or ())
                one = Kept(
                    function=function,
                    fixed=fixed,
                    given=self._given(i, depths, others),
                    depth=len(around),
                    closes=_close([*renewal.functions, *_unused(met.notes, met.ran)], around),
                    result=template,
                    makes=makes is not None,
                    start=start,
                    symbols=symbols,
                    path=i.path,
                    met=met,
                    work=work,
                    height=i.limit if cut else deepest - nested,
                    nested=nested if cut else None,
                    circumstances=circumstances,
                    place=place,
                    body=i.context.body,
                    situation=here,
                )
        tell_kept(i, met, one)
        i.budget.settle(work, kept=one is not None)
        return result, one

    def _given(self, interpreter: Machine, depths: dict[int, int], reads: Iterable[Read]) -> Given:
        """What a run was given, of which the arguments were just met, and that it read this."""
        keys = self.keys
        return Given(
            reads=[kept_read(keys, depths, anchor, name) for anchor, name in reads],
            objects=list(keys.objects),
            sizes=tuple(keys.symbols),
            tests=tuple(keys.tests),
            assumed=keys.of_known(interpreter.assumed),
        )


def _taken(interpreter: Machine, bound: dict[str, Value]) -> Instance | None:
    """The object that is being made, if this is the call that is to set what it holds."""
    making, interpreter.making = interpreter.making, None
    first = next(iter(bound.values()), None)
    return first if isinstance(first, Instance) and first is making else None


def _is_body(interpreter: Machine, function: Function) -> bool | None:
    """Whether a function is the body around what runs, as far as an editor asks; None outside of bodies."""
    body = interpreter.context.body
    return None if body is None else bool(body == function.code.key)


def _unused(notes: list[Note], ran: set[Hashable]) -> Iterator[Function | Native]:
    """What was defined or wrapped, but for functions that ran: those are no entries of their own."""
    for made, _ in notes:
        if isinstance(made, Native) or made.code.key not in ran:
            yield made


def _close(made: Iterable[Function | Native], around: list[Scope]) -> bool:
    """Whether functions, or what wrappers wrap, may see variables of these scopes."""
    for one in made if around else ():
        inner: Value | None = one
        while isinstance(inner, Native):
            inner = inner.wraps
        if not isinstance(inner, Function) or not set(scopes_around(inner.scope)).isdisjoint(around):
            return True
    return False
