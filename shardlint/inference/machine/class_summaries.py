"""Summaries of classes, for the ``self`` of methods without known callers (see `receiver_summary`)."""

from __future__ import annotations

from shardlint.inference.domain.values import Value
from shardlint.inference.machine.trace import Trace
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TextWrites:
    """Writes to ``self`` found in method texts, without running them: the class attributes that may be set on
    objects, the attributes that may differ from what the constructor set, and whether any may."""

    sets: frozenset[str]
    changes: frozenset[str]
    any: bool


@dataclass(slots=True)
class ConstructorSummary:
    """The attributes that only a constructor sets, its trace, and the numbers of objects and sizes at which
    it began."""

    attributes: dict[str, Value]
    trace: Trace
    start: int
    symbols: int
