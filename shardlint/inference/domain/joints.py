"""Joints: the places at which arrays were joined to one."""

from __future__ import annotations

from dataclasses import field

from shardlint.laws.core.dims import Shape
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Joints:
    """The dimension along which an array was joined of several, where each but the first begins, its shape
    with them, and the call that joined them."""

    dimension: int
    at: tuple[int, ...]
    shape: Shape
    place: Place | None = field(default=None, compare=False)
