"""`absl.testing.parameterized`: the test cases of a test, kept as a mark of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from shardlint.inference.domain.values import (
    DictValue,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import items_of
from shardlint.inference.overlays.testing.marks import mark

#: The mark with the cases of a test: each a tuple of positional arguments, or a dict by keyword.
CASES = "testcases"
#: A mark of tests whose parameters are not known.
UNKNOWN_CASES = "unknown testcases"
_MOST = 10_000


def cases_mark(cases: Sequence[Value] | None) -> LibraryObject:
    """Return the mark of a test with these cases; None if they are not known."""
    return mark(UNKNOWN_CASES) if cases is None else mark(CASES, tuple(cases))


def _given(call: Call) -> tuple[Value, ...] | None:
    """Return the test cases that a decorator is given: one by one, or in one iterable."""
    if call.opaque or call.kwargs:
        return None
    if len(call.args) == 1 and not isinstance(call.args[0], Tuple | DictValue):
        return items_of(call.interpreter, call.args[0], call.place)
    return tuple(call.args)


def _parameters(call: Call) -> Value:
    """``@parameters(*cases)``: a tuple or list is the arguments, a dict those by keyword, others the only
    one."""
    cases = _given(call)
    return cases_mark(None if cases is None else [_case(one) for one in cases])


def _named_parameters(call: Call) -> Value:
    """``@named_parameters(*cases)``: the first item, or ``testcase_name``, names the case."""
    cases = _given(call)
    found = [] if cases is None else [_unnamed(_case(one)) for one in cases]
    known = cases is not None and None not in found
    return cases_mark([one for one in found if one is not None] if known else None)


def _case(one: Value) -> Value:
    if isinstance(one, ListValue):
        return Tuple(tuple(one.items)) if one.items is not None else DictValue(None)
    return one if isinstance(one, Tuple | DictValue) else Tuple((one,))


def _unnamed(one: Value) -> Value | None:
    if isinstance(one, Tuple):
        return Tuple(one.items[1:]) if one.items and as_str(one.items[0]) is not None else None
    if isinstance(one, DictValue) and one.items is not None and "testcase_name" in one.items:
        return DictValue({key: value for key, value in one.items.items() if key != "testcase_name"})
    return None


def product_of(call: Call) -> list[Value] | None:
    """Return the cases of ``product(*lists_of_dicts, **lists_of_values)``, or None if they are not known."""
    if call.opaque:
        return None
    rows: list[list[dict[object, Value]]] = []
    for arg in call.args:
        items = items_of(call.interpreter, arg, call.place)
        if items is None or not all(isinstance(one, DictValue) and one.items is not None for one in items):
            return None
        rows.append([dict(one.items or {}) for one in items if isinstance(one, DictValue)])
    for name, values in call.kwargs.items():
        items = items_of(call.interpreter, values, call.place)
        if items is None:
            return None
        rows.append([{name: item} for item in items])
    found: list[Value] = []
    for row in itertools.islice(itertools.product(*rows), _MOST + 1):
        merged: dict[object, Value] = {}
        for part in row:
            merged |= part
        found.append(DictValue(dict(merged.items())))
    return found if len(found) <= _MOST else None


def _product(call: Call) -> Value:
    return cases_mark(product_of(call))


TABLE: dict[str, Callable[[Call], Value]] = {
    "absl.testing.parameterized.parameters": _parameters,
    "absl.testing.parameterized.named_parameters": _named_parameters,
    "absl.testing.parameterized.product": _product,
}
