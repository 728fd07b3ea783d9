"""Donations: the call of a jitted function that deleted an array, or may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Gone:
    """The donation that deleted an array, or only may have deleted it (``certain`` is false).

    ``is_used`` returns whether the jitted function certainly computes with the array: JAX drops what it does
    not, with the donation.
    """

    function: str
    is_used: Callable[[], bool] = field(compare=False)
    place: Place | None = field(default=None, compare=False)
    certain: bool = True
