"""Other names of `dataclass(frozen=True, slots=True)` and of `dataclasses.replace`, for two overlays."""

from __future__ import annotations

from dataclasses import field
from dataclasses import replace as altered
from typing import TypeVar, dataclass_transform

from shardlint.support.lazy_dataclass import dataclass

__all__ = ["altered", "frozen"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """Return a frozen dataclass with slots."""
    return dataclass(frozen=True, slots=True)(kind)
