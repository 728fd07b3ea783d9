"""The call cache: a function that is called again with equal arguments returns its cached result.

A call is cached if it wrote to nothing that existed before it (`effect_log`). Its summary holds the result,
the variables read from outside, the uses recorded and the functions defined. It is reused when the function
is called in an equal context and those variables have the same values: the objects it created are
instantiated afresh, and its steps are charged. The attributes that a constructor sets on the new object
belong to its result.
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
from shardlint.inference.evaluation.path_queries import have_same_answers, of_run
from shardlint.inference.machine.trace import Note, Trace
from shardlint.inference.machine.variable_reads import note_read, read_of
from shardlint.inference.overlays.flax.linen.module_runs import as_in_module, in_module
from shardlint.inference.store.effect_log import EFFECTS, NOTHING, born, is_remade_since
from shardlint.inference.summaries.canonical_keys import Keys, TooLarge, enclosing_scopes
from shardlint.inference.summaries.instantiation import Instantiation, NotInstantiable
from shardlint.inference.summaries.module_reads import Read, split
from shardlint.inference.summaries.reentry_point import ReentryPoint, states
from shardlint.inference.summaries.replay import charge_for_copies, note_summary, record, replay
from shardlint.inference.summaries.summary import CallInputs, CallSummary, summarised_read
from shardlint.laws.core import dims
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The key of a call.
Key = tuple[Any, ...]
#: Summaries cached for one function and one set of arguments.
_MAX_SUMMARIES = 12
#: Calls of a function without a cache hit after which it is no longer cached.
_MAX_VAIN = 60


class CallCache:
    """The call summaries of one analysis."""

    def __init__(self) -> None:
        self._summaries: dict[Hashable, list[CallSummary]] = {}
        self.keys = Keys()
        #: By code: calls that missed the cache since its last hit.
        self._vain: dict[Hashable, int] = {}

    def run(
        self, interpreter: Machine, function: Function, bound: dict[str, Value], place: Place, nested: int
    ) -> Value:
        """Return the result of a call with bound parameters: from the cache, or by running the function."""
        code = function.code.key
        instance = _taken(interpreter, bound)
        vain = self._vain.get(code, 0)
        if vain > _MAX_VAIN or interpreter.context.watched is not None or function.code.is_lambda:
            return interpreter.run_function(function, bound, place)
        try:
            key = self._key(interpreter, function, bound)
        except TooLarge:
            self._vain[code] = vain + 1
            return interpreter.run_function(function, bound, place)
        found = self._find(interpreter, key, function, nested, instance)
        if found is not None:
            self._vain[code] = 0
            replayed = replay(interpreter, found, self.keys, function, place, nested, instance)
            charge_for_copies(interpreter, found)
            return replayed
        self._vain[code] = vain + 1
        result, made = self._run_and_summarise(interpreter, function, bound, place, nested, key, instance)
        if made is not None:
            self.add(key, made)
            charge_for_copies(interpreter, made)
        return result

    def _find(
        self,
        interpreter: Machine,
        key: Key,
        function: Function,
        nested: int,
        makes: Instance | None,
    ) -> CallSummary | None:
        """Return a valid summary for a key that was computed just now, or None."""
        mark = self.keys.mark()
        for one in self._summaries.get(key, ()):
            if one.makes == (makes is not None):
                if self._is_valid(interpreter, one, function, nested):
                    return one
                self.keys.rewind(mark)
        return None

    def add(self, key: Hashable, one: CallSummary) -> None:
        """Add a summary to the cache."""
        bucket = self._summaries.setdefault(key, [])
        bucket.insert(0, one)
        del bucket[_MAX_SUMMARIES:]

    def forget(self, codes: Set[Hashable]) -> None:
        """Drop the summaries of calls that ran any of these, and the counts of misses."""
        self._vain.clear()
        for key, summaries in list(self._summaries.items()):
            left = [one for one in summaries if one.trace.ran.isdisjoint(codes)]
            if left:
                self._summaries[key] = left
            else:
                del self._summaries[key]

    def key_of(self, scope: Scope, values: Iterable[Value | None]) -> Hashable:
        """Return the key of values as seen by code in a scope, valid until something changes; None if too
        large."""
        self.keys.start(scope)
        try:
            return EFFECTS.epoch, self.keys.of_all(values)
        except TooLarge:
            return None

    def objects_in(self, scope: Scope, values: Iterable[Any]) -> frozenset[int] | None:
        """Return the numbers of all mutable objects in values, as seen from a scope; None if a value is too
        large."""
        found: set[int] = set()
        try:
            for value in values:
                self.keys.start(scope)
                self.keys.of_all((value,))
                found.update(one.born for one in self.keys.objects)
        except TooLarge:
            return None
        return frozenset(found)

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
            in_module(interpreter),
        )

    def run_again(
        self, interpreter: Machine, situation: ReentryPoint, one: CallSummary
    ) -> CallSummary | None:
        """Run a cached call again, with the interpreter restored to its re-entry point.

        Return None if that is another call now, or if its result cannot be cached.
        """
        with as_in_module(interpreter, situation.in_module):
            if not self._is_same_call(interpreter, situation, one):
                return None
            function, bound, place = situation.function, situation.bound, situation.place
            instance = cast(Instance, next(iter(bound.values()))) if one.makes else None
            return self._run_and_summarise(
                interpreter, function, bound, place, situation.nested, situation.key, instance
            )[1]

    def _is_same_call(self, interpreter: Machine, situation: ReentryPoint, one: CallSummary) -> bool:
        """Return whether a call has the same key, which is the last one computed, and reads the same."""
        function = situation.function
        try:
            if self._key(interpreter, function, situation.bound) != situation.key:
                return False
        except TooLarge:
            return False
        mark = self.keys.mark()
        alike = self._reads_alike(one, function)
        self.keys.rewind(mark)
        return alike

    def _is_valid(self, interpreter: Machine, one: CallSummary, function: Function, nested: int) -> bool:
        """Return whether a summary is valid for this call."""
        limit = interpreter.limit
        if one.nested is not None and (nested, limit) != (one.nested, one.height):
            return False
        if one.nested is None and nested + one.height > limit:
            return False
        if one.closes and function.scope is not one.function.scope:
            return False
        if is_remade_since(one.end):
            return False
        if not have_same_answers(interpreter, one.circumstances):
            return False
        body = interpreter.context.body
        if body != one.body and not one.trace.ran.isdisjoint((body, one.body)):
            return False
        if any(f.function is not None and f.function.key in one.trace.ran for f in interpreter.frames):
            return False
        if not self._reads_alike(one, function):
            return False
        if self.keys.of_known(interpreter.assumed) != one.inputs.assumed:
            return False
        return interpreter.budget.affords(one.work)

    def _reads_alike(self, one: CallSummary, function: Function) -> bool:
        """Return whether everything that a call read from outside has equal values now."""
        keys, around = self.keys, enclosing_scopes(function.scope)
        if len(around) != one.depth:
            return False
        try:
            if not one.fixed.holds(keys):
                return False
            for anchor, name, value, key in one.inputs.reads:
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

    def _run_and_summarise(
        self,
        interpreter: Machine,
        function: Function,
        bound: dict[str, Value],
        place: Place,
        nested: int,
        key: Key,
        makes: Instance | None,
    ) -> tuple[Value, CallSummary | None]:
        """Run a function whose key was computed just now; return its result and its summary.

        The summary is None if the call wrote to older objects or was cut short. The attributes that a
        constructor sets on the object it creates are part of the result.
        """
        keys, i = self.keys, interpreter
        objects, sizes, tests = list(keys.objects), dict(keys.symbols), dict(keys.tests)
        start, symbols = born(), dims.latest()
        if makes is not None:
            # This call creates it, and no other code has a reference to it.
            makes.born = born()
        outer = (i.reads, i.start, i.mute_base, i.variants, i.picked, i.deepest, i.cut)
        oldest, asked = EFFECTS.oldest, EFFECTS.asked
        context, count, turned = i.context, i.device_count, len(i.switches)
        here = None
        if i.settings.editing:
            here = ReentryPoint(
                function, bound, place, nested, key, states(objects), i.context, i.path, i.assumed,
                tuple(i.frames), i.muted, frozenset(i.switches), frozenset(i.viewed), in_module(i),
            )  # fmt: skip
        outside = i.budget.open()
        around_it = Trace(ran={function.code.key}, ran_uncached={function.code.key}).swap(i)
        i.reads, i.start, i.mute_base, i.variants, i.picked = {}, start, i.muted, (0, 1), frozenset()
        i.deepest, i.cut = nested, False
        EFFECTS.oldest, EFFECTS.asked = NOTHING, set()
        finished = False
        try:
            result = i.run_function(function, bound, place)
            i.code.settle()
            finished = True
        finally:
            trace, reads, cut, deepest = around_it.swap(i), i.reads, i.cut, i.deepest
            trace.add_to(i)
            work, short = i.budget.close(outside)
            i.reads, i.start, i.mute_base, i.variants, i.picked = outer[:5]
            i.deepest, i.cut = max(outer[5], deepest), outer[6] or cut
            alone, circumstances = EFFECTS.oldest > start, of_run(i)
            EFFECTS.oldest, EFFECTS.asked = min(oldest, EFFECTS.oldest), asked | EFFECTS.asked
            if not i.is_silent:
                record(i, trace.uses, trace.notes)
            if i.reads is not None:
                for anchor, name in reads or ():
                    note_read(i, anchor, name)
            if not finished:
                note_summary(i, trace, None)
                i.budget.settle(work, cached=False)
        one = None
        pure = not short and alone and count == i.device_count and turned == len(i.switches)
        if pure and self.keys.of_context(i.context) == self.keys.of_context(context):
            with suppress(NotInstantiable, TooLarge):
                renewal = Instantiation(start, symbols, i.path, i.path)
                template = renewal.of(result if makes is None else Tuple((result, makes)))
                renewal.take_over(i.tests)
                around = enclosing_scopes(function.scope)
                keys.resume(function.scope, objects, sizes, tests)
                depths = {id(scope): depth for depth, scope in enumerate(around)}
                fixed, others = split(keys, reads or ())
                one = CallSummary(
                    function=function,
                    fixed=fixed,
                    inputs=self._inputs(i, depths, others),
                    depth=len(around),
                    closes=_close([*renewal.functions, *_unused(trace.notes, trace.ran)], around),
                    result=template,
                    makes=makes is not None,
                    start=start,
                    end=born(),
                    symbols=symbols,
                    path=i.path,
                    trace=trace,
                    work=work,
                    height=i.limit if cut else deepest - nested,
                    nested=nested if cut else None,
                    circumstances=circumstances,
                    place=place,
                    body=i.context.body,
                    situation=here,
                    entry=context.entry,
                )
        note_summary(i, trace, one)
        i.budget.settle(work, cached=one is not None)
        return result, one

    def _inputs(self, interpreter: Machine, depths: dict[int, int], reads: Iterable[Read]) -> CallInputs:
        """Return the inputs of a call: its arguments, for which keys were just computed, and these reads."""
        keys = self.keys
        return CallInputs(
            reads=[summarised_read(keys, depths, anchor, name) for anchor, name in reads],
            objects=list(keys.objects),
            sizes=tuple(keys.symbols),
            tests=tuple(keys.tests),
            assumed=keys.of_known(interpreter.assumed),
        )


def _taken(interpreter: Machine, bound: dict[str, Value]) -> Instance | None:
    """Return the object that is being created, if this call is its constructor."""
    making, interpreter.making = interpreter.making, None
    first = next(iter(bound.values()), None)
    return first if isinstance(first, Instance) and first is making else None


def _is_body(interpreter: Machine, function: Function) -> bool | None:
    """Return whether a function is the body being evaluated for an editor; None outside of bodies."""
    body = interpreter.context.body
    return None if body is None else bool(body == function.code.key)


def _unused(notes: list[Note], ran: set[Hashable]) -> Iterator[Function | Native]:
    """Return the functions and wrappers created, except functions that ran: those are not entry points."""
    for made, _ in notes:
        if isinstance(made, Native) or made.code.key not in ran:
            yield made


def _close(made: Iterable[Function | Native], around: list[Scope]) -> bool:
    """Return whether functions, or the functions that wrappers wrap, can see variables of these scopes."""
    for one in made if around else ():
        inner: Value | None = one
        while isinstance(inner, Native):
            inner = inner.wraps
        if not isinstance(inner, Function) or not set(enclosing_scopes(inner.scope)).isdisjoint(around):
            return True
    return False
