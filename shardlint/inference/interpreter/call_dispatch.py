"""Calls of every kind of value."""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from shardlint.inference.domain.builtin_bases import holds_items
from shardlint.inference.domain.classes import library_bases, operator_method
from shardlint.inference.domain.havoc import CODE, HOLDING, NAMESPACE, forget, forget_contents, lose_code
from shardlint.inference.domain.lattice import combined, options, tagged
from shardlint.inference.domain.unknown_choices import undecided
from shardlint.inference.domain.values import (
    MAX_ALTERNATIVES,
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    ModuleValue,
    Native,
    Partial,
    Reader,
    SetValue,
    Tag,
    Tuple,
    Value,
    as_str,
    unsized,
)
from shardlint.inference.evaluation.budget import Exhausted
from shardlint.inference.evaluation.call import Call, CannotBind, Keywords
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.disjunction import each
from shardlint.inference.evaluation.iterators import is_iterator, items_of, spend
from shardlint.inference.evaluation.mutation import OF_ARRAYS, set_attribute
from shardlint.inference.evaluation.name_mangling import mangled
from shardlint.inference.interpreter.functions import bind_parameters
from shardlint.inference.machine.code_reads import look_at
from shardlint.inference.machine.recursion import goes_down
from shardlint.inference.machine.variable_reads import ENVIRONMENT, note_read
from shardlint.inference.overlays.asked_functions import answered, or_answered
from shardlint.inference.overlays.class_hooks import method_context
from shardlint.inference.overlays.command_lines.defaults import asks_environment, default_transfer
from shardlint.inference.overlays.jax.explicit.results import finish_call
from shardlint.inference.overlays.jax.host_views import note_result, note_unfollowed, note_views
from shardlint.inference.overlays.jax.shard_map import equal_draws
from shardlint.inference.overlays.jax.transforms.given_away import uses_gone
from shardlint.inference.overlays.object_protocol import as_argument, object_call
from shardlint.inference.overlays.python.builtins.iterators import SHOWING
from shardlint.inference.overlays.python.stdlib.foreign_objects import Foreign, returned
from shardlint.inference.overlays.python.stdlib.mocks import replace_named
from shardlint.inference.overlays.registry import transfer
from shardlint.inference.overlays.tracers import refuses_function
from shardlint.inference.semantics.generators import generator
from shardlint.inference.semantics.instantiation import instantiate
from shardlint.inference.semantics.special_methods import READING_LIBRARIES
from shardlint.inference.semantics.variables import write
from shardlint.inference.store.effect_log import changed, now
from shardlint.inference.summaries.receiver_summary import sets_in
from shardlint.inference.syntax.names_in_text import names_in
from shardlint.inference.syntax.units import BrokenText
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions.equivalents import RENAMED_ARGUMENTS
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.context import Scope
    from shardlint.inference.machine.machine import Machine

T = TypeVar("T")
#: Functions that consume iterators as Python documents, if an overlay models them.
_TAKING = (
    "absl.testing.parameterized.", "builtins.", "collections.", "copy.", "functools.", "itertools.", "math.",
    "operator.", "typing.", "flax.nnx.List", *SHOWING,
)  # fmt: skip
#: Library functions that consume all items of any iterable.
_TAKING_ALL = frozenset({
    "jax.tree.unflatten", "jax.tree_util.tree_unflatten", "jax.tree.structure.unflatten",
})  # fmt: skip
#: Functions that create objects whose methods do not mutate their arguments.
_READERS = re.compile(r"logging\.getLogger|absl\.logging\.get_absl_logger|orbax\.(?:\w+\.)*[A-Z]\w*")
#: Values with methods that consume iterators as Python documents.
_OF_PYTHON = (Tuple, ListValue, DictValue, SetValue, Const)
#: Values through which others can be reached; the rest are neither callable nor mutable.
_REACHING = HOLDING | CODE


def call_value(
    interpreter: Machine,
    function: Value,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    place: Place,
    opaque: bool = False,
    places: dict[int | str, Place] | None = None,
) -> Value:
    """Call any value. The result is Unknown if the call cannot be followed."""
    places = places or {}
    if isinstance(function, External):
        made = _call_external(interpreter, function, args, kwargs, place, opaque, places)
        return returned(function.name, made)
    if isinstance(function, Function):
        return _call_function(interpreter, function, args, kwargs, opaque, place)
    if isinstance(function, Alternatives):
        possible = [row for row in tagged(function) if combined(interpreter.assumed, row[1]) is not None]

        def call_one(option: Value) -> Value:
            return call_value(interpreter, option, args, kwargs, place, opaque, places)

        return each(interpreter, possible, call_one, guards=True)
    if isinstance(function, Bound):
        shifted = {k + 1 if isinstance(k, int) else k: v for k, v in places.items()}
        with around_method(interpreter, function, place):
            return call_value(
                interpreter, function.function, [function.receiver, *args], kwargs, place, opaque, shifted
            )
    if isinstance(function, Partial):
        n = len(function.args)
        shifted = {k + n if isinstance(k, int) else k: v for k, v in places.items()}
        merged, written = {**dict(function.kwargs), **kwargs}, {**dict(function.places), **shifted}
        return call_value(
            interpreter, function.function, [*function.args, *args], merged, place, opaque, written
        )
    if isinstance(function, ClassValue):
        return instantiate(
            interpreter, Call(interpreter, function.name, args, kwargs, place, opaque, places), function
        )
    if isinstance(function, Native):
        interpreter.called(function)
        if any(map(is_iterator, args)) and not isinstance(args[0], _OF_PYTHON) and not is_iterator(args[0]):
            args = _taken(interpreter, function.description, args, place)
        call = Call(interpreter, function.description, args, kwargs, place, opaque, places)
        # A container's method stores a value with alternatives as one item; it wraps no function.
        held = args[0] if args and function.wraps is None else None
        keeps = isinstance(held, (ListValue, DictValue)) or (held is not None and holds_items(held))
        if keeps or (function.whole is not None and function.whole(call)):
            return _attempt(function.call, call)
        return _each_alternative(interpreter, call, partial(_attempt, function.call))
    if isinstance(function, (Instance, LibraryObject, MeshValue)):
        return _call_object(interpreter, function, args, kwargs, place, opaque, places)
    if isinstance(function, Reader):
        return Unknown(function.reason)
    hand_over(interpreter, args, kwargs)
    if isinstance(function, Unknown):
        return function.part() if isinstance(function, Foreign) else unsized(function)
    return Unknown("called something that is no function")


def escape(args: Sequence[Value], kwargs: dict[str, Value]) -> None:
    """Havoc the objects passed to unseen code."""
    for value in (*args, *kwargs.values()):
        forget(value)


def hand_over(interpreter: Machine, args: Sequence[Value], kwargs: dict[str, Value]) -> None:
    """Pass objects and functions to unseen code, which may mutate the objects and call the functions."""
    for value in (*args, *kwargs.values()):
        if is_iterator(value) and value.origin is not None:
            spend(interpreter, value, value.origin)
    note_views(interpreter, (*args, *kwargs.values()))
    escape(args, kwargs)
    replace_named(interpreter, args)
    for value in (*args, *kwargs.values()):
        if (function := wrapped_function(value)) is not None:
            note_escape(interpreter, function)
        interpreter.unseen.hand(value)


def note_escape(interpreter: Machine, function: Function) -> None:
    """Record that unseen code may call a function from now on."""
    interpreter.handed.setdefault(function.code.key, now())


def wrapped_function(value: Value | None) -> Function | None:
    """Return the program's function that a value is or wraps."""
    while isinstance(value, Native):
        value = value.wraps
    return value if isinstance(value, Function) else None


def around_method(interpreter: Machine, method: Bound, place: Place) -> AbstractContextManager[object]:
    """Return the context that a library sets around the methods of classes derived from its own."""
    receiver = method.receiver
    if not isinstance(receiver, Instance) or not isinstance(method.function, Function):
        return nullcontext()
    bases = library_bases(receiver.cls)
    return method_context(interpreter, receiver, bases, place) if bases else nullcontext()


def _call_function(
    interpreter: Machine,
    function: Function,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    opaque: bool,
    place: Place,
) -> Value:
    interpreter.tick()
    code = function.code
    if function.opaque:
        return unfollowed(interpreter, function, args, kwargs, f"`{function.name}` runs with something else")
    if not code.yields:
        interpreter.reached.add(code.key)
    running = [frame.function for frame in interpreter.frames if not frame.scope.is_comprehension]
    nested = len(running)
    if nested > interpreter.limit:
        interpreter.cut = True
        return unfollowed(interpreter, function, args, kwargs, "calls nest too deep")
    interpreter.deepest = max(interpreter.deepest, nested)
    if running.count(code) >= 2 and not goes_down(interpreter, code, args):
        # The results of calls inside the first activation depend on it.
        changed(next(f.scope.born for f in interpreter.frames if f.function is code))
        return unfollowed(interpreter, function, args, kwargs, "recursion")
    bound = bind_parameters(function, args, kwargs, opaque)
    if bound is None:
        return Unknown(f"`{function.name}` does not take these arguments")
    if code.yields:
        return generator(interpreter, function, bound, place)
    try:
        with interpreter.budget.shared():
            return interpreter.memory.run(interpreter, function, bound, place, nested)
    except Exhausted:
        if not interpreter.budget.shares:
            raise
        return unfollowed(interpreter, function, args, kwargs, f"`{function.name}` takes too many steps")
    except BrokenText:
        return unfollowed(interpreter, function, args, kwargs, f"`{function.name}` cannot be read")


def name_same_variables(scope: Scope, text: str, other: str) -> bool:
    """Return whether two texts of a function in a scope name the same variables of it (see `look_at`)."""
    (declared, names), (others, other_names) = names_in(text), names_in(other)
    return declared == others and not any(scope.find_all(names ^ other_names))


def unfollowed(
    interpreter: Machine, function: Function, args: Sequence[Value], kwargs: dict[str, Value], reason: str
) -> Unknown:
    """Return the result of a call that is not followed, and havoc what its code and callees may change."""
    escape(args, kwargs)
    waiting, seen, tick = [function], set(), interpreter.budget.tick
    in_scope: dict[Scope, _Reachable] = {}
    while waiting:
        tick()
        one = waiting.pop()
        if one.code.key in seen:
            continue
        seen.add(one.code.key)
        forget(one)
        text = look_at(interpreter, one.code, names_only=True)
        declared, names = names_in(text)
        _forget_set(interpreter, one, text, args)
        if "resize" in names:
            interpreter.change_in_place(Unknown("an array of unseen code"), None, None)
        for name, scope in one.scope.of_functions.find_all(declared) if declared else ():
            write(interpreter, scope, name, Unknown(f"`{name}` is set unseen"))
            # Variables may have other values now.
            in_scope.clear()
        if (held := in_scope.get(one.scope)) is None:
            held = in_scope[one.scope] = _Reachable(one.scope)
        waiting += held.by(names)
    return Unknown(reason)


def _forget_set(interpreter: Machine, function: Function, text: str, args: Sequence[Value]) -> None:
    """Make unknown the attributes of classes, modules and libraries that a text sets."""
    for variable, attribute in sets_in(text):
        name = mangled(attribute, function.code.within)
        holder = function.scope.find(variable)
        # The variable may be a parameter or a local of the function.
        found = args if holder is None else options(holder.variables[variable])
        if attribute in OF_ARRAYS and any(isinstance(one, Array | Devices | Unknown) for one in found):
            interpreter.change_in_place(Unknown("an array of unseen code"), None, None)
        for value in found:
            if isinstance(value, ClassValue | ModuleValue | External | Function):
                set_attribute(interpreter, value, name, Unknown(f"`{name}` is set unseen"))


class _Reachable:
    """The callable and mutable values of variables that code in a scope sees, until one is rebound."""

    def __init__(self, scope: Scope) -> None:
        self._held = {name: value for name, value in scope.seen().items() if type(value) in _REACHING}
        #: The names that have not been asked for yet.
        self._left = set(self._held)

    def by(self, names: frozenset[str]) -> list[Function]:
        """Return the functions with these names, the first time; havoc other values with these names."""
        reached = names & self._left
        self._left -= reached
        return [function for name in reached for function in self._functions(self._held[name])]

    def _functions(self, held: Value) -> Iterator[Function]:
        for value in options(held) if type(held) is Alternatives else (held,):
            if type(value) is Function:
                yield value
            else:
                forget(value)


def _call_external(
    interpreter: Machine,
    function: External,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    place: Place,
    opaque: bool,
    places: dict[int | str, Place],
) -> Value:
    handler = transfer(function.name) or default_transfer(interpreter, function.name)
    answers = interpreter.settings.answers
    asks = answers is not None and answers.covers(function.name)
    if any(map(is_iterator, args)) and (handler is None or not function.name.startswith(_TAKING)):
        args = _taken(interpreter, function.name, args, place)
    if handler is None:
        if asks_environment(function.name, len(args) + len(kwargs)):
            note_read(interpreter, ENVIRONMENT, "")
        if asks:
            call = Call(interpreter, function.name, args, kwargs, place, opaque, places)
            if not isinstance(told := _each_alternative(interpreter, call, answered), Unknown):
                return told
        if function.name.startswith(READING_LIBRARIES):
            lose_code(*args, *kwargs.values())
            note_unfollowed(interpreter, function.name, (*args, *kwargs.values()))
        else:
            hand_over(interpreter, args, kwargs)
        reason = f"`{function.name}` is not modelled"
        return Reader(reason) if _READERS.fullmatch(function.name) else Unknown(reason)
    if function.name.startswith("numpy.") and any(map(_is_object_type, (*args, *kwargs.values()))):
        # An array of objects holds them.
        escape(args, kwargs)
    if function.name.startswith(("jax.", "numpy.")):
        args = [as_argument(arg) for arg in args]
        kwargs = {key: as_argument(value) for key, value in kwargs.items()}
    call = Call(interpreter, function.name, args, kwargs, place, opaque, places)
    for key in list(kwargs):
        argument = f"{function.name}({key}=)"
        if interpreter.project.reference(interpreter, argument, call.place_of(None, key), "TypeError"):
            new = RENAMED_ARGUMENTS.get(argument)
            if new is None or new in kwargs:
                return Unknown(f"JAX takes no `{argument}`")
            # What follows is evaluated as if the argument had its name.
            kwargs = {new if one == key else one: value for one, value in kwargs.items()}
            places = {new if one == key else one: at for one, at in places.items()}
    call = Call(interpreter, function.name, args, kwargs, place, opaque, places)
    if function.name == "jax.config.update" and (option := as_str(call.argument(0, "name") or Const(None))):
        at = call.place_of(0, "name")
        interpreter.project.reference(interpreter, f"jax.config.{option}", at)
    if asks:
        handler = or_answered(handler)
    found = _each_alternative(interpreter, call, partial(_attempt, handler))
    if isinstance(found, Unknown):
        # It may keep or call what it got.
        lose_code(*args, *kwargs.values())
        if "is_leaf" in kwargs:
            # Containers may be leaves.
            forget_contents(*args)
    return found


def _is_object_type(value: Value) -> bool:
    return (isinstance(value, External) and value.name == "builtins.object") or as_str(value) in (
        "O",
        "object",
    )


def _taken(interpreter: Machine, name: str, args: Sequence[Value], place: Place) -> Sequence[Value]:
    """Return the arguments of a library function that consumes any number of items of iterators."""
    if name not in _TAKING_ALL:
        for arg in args:
            spend(interpreter, arg, place)
        return args
    drawn = [items_of(interpreter, arg, place) if is_iterator(arg) else None for arg in args]
    return [
        arg
        if not is_iterator(arg)
        else ListValue(None if items is None else list(items), path=interpreter.path)
        for arg, items in zip(args, drawn, strict=True)
    ]


def _each_alternative(interpreter: Machine, call: Call, evaluate: Callable[[Call], Value]) -> Value:
    """Evaluate a call once for each combination of the arguments' alternatives."""
    values = (*call.args, *call.kwargs.values())
    if not any(map(_may_be_several, values)):
        return evaluate(call)
    columns = [_choices(value) for value in values]
    if all(len(column) == 1 for column in columns):
        return evaluate(call)
    if math.prod(map(len, columns)) > MAX_ALTERNATIVES**2:
        return Unknown("too many possible values")
    rows = [
        (tuple(value for value, _ in row), tag)
        for row in itertools.product(*columns)
        if (tag := combined(interpreter.assumed, *(t for _, t in row))) is not None
    ]
    names, count = list(call.kwargs), len(call.args)

    def call_one(values: tuple[Value, ...]) -> Value:
        kwargs = dict(zip(names, values[count:], strict=True))
        place, places = call.place, call.arg_places
        return evaluate(Call(interpreter, call.name, values[:count], kwargs, place, call.opaque, places))

    return each(interpreter, rows, call_one)


def _may_be_several(value: Value) -> bool:
    """Return whether an argument may have several alternatives."""
    if isinstance(value, Tuple):
        return Alternatives in map(type, value.items)
    return isinstance(value, Alternatives)


def _choices(value: Value) -> tuple[tuple[Value, Tag], ...]:
    """Return the alternatives of an argument, looking one level into tuples (a mesh's shape)."""
    if not isinstance(value, Tuple) or not _may_be_several(value):
        return tagged(value)
    rows = itertools.islice(itertools.product(*map(tagged, value.items)), MAX_ALTERNATIVES**2)
    meeting = ((tuple(item for item, _ in row), combined(*(tag for _, tag in row))) for row in rows)
    return tuple((replace(value, items=row), tag) for row, tag in meeting if tag is not None)


def _attempt(handler: Callable[[Call], Value], call: Call) -> Value:
    if call.kwargs and _is_of_python(call):
        call.kwargs = given = Keywords(call.kwargs)
    else:
        given = None
    if not call.name.startswith(NAMESPACE):
        for arg in call.args:
            if type(arg) is LibraryObject and arg.kind == NAMESPACE:
                forget_contents(arg)
    try:
        if uses_gone(call, call.name) or refuses_function(call):
            return Unknown("JAX refuses an operand")
        found = handler(call)
        if uses_gone(call, call.name, found):
            return Unknown("JAX has deleted an operand")
        note_result(call, found)
        unread = given.unread.copy() if given is not None else ()
        found = equal_draws.finish_call(call, finish_call(call, found))
    except CannotBind as problem:
        return Unknown(f"arguments not understood: {problem}")
    if unread and not isinstance(found, Unknown):
        # The overlay does not know what they change.
        escape(call.args, call.kwargs)
        return Unknown(f"`{call.name}({min(unread)}=)` is not modelled")
    # A size computed by a library is a new one, except by a few functions of Python's own.
    if isinstance(found, Unknown) and not call.name.startswith(("builtins.", "operator.", "typing.")):
        return unsized(found)
    return undecided(found.reason, *call.args) if type(found) is Unknown else found


def _is_of_python(call: Call) -> bool:
    """Return whether a call is of Python's library, or of a method of one of its containers."""
    library, dot, _ = call.name.partition(".")
    return (
        library in sys.stdlib_module_names
        if dot
        else bool(call.args) and isinstance(call.args[0], _OF_PYTHON)
    )


def _call_object(
    interpreter: Machine,
    receiver: Instance | LibraryObject | MeshValue,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    place: Place,
    opaque: bool,
    places: dict[int | str, Place],
) -> Value:
    if isinstance(receiver, Instance):
        method = operator_method(interpreter, receiver, "__call__", place)
        if isinstance(method, Const):
            return Unknown("not callable")
        return call_value(interpreter, method, args, kwargs, place, opaque, places)
    kind = receiver.kind if isinstance(receiver, LibraryObject) else "jax.sharding.Mesh"
    handler = object_call(kind)
    if handler is None:
        return Unknown(f"a call of {kind} is not modelled")
    shifted = {k + 1 if isinstance(k, int) else k: v for k, v in places.items()}
    call = Call(interpreter, kind, [receiver, *args], kwargs, place, opaque, shifted)
    return _each_alternative(interpreter, call, partial(_attempt, handler))
