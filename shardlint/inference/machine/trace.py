"""The trace of an evaluation: the events that it adds to an analysis, and its dependencies on code."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Protocol

from shardlint.inference.domain import name_links
from shardlint.inference.domain.name_links import Pairs
from shardlint.inference.domain.values import Function, Native, Value
from shardlint.inference.evaluation.context import Context
from shardlint.inference.store.effect_log import When, now
from shardlint.inference.store.identity_set import Once
from shardlint.laws.versions import Release
from shardlint.model.uses import FileProblem, Use
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Functions passed to code that is not followed and that may call them, with the time of that.
Handed = dict[Hashable, When]
#: A function that was defined, or a wrapper that was created, and the context around it.
Note = tuple[Function | Native, Context]


class CachedCall(Protocol):
    """The summary of a call, as traces know it (see `summaries`)."""

    trace: Trace


@dataclass(slots=True)
class Trace:
    """The events of an evaluation, under the interpreter's names for them.

    ``notes`` are functions defined and wrappers created. ``ran`` are the codes that ran at any depth, and
    those whose text was read (see `look_at`). ``cached_calls`` are the cached calls inside it (see
    `call_cache`), and ``ran_uncached`` the codes that ran outside of them. ``reached`` were called, and so
    were ``called_wrappers``; ``handed`` were passed to code that is not followed. ``escaped`` are functions
    and classes that went out of sight, ``unseen_changes`` what these may change. ``turns`` are the releases
    at which an answer of JAX changes (see `release_queries`); ``asks_mesh`` is whether a mesh that the
    program does not define matters (see `deployment_mesh`). ``views`` describe the arrays that numpy may view
    from then on (see `host_views`). ``questions`` are those to a JAX (see
    `asked_functions`). ``pairs`` are literals that write the same name, if an editor asks.
    """

    uses: Once[Use] = field(default_factory=Once)
    problems: Once[FileProblem] = field(default_factory=Once)
    notes: Once[Note] = field(default_factory=Once)
    ran: set[Hashable] = field(default_factory=set)
    ran_uncached: set[Hashable] = field(default_factory=set)
    cached_calls: Once[CachedCall] = field(default_factory=Once)
    reached: set[Hashable] = field(default_factory=set)
    called_wrappers: set[int] = field(default_factory=set)
    handed: Handed = field(default_factory=dict)
    escaped: dict[Hashable, Value] = field(default_factory=dict)
    unseen_changes: set[Any] = field(default_factory=set)
    turns: set[Release] = field(default_factory=set)
    asks_mesh: bool = False
    views: set[str] = field(default_factory=set)
    questions: set[str] = field(default_factory=set)
    pairs: Pairs | None = field(default_factory=dict)

    def swap(self, interpreter: Machine) -> Trace:
        """Record here from now on; return the previous trace."""
        before = Trace(
            **{name: getattr(interpreter, name) for name in _HELD}, pairs=name_links.swap(self.pairs)
        )
        for name in _HELD:
            setattr(interpreter, name, getattr(self, name))
        return before

    def add_to(self, interpreter: Machine, again: bool = False) -> None:
        """Add everything except uses, notes and cached calls to the current trace."""
        i = interpreter
        i.problems += self.problems
        i.ran |= self.ran
        i.reached |= self.reached
        i.called_wrappers |= self.called_wrappers
        for function, when in self.handed.items():
            i.handed.setdefault(function, now() if again else when)
        if self.unseen_changes:
            i.code.apply(self.unseen_changes)
        i.escaped |= self.escaped
        i.turns |= self.turns
        i.asks_mesh = i.asks_mesh or self.asks_mesh
        i.views |= self.views
        i.viewed |= self.views
        i.questions |= self.questions
        name_links.add(self.pairs)

    def add_calls_to(self, interpreter: Machine) -> None:
        """Add the cached calls of an uncached call to the current trace, and the codes that ran outside of
        them."""
        interpreter.ran_uncached |= self.ran_uncached
        interpreter.cached_calls += self.cached_calls


_HELD = tuple(one.name for one in fields(Trace) if one.name != "pairs")
