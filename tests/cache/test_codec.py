"""Values of ours come back from text as they went; no text makes anything else of ours, or takes long."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import math
import typing
from enum import Enum
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.sizes import size

from shardlint.cache import codec
from shardlint.cache.codec import CannotDecode, CannotEncode, decode, encode
from shardlint.inference.domain.values import Generated, Missing, Reader, Sized
from shardlint.inference.overlays.arrays.operands import Impossible
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Span, Written

CLASSES: list[type] = [
    getattr(importlib.import_module(module), name)
    for module, names in codec.CLASSES.items()
    for name in names.split()
]

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(),
    st.complex_numbers(allow_nan=False),
)  # fmt: skip
DATA = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.tuples(inner, inner), st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3),
        st.frozensets(PLAIN, max_size=3),
    ),
    max_leaves=8,
)  # fmt: skip


def _value(kind: type, fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a class, with anything for fields: the codec does not look at what is meant for them."""
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if issubclass(kind, tuple):
        names = typing.cast(Any, kind)._fields
        return st.tuples(*[fields] * len(names)).map(lambda values: kind(*values))
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return st.tuples(*[fields] * len(names)).map(lambda values: kind(**dict(zip(names, values, strict=True))))


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, of one type, and so are their parts, fields that do not compare too."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return bool(a == b)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@settings(
    max_examples=size("SHARDLINT_CODEC_VALUES", 8, 25), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_each_class_comes_back(kind: type, data: st.DataObject) -> None:
    value = data.draw(_value(kind, DATA))
    outer = data.draw(_value(CLASSES[data.draw(st.integers(0, len(CLASSES) - 1))], st.just(value)))
    assert same(decode(encode(value)), value)
    assert same(decode(encode((outer, value, 1, True, 1.0))), (outer, value, 1, True, 1.0))
    assert encode(decode(encode(value))) == encode(value)


def test_every_value_class_is_known() -> None:
    """A new class of uses or findings has to be in the table."""
    for module in codec.CLASSES:
        for name, one in vars(importlib.import_module(module)).items():
            if not isinstance(one, type) or one.__module__ != module:
                continue
            parameters = getattr(one, "__dataclass_params__", None)
            if issubclass(one, Enum) or hasattr(one, "_fields") or (parameters and parameters.frozen):
                assert one in CLASSES, f"{module}.{name}"
    for one in CLASSES:
        assert not hasattr(one, "__post_init__"), "making one must do nothing"


def test_equal_values_are_written_once() -> None:
    span = Span("a.py", 1, 1, 1, 2)
    once, often = encode((span,)), encode((span, *[Span("a.py", 1, 1, 1, 2) for _ in range(100)]))
    assert len(often) < len(once) + 500


UNKNOWN = (Generated, Impossible, Missing, Reader, Sized)


@pytest.mark.parametrize("kind", UNKNOWN, ids=lambda kind: kind.__name__)
def test_what_the_evaluator_alone_tells_apart_is_unknown(kind: type[Unknown]) -> None:
    value = object.__new__(kind)
    object.__setattr__(value, "reason", "why")
    found = decode(encode((value, 1)))
    assert found == (Unknown("why"), 1)
    assert type(found[0]) is Unknown


class Mine:
    """A class that is none of ours."""


@pytest.mark.parametrize("value", [Mine(), {1, 2}, lambda: None, print, Mine, range(3), st])
def test_other_values_are_not_written(value: object) -> None:
    with pytest.raises(CannotEncode):
        encode((1, value))


def _document(classes: list[str], parts: list[Any], root: Any) -> str:
    return json.dumps({"classes": classes, "parts": parts, "root": root})


BROKEN = {
    "nothing": "",
    "no JSON": "{",
    "another document": "[1, 2]",
    "not closed": encode((Span("a", 1, 1, 1, 1),))[:-3],
    "a class of others": _document(["Popen"], [[0, "true"]], [0]),
    "a class of a module": _document(["os.system"], [[0, "true"]], [0]),
    "a builtin": _document(["eval"], [[0, "1"]], [0]),
    "fields too few": _document(["Span"], [[0, "a"]], [0]),
    "a value that is no member": _document(["Severity"], [[0, "fatal"]], [0]),
    "a part after it": _document(["tuple"], [[0, [1]], [0]], [0]),
    "itself": _document(["tuple"], [[0, [0]]], [0]),
    "a negative part": _document(["tuple"], [[0], [0, [-1]]], [1]),
    "two numbers": _document(["tuple"], [[0], [0, [0, 0]]], [1]),
    "no number": _document(["tuple"], [[0], [0, ["0"]]], [1]),
    "no such class": _document(["tuple"], [[3]], [0]),
    "an unhashable set": _document(["list", "frozenset"], [[0], [1, [0]]], [1]),
    "too many parts": _document(["tuple"], [[0], *([0, [n], [n]] for n in range(80))], [80]),
    "deeper than the stack": _document(["tuple"], [[0], *([0, [n]] for n in range(100_000))], [100_000]),
    "deep JSON": "[" * 200_000,
    "a long number": _document(["tuple"], [[0, 1]], 1).replace("[0, 1]", "[0, " + "9" * 100_000 + "]"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_no_document_is_refused(what: str) -> None:
    with pytest.raises(CannotDecode):
        decode(BROKEN[what])


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.integers(0, 400), st.integers(0, 5))
def test_a_changed_document_is_refused_or_is_data(text: str, at: int, cut: int) -> None:
    document = encode((Span("a.py", 1, 2, 3, 4), ("x", frozenset({"y"})), {"k": 1.5}))
    changed = document[:at] + text[:5] + document[at + cut :]
    with contextlib.suppress(CannotDecode):
        decode(changed)


def test_a_literal_keeps_its_place() -> None:
    first, second = (Written("data", Span("a.py", line, 1, line, 7)) for line in (1, 2))
    texts = decode(encode((first, "data", second, first)))
    assert [type(text) for text in texts] == [Written, str, Written, Written]
    assert [text.place for text in texts if isinstance(text, Written)] == [
        first.place, second.place, first.place,
    ]  # fmt: skip


@pytest.mark.parametrize("fields", ['1,"x"', '"x",1', '"x"', '"x",[0]'])
def test_a_literal_without_a_place_is_refused(fields: str) -> None:
    with pytest.raises(CannotDecode):
        decode(f'{{"classes":["tuple","Written"],"root":[1],"parts":[[0,1],[1,{fields}]]}}')
