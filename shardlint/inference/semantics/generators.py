"""Generators: calling one runs nothing; its body runs when somebody asks for an item.

The evaluator runs a body once, all of it, where the first item is asked for. What it records on the way to
each item is held back until that item is taken, so what stands behind items that nobody takes is not met.
Where the number of items is not known, all is met at once, and an item is one of those that were seen. If
what the body read is another when a later item is asked for, that item is not known.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import (
    Const,
    DictValue,
    Function,
    Generated,
    LibraryObject,
    Value,
    as_int,
)
from shardlint.inference.evaluation.budget import Exhausted
from shardlint.inference.evaluation.context import Frame, Scope
from shardlint.inference.evaluation.iterators import STEPS, Drawn, made
from shardlint.inference.machine.variable_reads import note_read, read_of
from shardlint.inference.store.effect_log import born, changed
from shardlint.inference.store.identity_set import Once
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.model.uses import Use
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

KIND = "iterator.generator"
_UNKNOWN = Unknown("what is left in a generator")


@dataclass(frozen=True, slots=True)
class Body:
    """What the body of a generator gives.

    ``known`` are all its items, or None: then each is like ``any_one``, and they do not end where it is
    ``endless``. ``held`` is what is met on the way to each item, and after the last. ``reads`` are variables
    that it read, and ``key`` what they and its arguments were then; None if that is not told.
    """

    known: Sequence[Value] | None
    any_one: Value = Unknown("no item")
    endless: bool = False
    held: Sequence[list[Use]] = ()
    reads: tuple[tuple[Any, str], ...] = ()
    key: Hashable = None

    @property
    def one(self) -> Value:
        """What any item is like."""
        return join(self.known) if self.known else self.any_one

    def meet(self, interpreter: Machine, number: int | None = None) -> None:
        """The item of this number is asked for; without one, all that are left, or some of endlessly many."""
        if interpreter.is_silent:
            return
        first, last = (number, number + 1) if number is not None else (0, 1 if self.endless else None)
        for uses in self.held[first:last]:
            interpreter.uses.extend(uses)
            uses.clear()


def generator(
    interpreter: Machine, function: Function, bound: dict[str, Value], place: Place
) -> LibraryObject:
    """What a call of a generator function gives."""
    arguments = DictValue(dict(bound.items()), path=interpreter.path)
    return made(interpreter, "generator", place, function=function, arguments=arguments, state=Const(0))


def _next(interpreter: Machine, iterator: LibraryObject) -> Drawn | None:
    """Take the next item of a generator; its body runs now if it did not yet."""
    changed(iterator.born)
    begun, at = "begun" in iterator.fields, as_int(iterator.fields["state"])
    body = interpreter.generated.get(iterator.born) if begun else run(interpreter, iterator)
    if body is None:
        # It began in a run whose result is given again.
        return Drawn(_UNKNOWN, sure=False)
    if begun and (body.key is None or body.key != _key(interpreter, iterator, body.reads)):
        body.meet(interpreter)
        return Drawn(_UNKNOWN, sure=False)
    iterator.fields["begun"] = Const(True)
    interpreter.generated[iterator.born] = body
    if body.known is None or at is None:
        body.meet(interpreter)
        if body.endless and not interpreter.is_silent:
            interpreter.generated[iterator.born] = replace(body, held=body.held[1:])
        return Drawn(body.one, sure=False, endless=body.endless)
    body.meet(interpreter, at)
    if at >= len(body.known):
        return None
    iterator.fields["state"] = Const(at + 1)
    return Drawn(body.known[at])


def _key(interpreter: Machine, iterator: LibraryObject, reads: Iterable[tuple[Any, str]]) -> Hashable:
    """What a generator's arguments and the variables that its body read are now; None if that is too much."""
    function, arguments = iterator.fields["function"], iterator.fields["arguments"]
    assert isinstance(function, Function) and isinstance(arguments, DictValue)
    read = (read_of(anchor, name) if isinstance(anchor, Scope) else anchor for anchor, name in reads)
    return interpreter.memory.key_of(function.scope, [*(arguments.items or {}).values(), *read])


def give(interpreter: Machine, frame: Frame, value: Value) -> None:
    """Note what a running generator gives; a pass that only looks for what a loop changes gives nothing."""
    path, muted = frame.inside
    if interpreter.muted == muted:
        frame.yields.append((value, interpreter.context, len(interpreter.uses)))
        frame.unsure = frame.unsure or interpreter.path != path


def run(interpreter: Machine, iterator: LibraryObject) -> Body:
    """Run the body of a generator."""
    outer, interpreter.uses = interpreter.uses, Once()
    around, interpreter.reads, interpreter.start = (interpreter.reads, interpreter.start), {}, born()
    try:
        made_by = run_body(interpreter, iterator)
    finally:
        found, interpreter.uses = interpreter.uses, outer
        reads = tuple(interpreter.reads or ())
        interpreter.reads, interpreter.start = around
        if interpreter.reads is not None:
            for anchor, name in reads:
                note_read(interpreter, anchor, name)
    key = _key(interpreter, iterator, reads)
    if not isinstance(made_by, Generated) or not made_by.yields:
        interpreter.uses.extend(found)
        return Body(() if isinstance(made_by, Generated) and made_by.sure else None, reads=reads, key=key)
    items = [value for value, _ in made_by.yields]
    bounds = [0, *made_by.met, len(found)]
    held = [found[a:b] for a, b in itertools.pairwise(bounds)]
    if made_by.sure and len(items) <= MAX_UNROLLED:
        return Body(items, held=held, reads=reads, key=key)
    return Body(None, join(items), made_by.endless, held, reads, key)


def run_body(interpreter: Machine, value: Value) -> Value:
    """Run the body of a generator, and meet all that is in it: a `Generated`, if it could be followed."""
    fields = value.fields if isinstance(value, LibraryObject) and value.kind == KIND else {}
    function, arguments = fields.get("function"), fields.get("arguments")
    if not isinstance(function, Function) or not isinstance(arguments, DictValue) or arguments.items is None:
        return Unknown("no generator")
    nested = sum(not frame.scope.is_comprehension for frame in interpreter.frames)
    interpreter.reached.add(function.code.key)
    if nested > interpreter.limit or interpreter.running(function.code) >= 2:
        interpreter.cut = True
        return Unknown("a generator that is not followed")
    interpreter.deepest = max(interpreter.deepest, nested)
    bound = {str(name): argument for name, argument in arguments.items.items()}
    try:
        with interpreter.budget.shared():
            return interpreter.run_function(function, bound)
    except Exhausted:
        if not interpreter.budget.shares:
            raise
        return Unknown("a generator that takes too many steps")


STEPS[KIND] = lambda interpreter, iterator: _next(cast("Machine", interpreter), iterator)
