"""Objects that are altered are what `dataclasses.replace` makes of them."""

from __future__ import annotations

import dataclasses

import pytest

from shardlint.inference.domain.values import Array, Const
from shardlint.inference.evaluation.context import Context
from shardlint.laws.core.values import Spec, Unknown
from shardlint.model.spans import Span
from shardlint.model.uses import Fact
from shardlint.support.fast_frozen import altered


@pytest.mark.parametrize(
    ("one", "changes"),
    [
        (Array((8, 4), "float32"), {"name": "x"}),
        (Context(), {"in_jit": None, "caught": frozenset({"ValueError"})}),
        (Const(3), {}),
        (Spec(("data",)), {"entries": ("model", None)}),
        (Fact("is made here", Span("a.py", 1, 1, 1, 2)), {"message": "is used here"}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_altered_is_replaced(one: object, changes: dict[str, object]) -> None:
    before = dataclasses.replace(one)  # type: ignore[type-var]
    made = altered(one, **changes)
    assert made == dataclasses.replace(one, **changes)  # type: ignore[type-var]
    assert made is not one and type(made) is type(one)
    assert one == before


@pytest.mark.parametrize(("one", "name"), [(Spec(("data",)), "entries"), (Span("a.py", 1, 1, 1, 2), "path")])
def test_types_that_cross_rooms_are_frozen(one: object, name: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, name, "b.py")


def test_those_that_are_frozen_for_type_checkers_have_hashes_of_what_they_hold() -> None:
    assert hash(Unknown("a")) == hash(Unknown("a"))
    assert len({Const(1), Const(1), Const(2)}) == 2
