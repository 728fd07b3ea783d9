"""Uses as they leave inference: every place is a span, and no syntax tree is kept for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache
from typing import Any

from shardlint.inference.syntax import NodePlace
from shardlint.spans import LookedUp
from shardlint.uses import Fact, FileProblem, Use

_HOLDS_PLACES = re.compile(r"\b(Place|Fact)\b")


def settled(uses: Iterable[Use | FileProblem]) -> list[Use | FileProblem]:
    """The uses with the spans of all their places; those of two programs are equal where they are one."""
    return [_settled_use(use) for use in uses]


def _settled_use(use: Use | FileProblem) -> Use | FileProblem:
    changed = {}
    for name in _holders(type(use)):  # type: ignore[arg-type]
        before = getattr(use, name)
        if (after := _settled(before)) is not before:
            changed[name] = after
    return replace(use, **changed) if changed else use


def _settled(value: Any) -> Any:
    if isinstance(value, NodePlace):
        return value.resolve()
    if isinstance(value, LookedUp):
        return LookedUp(_settled(value.place), _settled(value.name))
    if isinstance(value, Fact):
        place = _settled(value.place)
        return value if place is value.place else replace(value, place=place)
    if isinstance(value, tuple) and value:
        return tuple(map(_settled, value))
    return value


@cache
def _holders(kind: Any) -> tuple[str, ...]:
    """The fields of a class that hold places."""
    return tuple(one.name for one in fields(kind) if _HOLDS_PLACES.search(str(one.type)))
