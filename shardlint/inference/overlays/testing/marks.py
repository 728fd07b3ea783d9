"""Marks that decorators set on tests: those that a function, a class or a module carries."""

from __future__ import annotations

from collections.abc import Iterator

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    Function,
    LibraryObject,
    ListValue,
    Native,
    Tuple,
    Value,
    as_items,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.release_queries import is_of_version

#: The attribute in which pytest keeps marks, and we those of all frameworks.
MARKS = "pytestmark"
#: The kind of a mark; its fields are ``name``, ``args`` (a tuple) and ``kwargs`` (a dict).
MARK = "pytest.MarkDecorator"


def mark(name: str, args: tuple[Value, ...] = (), kwargs: dict[str, Value] | None = None) -> LibraryObject:
    """Return a mark."""
    given = DictValue(dict((kwargs or {}).items()))
    return LibraryObject(MARK, {"name": Const(name), "args": Tuple(args), "kwargs": given})


def marked(target: Value, added: LibraryObject) -> Value:
    """Return a test, or a class of tests, with one more mark."""
    if isinstance(target, ClassValue):
        target.attributes[MARKS] = ListValue([*_listed(target.attributes.get(MARKS)), added])
        return target
    if not isinstance(target, Function | Native):
        return target
    held = target.attributes.get(MARKS) if isinstance(target, Native) else None
    inner = target.wraps if isinstance(target, Native) and held is not None else target

    def call(call: Call) -> Value:
        function = inner or NONE
        return call.interpreter.call(
            function, call.args, call.kwargs, call.place, call.opaque, call.arg_places
        )

    return Native("a marked test", call, inner, attributes={MARKS: ListValue([*_listed(held), added])})


def _listed(marks: Value | None) -> tuple[Value, ...]:
    if marks is None:
        return ()
    items = as_items(marks)
    return (marks,) if items is None else items


def marks_in(held: Value | None) -> Iterator[LibraryObject]:
    """Yield the marks in the value of an attribute: one mark, or a list of them."""
    for one in _listed(held):
        for option in options(one):
            if isinstance(option, LibraryObject) and option.kind == MARK:
                yield option


def marks_of(test: Value | None) -> Iterator[LibraryObject]:
    """Yield the marks of a test, or of a class and its bases; those of the innermost decorator first."""
    if isinstance(test, ClassValue):
        for base in lineage(test):
            if isinstance(base, ClassValue):
                yield from marks_in(base.attributes.get(MARKS))
    while isinstance(test, Native):
        yield from marks_in(test.attributes.get(MARKS))
        test = test.wraps


def name_of(one: LibraryObject) -> str:
    """Return the name of a mark."""
    return as_str(one.fields["name"]) or ""


def args_of(one: LibraryObject) -> tuple[Value, ...]:
    """Return the positional arguments of a mark."""
    return as_items(one.fields["args"]) or ()


def option_of(one: LibraryObject, name: str) -> Value | None:
    """Return a keyword argument of a mark, or None."""
    kwargs = one.fields["kwargs"]
    return (kwargs.items or {}).get(name) if isinstance(kwargs, DictValue) else None


def skips(one: LibraryObject) -> bool:
    """Return whether a mark skips its test on the assumed release: one that depends on the release does."""
    name = name_of(one)
    if name == "skip":
        return True
    condition = next(iter(args_of(one)), option_of(one, "condition"))
    if (
        name != "skipif"
        or condition is None
        or (isinstance(condition, Const) and as_str(condition) is not None)
    ):
        return False
    return truth(condition) is True or is_of_version(condition)


def is_skipped(test: Value) -> bool:
    """Return whether a mark skips a test."""
    return any(map(skips, marks_of(test)))
