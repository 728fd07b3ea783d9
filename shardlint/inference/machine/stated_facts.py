"""`StatedFacts`: the facts that comments state of an expression of the running statement."""

from __future__ import annotations

from dataclasses import field

from shardlint.inference.domain.values import Value
from shardlint.source.comments.facts import Note
from shardlint.support.lazy_dataclass import dataclass


@dataclass(slots=True)
class StatedFacts:
    """The facts that comments state of one expression or target, and the values seen there."""

    target: bool
    facts: list[Note] = field(default_factory=list)
    seen: list[Value] = field(default_factory=list)
