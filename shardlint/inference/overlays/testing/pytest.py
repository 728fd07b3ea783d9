"""`pytest`: marks, parameter sets and fixtures, kept on the tests for `programs/testing`."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    ClassValue,
    DictValue,
    Function,
    LibraryObject,
    Native,
    Tuple,
    Value,
    as_items,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.testing.marks import MARK, mark, marked
from shardlint.laws.core.values import Unknown

#: The kind of a parameter set with marks of its own; its fields are ``values`` and ``marks``.
PARAM = "pytest.param"


def _is_test(value: Value) -> bool:
    return isinstance(value, Function | Native | ClassValue)


def _call_mark(call: Call) -> Value:
    """``mark(test)`` marks a test; ``mark(...)`` is the mark with these arguments."""
    own, *args = call.args
    assert isinstance(own, LibraryObject)
    if len(args) == 1 and not call.kwargs and _is_test(args[0]):
        return marked(args[0], own)
    if call.opaque:
        return mark("unknown")
    before = as_items(own.fields["args"]) or ()
    held = own.fields["kwargs"]
    kwargs = (
        {str(key): value for key, value in (held.items or {}).items()} if isinstance(held, DictValue) else {}
    )
    return mark(as_str(own.fields["name"]) or "", (*before, *args), kwargs | call.kwargs)


def _mark_named(_: LibraryObject, name: str) -> Value:
    return mark(name)


def _fixture(call: Call) -> Value:
    """``@pytest.fixture``, with or without options."""
    if len(call.args) == 1 and _is_test(call.args[0]):
        return marked(call.args[0], mark("fixture", (), call.kwargs))
    return mark("fixture", (), call.kwargs)


def _param(call: Call) -> Value:
    """``pytest.param(*values, marks=(), id=None)``."""
    if call.opaque:
        return Unknown("parameters that are not known")
    return LibraryObject(
        PARAM, {"values": Tuple(tuple(call.args)), "marks": call.kwargs.get("marks", Tuple(()))}
    )


def _import_or_skip(call: Call) -> Value:
    """``pytest.importorskip(name)``: the module."""
    name = as_str(call.argument(0, "modname"))
    if name is None:
        return Unknown("a module whose name is not known")
    return call.interpreter.import_module(name, call.place)


def _requested_fixture(call: Call) -> Value:
    """``request.getfixturevalue(name)``."""
    return Unknown("a fixture that is asked for by name")


TABLE: dict[str, Callable[[Call], Value]] = {
    "pytest.fixture": _fixture,
    "pytest.param": _param,
    "pytest.importorskip": _import_or_skip,
}

CONSTANTS: dict[str, Value] = {"pytest.mark": LibraryObject("pytest.mark", {})}

ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {"pytest.mark": _mark_named}

CALLS: dict[str, Callable[[Call], Value]] = {MARK: _call_mark}

METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    ("pytest.request", "getfixturevalue"): _requested_fixture,
}
