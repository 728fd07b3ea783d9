"""What the code that runs has met so far: what it adds to an analysis."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, fields
from typing import TYPE_CHECKING

from shardlint.inference.domain import name_links
from shardlint.inference.domain.name_links import Pairs
from shardlint.inference.domain.values import Function, Native
from shardlint.inference.evaluation.context import Context
from shardlint.inference.store.effect_log import When, now
from shardlint.inference.store.identity_set import Once
from shardlint.laws.versions import Release
from shardlint.model.uses import FileProblem, Use
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine
    from shardlint.inference.summaries.summary import Kept

#: Functions that code which is not followed has got and may call from then on, by when it got them.
Handed = dict[Hashable, When]
#: A function that was defined, or a wrapper that was made, and the context around it.
Note = tuple[Function | Native, Context]


@dataclass(slots=True)
class Met:
    """What an evaluation met, by the names that an interpreter has for it.

    ``notes`` are functions defined and wrappers made. ``ran`` are the codes that ran, in any depth, and those
    whose text was read (see `look_at`). ``kept`` are the runs in it that are kept (see `memory`), and ``own``
    those of the codes that were met outside of them. ``reached`` were called, and so were
    ``called_wrappers``; ``handed`` were given to code that is not followed. ``turns`` are releases from which
    on JAX answers a question that was asked otherwise (see `releases`); ``asks_mesh`` is whether a mesh that
    the program does not tell matters (see `assumed`). ``pairs`` are literals that write one name, if an
    editor asks.
    """

    uses: Once[Use] = field(default_factory=Once)
    problems: Once[FileProblem] = field(default_factory=Once)
    notes: Once[Note] = field(default_factory=Once)
    ran: set[Hashable] = field(default_factory=set)
    own: set[Hashable] = field(default_factory=set)
    kept: Once[Kept] = field(default_factory=Once)
    reached: set[Hashable] = field(default_factory=set)
    called_wrappers: set[int] = field(default_factory=set)
    handed: Handed = field(default_factory=dict)
    turns: set[Release] = field(default_factory=set)
    asks_mesh: bool = False
    pairs: Pairs | None = field(default_factory=dict)

    def swap(self, interpreter: Machine) -> Met:
        """Note here from now on; returns what was met until now, and where that is noted."""
        before = Met(
            **{name: getattr(interpreter, name) for name in _HELD}, pairs=name_links.swap(self.pairs)
        )
        for name in _HELD:
            setattr(interpreter, name, getattr(self, name))
        return before

    def tell(self, interpreter: Machine, again: bool = False) -> None:
        """Tell all but uses and notes, and which runs are kept, as met by what runs now, or ran just now."""
        i = interpreter
        i.problems += self.problems
        i.ran |= self.ran
        i.reached |= self.reached
        i.called_wrappers |= self.called_wrappers
        for function, when in self.handed.items():
            i.handed.setdefault(function, now() if again else when)
        i.turns |= self.turns
        i.asks_mesh = i.asks_mesh or self.asks_mesh
        name_links.add(self.pairs)

    def open(self, interpreter: Machine) -> None:
        """Tell which runs are kept of what is not kept itself, and what was met outside of them."""
        interpreter.own |= self.own
        interpreter.kept += self.kept


_HELD = tuple(one.name for one in fields(Met) if one.name != "pairs")
