"""Names of the standard library, and of test libraries, that programs around sharding use."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shardlint.inference.domain.builtin_bases import HELD
from shardlint.inference.domain.classes import class_attribute
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Native,
    Partial,
    SetValue,
    Tuple,
    Value,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import is_iterator
from shardlint.inference.evaluation.monkeypatches import is_set
from shardlint.inference.overlays.command_lines.defaults import by_default
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import origins_of, remembering
from shardlint.model.spans import Place


def _partial(call: Call) -> Value:
    if call.opaque or not call.args:
        return Unknown("functools.partial")
    function, *args = call.args
    inner = function if isinstance(function, Partial) else Partial(function, (), ())
    before = len(inner.args) - 1
    written = {key + before if isinstance(key, int) else key: at for key, at in call.arg_places.items()}
    kwargs, places = dict(inner.kwargs) | call.kwargs, dict(inner.places) | written
    args = [*inner.args, *args]
    return Partial(inner.function, tuple(args), tuple(kwargs.items()), call.place, tuple(places.items()))


def _identity_decorator(call: Call) -> Value:
    """Return the decorated function, also from a decorator with arguments."""
    if len(call.args) == 1 and not call.kwargs and not isinstance(call.args[0], Const):
        return call.args[0]
    return Native("a decorator", lambda inner: inner.args[0] if inner.args else Unknown("a decorator"))


def _wraps(call: Call) -> Value:
    """``@wraps(f)``: a function with the name of another one, which is its ``__wrapped__``."""
    wrapped = call.args[0] if call.args else call.kwargs.get("wrapped")

    def rename(inner: Call) -> Value:
        function = inner.args[0] if inner.args else Unknown("functools.wraps")
        if isinstance(function, Function):
            function.renamed = True
            function.wrapped = wrapped
        return function

    return Native("functools.wraps", rename)


def _math(function: Callable[..., Any]) -> Callable[[Call], Value]:
    def compute(call: Call) -> Value:
        numbers = [
            arg.value for arg in call.args if isinstance(arg, Const) and isinstance(arg.value, int | float)
        ]
        if len(numbers) != len(call.args) or call.kwargs or call.opaque:
            return Unknown("arithmetic on something unknown")
        try:
            return Const(remembering(function(*numbers), origins_of(*numbers)))
        except (ValueError, TypeError, OverflowError, ZeroDivisionError):
            return Unknown("raises in Python")

    return compute


def _cast(call: Call) -> Value:
    return call.args[1] if len(call.args) == 2 else Unknown("typing.cast")


def _expected(call: Call) -> Value:
    """``pytest.raises(...)`` as a context manager, or with the function to call."""
    if len(call.args) > 1:
        with call.interpreter.within(expected=True):
            call.interpreter.call(call.args[1], list(call.args[2:]), {}, call.place)
        return NONE
    return LibraryObject("expected", {})


def _suppress(call: Call) -> Value:
    names = {arg.name.rpartition(".")[2] for arg in call.args if isinstance(arg, External)}
    known = len(names) == len(call.args) and not call.opaque
    return LibraryObject("caught", {"names": SetValue(frozenset(names if known else {"BaseException"}))})


#: The kind of an `ExitStack`: its ``managers`` are those that it has entered.
EXIT_STACK = "contextlib.ExitStack"
#: The kind of a context manager under which nothing warns of deprecated names.
IGNORING = "warnings ignored"


def _null_context(call: Call) -> Value:
    (entered,) = call.bind(enter_result=NONE)
    return LibraryObject("harmless", {"entered": entered or NONE})


def _harmless(call: Call) -> Value:
    return LibraryObject("harmless", {})


def _context_manager(call: Call) -> Value:
    """``@contextmanager``: a ``with`` block around what the function's generator yields."""
    function = call.args[0] if len(call.args) == 1 else Unknown("contextlib.contextmanager")

    def make(inner: Call) -> Value:
        if inner.opaque:
            return Unknown("arguments that are not known")
        arguments = Partial(function, tuple(inner.args), tuple(inner.kwargs.items()), inner.place)
        return LibraryObject("contextlib.generator", {"arguments": arguments})

    return Native("contextlib.contextmanager", make, function, call.place)


def _exit_stack(call: Call) -> Value:
    """``contextlib.ExitStack()``: what it has entered is in force until a ``with`` block of it ends."""
    return LibraryObject(EXIT_STACK, {"managers": ListValue([])}, call.place)


def _enter_context(call: Call) -> Value:
    """``stack.enter_context(manager)``."""
    if len(call.args) != 2 or call.opaque or not isinstance(stack := call.args[0], LibraryObject):
        return Unknown("what a context manager gives")
    managers = stack.fields["managers"]
    if isinstance(managers, ListValue) and managers.items is not None:
        if call.interpreter.certain(managers.path):
            changing(managers)
            managers.items.append(call.args[1])
        else:
            forget(managers)
    return call.interpreter.enter(call.args[1], call.place)


def ignores_deprecation(action: Value | None, category: Value | None) -> bool:
    """Return whether a filter of `warnings` leaves out deprecations, by their class."""
    name = category.name if isinstance(category, External) else ""
    return as_str(action) == "ignore" and name == "builtins.DeprecationWarning"


def _catch_warnings(call: Call) -> Value:
    """``warnings.catch_warnings(action="ignore", category=DeprecationWarning)``, or without a filter."""
    ignoring = ignores_deprecation(call.kwargs.get("action"), call.kwargs.get("category"))
    return LibraryObject(IGNORING, {}) if ignoring else _harmless(call)


def decorated(manager: Value, function: Value, place: Place) -> Native:
    """Return a function that runs in a context manager which decorates it (`contextlib.ContextDecorator`)."""

    def run(call: Call) -> Value:
        with call.interpreter.entered(manager, call.place):
            return call.interpreter.call(
                function, call.args, call.kwargs, call.place, call.opaque, call.arg_places
            )

    return Native("a function in a context", run, function, place)


def decorate(call: Call) -> Value:
    """``@manager``: a library's context manager is called with the function that it decorates."""
    if len(call.args) != 2:
        return Unknown("a context manager that is called")
    return decorated(call.args[0], call.args[1], call.place)


def _environment_default(call: Call) -> Value:
    key, value = call.bind("key", "default")
    if key is not None and value is not None:
        call.interpreter.set_environment(key, value)
    return Unknown("an environment variable")


def _environment_update(call: Call) -> Value:
    items = dict(call.kwargs)
    for arg in call.args:
        if isinstance(arg, DictValue) and arg.items is not None:
            items.update({str(key): value for key, value in arg.items.items()})
    for key, value in items.items():
        call.interpreter.set_environment(Const(key), value)
    return NONE


def _variable(call: Call) -> Value:
    """``os.environ.get(name, default)``, of a variable that is not set outside of the program."""
    key, default = call.bind("key", default=NONE)
    name = as_str(key)
    if name is None or default is None or is_set(call.interpreter, f"os.environ.{name}"):
        return Unknown("an environment variable")
    return by_default(name, default, call.place)


#: Methods by which classes customise copies.
_COPYING = (
    "__copy__", "__deepcopy__", "__getnewargs__", "__getnewargs_ex__", "__getstate__", "__reduce__",
    "__reduce_ex__", "__setstate__",
)  # fmt: skip


def _copying(deep: bool) -> Callable[[Call], Value]:
    """Return `copy.copy` or `copy.deepcopy`: mutable values become new objects."""

    def copied(value: Value, call: Call, known: dict[int, Value]) -> Value:
        path = call.interpreter.path

        def part(item: Value) -> Value:
            return copied(item, call, known) if deep else item

        if id(value) in known:
            return known[id(value)]
        if isinstance(value, ListValue):
            items: list[Value] | None = None if value.items is None else []
            made = known[id(value)] = ListValue(items, path=path)
            if items is not None:
                items.extend(map(part, value.items or ()))
            return made
        if isinstance(value, DictValue):
            entries: dict[Any, Value] | None = None if value.items is None else {}
            copy = known[id(value)] = DictValue(entries, path=path)
            if entries is not None:
                entries.update((key, part(item)) for key, item in (value.items or {}).items())
            return copy
        if isinstance(value, SetValue):
            return SetValue(value.items, value.origin, value.frozen, path)
        if isinstance(value, Instance):
            if any(class_attribute(value.cls, name) is not None for name in _COPYING):
                method = class_attribute(value.cls, "__deepcopy__" if deep else "__copy__")
                given = [Unknown("what was copied already")] if deep else []
                if method is None:
                    forget(value)
                    return Unknown(f"a copy of `{value.cls.name}`, which says how it is made")
                return call.interpreter.call(method, [value, *given], {}, call.place)
            if isinstance(maker := class_attribute(value.cls, "__new__"), Function):
                call.interpreter.unseen.call(maker, [value.cls, value], {}, "makes a copy")
                return Unknown(f"a copy of `{value.cls.name}`, which makes its objects itself")
            own: dict[str, Value] = {}
            known[id(value)] = Instance(value.cls, own, value.opaque, call.place, path)
            for name, item in value.attributes.items():
                own[name] = copied(item, call, known) if name == HELD else part(item)
            return known[id(value)]
        if isinstance(value, LibraryObject) and value.kind.startswith("flax.nnx."):
            return LibraryObject(value.kind, {k: part(v) for k, v in value.fields.items()}, value.origin)
        if isinstance(value, Array):
            # Another array, as far as donations go.
            return replace(value)
        if is_iterator(value):
            forget(value)
            return Unknown("a copy of an iterator")
        if isinstance(value, Tuple) and deep:
            return replace(value, items=tuple(map(part, value.items)))
        return value

    def copy_of(call: Call) -> Value:
        value, memo = call.bind("x", memo=None) if deep else [*call.bind("x"), None]
        fresh = memo is None or is_none(memo) or (isinstance(memo, DictValue) and memo.items == {})
        if value is not None and fresh and not call.opaque:
            forget(memo or NONE)  # It is filled with what was copied.
            return copied(value, call, {})
        forget(Tuple((*call.args, *call.kwargs.values())))
        return Unknown(call.name)

    return copy_of


TABLE: dict[str, Callable[[Call], Value]] = {
    "functools.partial": _partial,
    "functools.wraps": _wraps,
    **{
        f"math.{name}": _math(getattr(math, name))
        for name in "sqrt ceil floor log log2 log10 exp gcd lcm pow isqrt sin cos trunc fabs".split()
    },
    "typing.cast": _cast,
    "abc.abstractmethod": _identity_decorator,
    "typing.overload": _identity_decorator,
    "typing.override": _identity_decorator,
    "typing.final": _identity_decorator,
    "copy.copy": _copying(deep=False),
    "copy.deepcopy": _copying(deep=True),
    "pytest.raises": _expected,
    "contextlib.suppress": _suppress,
    "contextlib.nullcontext": _null_context,
    "contextlib.contextmanager": _context_manager,
    "contextlib.ExitStack": _exit_stack,
    "warnings.catch_warnings": _catch_warnings,
    "os.environ.setdefault": _environment_default,
    "os.environ.update": _environment_update,
}  # fmt: skip

DEFAULTS: dict[str, Callable[[Call], Value]] = {"os.environ.get": _variable, "os.getenv": _variable}

CALLS: dict[str, Callable[[Call], Value]] = {"contextlib.generator": decorate, IGNORING: decorate}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {(EXIT_STACK, "enter_context"): _enter_context}

#: Values of names that are not functions.
CONSTANTS: dict[str, Value] = {
    "math.pi": Const(math.pi),
    "math.e": Const(math.e),
    "math.inf": Const(math.inf),
    "builtins.True": Const(True),
    "builtins.False": Const(False),
    "builtins.None": NONE,
    "builtins.Ellipsis": Const(...),
    "typing.TYPE_CHECKING": Const(False),
}
