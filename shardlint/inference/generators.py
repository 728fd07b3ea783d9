"""Generators: calling one runs nothing; its body runs when somebody asks for an item.

The evaluator runs a body once, all of it, where the first item is asked for. What it records on the way to
each item is held back until that item is taken, so what stands behind items that nobody takes is not met.
Where the number of items is not known, all is met at once, and an item is one of those that were seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.budget import Exhausted
from shardlint.inference.classes import class_attribute
from shardlint.inference.context import Frame
from shardlint.inference.effects import changed
from shardlint.inference.iteration import MAX_UNROLLED, element, iterate
from shardlint.inference.joins import join
from shardlint.inference.once import Once
from shardlint.inference.values import (
    Array,
    Const,
    DictValue,
    Function,
    Generated,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    Value,
)
from shardlint.laws.values import AxisType, Unknown
from shardlint.records import dataclass
from shardlint.uses import Use

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter
    from shardlint.spans import Place

KIND = "builtins.generator"


@dataclass(frozen=True, slots=True)
class Items:
    """What an iterable gives.

    ``known`` are all its items, or None: then each is like ``any_one``, and they do not end where it is
    ``endless``. ``held`` is what is met on the way to each item, and after the last.
    """

    known: Sequence[Value] | None
    any_one: Value = Unknown("no item")
    endless: bool = False
    held: Sequence[list[Use]] = ()

    @property
    def one(self) -> Value:
        """What any item is like."""
        return join(self.known) if self.known else self.any_one

    def meet(self, interpreter: Interpreter, number: int | None = None) -> None:
        """The item of this number is asked for; without one, all that are left, or some of endlessly many."""
        if interpreter.is_silent:
            return
        first, last = (number, number + 1) if number is not None else (0, 1 if self.endless else None)
        for uses in self.held[first:last]:
            interpreter.uses.extend(uses)
            uses.clear()


def generator(
    interpreter: Interpreter, function: Function, bound: dict[str, Value], place: Place
) -> LibraryObject:
    """What a call of a generator function gives."""
    path = interpreter.path
    arguments: dict[Hashable, Value] = dict(bound.items())
    fields: dict[str, Value] = {
        "function": function,
        "arguments": DictValue(arguments, path=path),
        "left": ListValue(None, path=path),
    }
    return LibraryObject(KIND, fields, place)


def generator_of(interpreter: Interpreter, items: Items, place: Place) -> LibraryObject:
    """A generator of items that are known as far as they will be."""
    left = ListValue(None if items.known is None else list(items.known), path=interpreter.path)
    interpreter.generated[left.born] = items
    return LibraryObject(KIND, {"left": left, "one": items.one}, place)


def is_generator(value: Value) -> bool:
    """Whether the items of a value are made when they are asked for."""
    return isinstance(value, LibraryObject) and value.kind == KIND


def is_lazy(value: Value) -> bool:
    """Whether code of the program gives the items of a value."""
    return is_generator(value) or (
        isinstance(value, Instance) and isinstance(class_attribute(value.cls, "__iter__"), Function)
    )


def opened(interpreter: Interpreter, value: Value, place: Place) -> Items:
    """The items of any value that a loop goes over."""
    if isinstance(value, Instance) and is_lazy(value):
        value = interpreter.call(interpreter.attribute(value, "__iter__", place), [], {}, place)
        if isinstance(value, Instance):
            return _of_iterator(interpreter, value, place)
    if isinstance(value, LibraryObject) and is_generator(value):
        return _all_of(interpreter, value)
    known = _iterated(interpreter, value, place)
    if known is None:
        one = Unknown("an item of something unknown") if isinstance(value, Integer) else element(value)
        return Items(None, one)
    return Items(known)


def items_of(interpreter: Interpreter, value: Value, place: Place) -> tuple[Value, ...] | None:
    """All items of a value, which are taken at once; None where they are not known."""
    if not is_lazy(value):
        return _iterated(interpreter, value, place)
    items = opened(interpreter, value, place)
    items.meet(interpreter)
    return None if items.known is None else tuple(items.known)


def _iterated(interpreter: Interpreter, value: Value, place: Place) -> tuple[Value, ...] | None:
    """The items of a value that code of the program does not give.

    In jit a row of an array is what `x[0]` is; outside, where its type says that it is not split, too.
    """
    known = iterate(value)
    if not known or not isinstance(value, Array) or value.typed is None or value.numpy:
        return known
    mesh, entries = value.typed.mesh, value.typed.spec.entries
    whole = (mesh is None or set(mesh.types) == {AxisType.EXPLICIT}) and not any(entries)
    if interpreter.context.in_jit is not True and not whole:
        return known
    row = interpreter.item(value, Const(0), place)
    return (row,) * len(known) if isinstance(row, Array) else known


def some_of(interpreter: Interpreter, value: LibraryObject, count: int) -> Items | None:
    """So many items of a generator, which are taken from it; None where they are not known."""
    items, left = _begun(interpreter, value)
    if items.known is None or left.items is None or not _certain(interpreter, left):
        return None
    taken = len(items.known) - len(left.items)
    known = left.items[:count]
    held = items.held[taken : taken + count]
    changed(value.born)
    left.items = left.items[count:]
    return Items(known, held=held)


def next_of(interpreter: Interpreter, value: LibraryObject) -> Value | None:
    """The next item of a generator; None where none is left."""
    items, left = _begun(interpreter, value)
    changed(value.born)
    if items.known is None or left.items is None or not _certain(interpreter, left):
        # Which one it is, is not known.
        items.meet(interpreter)
        left.items = None
        if items.endless and not interpreter.is_silent:
            interpreter.generated[left.born] = replace(items, held=items.held[1:])
        return items.one
    items.meet(interpreter, len(items.known) - len(left.items))
    return left.items.pop(0) if left.items else None


def _begun(interpreter: Interpreter, value: LibraryObject) -> tuple[Items, ListValue]:
    """All items of a generator, and those that are left; its body runs now if it did not yet."""
    left = value.fields["left"]
    assert isinstance(left, ListValue)
    items = interpreter.generated.get(left.born)
    if items is None and "one" not in value.fields:
        items = run(interpreter, value)
        interpreter.generated[left.born], value.fields["one"] = items, items.one
        left.items = None if items.known is None else list(items.known)
        changed(value.born)
    return items or Items(None, Unknown("what is left in a generator")), left


def _certain(interpreter: Interpreter, left: ListValue) -> bool:
    """Whether what is taken is surely taken: bodies of generators that run are no branches here."""
    path, now = (
        tuple(fork for fork in forks if fork not in interpreter.bodies)
        for forks in (left.path, interpreter.path)
    )
    return path[: len(now)] == now


def give(interpreter: Interpreter, frame: Frame, value: Value) -> None:
    """Note what a running generator gives; a pass that only looks for what a loop changes gives nothing."""
    path, muted = frame.inside
    if interpreter.muted == muted:
        frame.yields.append((value, interpreter.context, len(interpreter.uses)))
        frame.unsure = frame.unsure or interpreter.path != path


def run(interpreter: Interpreter, value: LibraryObject) -> Items:
    """Run the body of a generator."""
    outer, interpreter.uses = interpreter.uses, Once()
    try:
        made = run_body(interpreter, value)
    finally:
        found, interpreter.uses = interpreter.uses, outer
    if not isinstance(made, Generated) or not made.yields:
        interpreter.uses.extend(found)
        return Items(() if isinstance(made, Generated) and made.sure else None)
    items = [value for value, _ in made.yields]
    bounds = [0, *made.met, len(found)]
    held = [found[a:b] for a, b in itertools.pairwise(bounds)]
    known = made.sure and len(items) <= MAX_UNROLLED
    return Items(items, held=held) if known else Items(None, join(items), made.endless, held)


def run_body(interpreter: Interpreter, value: Value) -> Value:
    """Run the body of a generator, and meet all that is in it: a `Generated`, if it could be followed."""
    from shardlint.inference.functions import run_function

    fields = value.fields if isinstance(value, LibraryObject) and is_generator(value) else {}
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
            return run_function(interpreter, function, bound)
    except Exhausted:
        if not interpreter.budget.shares:
            raise
        return Unknown("a generator that takes too many steps")


def _all_of(interpreter: Interpreter, value: LibraryObject) -> Items:
    """All that is left in a generator: nothing is, afterwards."""
    items, left = _begun(interpreter, value)
    if items.known is not None and left.items is None:
        items = Items(None, Unknown("what is left in a generator"))
    elif items.known is not None and not _certain(interpreter, left):
        items.meet(interpreter)
        items = Items(None, items.one)
    elif items.known is not None and left.items is not None:
        taken = len(items.known) - len(left.items)
        items = replace(items, known=tuple(left.items), held=items.held[taken:])
    changed(value.born)
    left.items = None
    interpreter.generated[left.born] = items if items.endless else Items(None)
    return items


def _of_iterator(interpreter: Interpreter, value: Instance, place: Place) -> Items:
    """An object with `__next__`: how often it gives something is not known."""
    if not isinstance(class_attribute(value.cls, "__next__"), Function):
        return Items(None, Unknown("an item of something unknown"))
    with interpreter.forked(repeats=True):
        one = interpreter.call(interpreter.attribute(value, "__next__", place), [], {}, place)
    return Items(None, one)
