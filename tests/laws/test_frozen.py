"""Types that cross packages, and values, cannot be assigned to, and compare by content."""

from __future__ import annotations

import dataclasses

import pytest

from shardlint.inference.domain.values import Array, Const
from shardlint.inference.evaluation.context import Context
from shardlint.laws.core.values import Spec, Unknown
from shardlint.model.spans import Span


@pytest.mark.parametrize(
    ("one", "name"),
    [
        (Spec(("data",)), "entries"),
        (Span("a.py", 1, 1, 1, 2), "path"),
        (Array((8, 4), "float32"), "shape"),
        (Context(), "mesh"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_fields_cannot_be_assigned(one: object, name: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, name, "b.py")


def test_frozen_values_have_hashes_of_what_they_hold() -> None:
    assert hash(Unknown("a")) == hash(Unknown("a"))
    assert len({Const(1), Const(1), Const(2)}) == 2
