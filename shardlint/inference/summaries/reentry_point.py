"""Where a call stood, so that it can run there once more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from shardlint.inference.domain.kinds import CHANGING
from shardlint.inference.domain.values import Function, Tag, Value
from shardlint.inference.evaluation.context import Context, Frame
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

_SLOTS = {kind: tuple(one.name for one in fields(kind)) for kind in CHANGING}
#: An object that programs change, and what it held.
State = tuple[Any, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a run depends on besides the variables that it reads: its arguments, and what was around it.

    ``key`` is that of the arguments and the rest in the memory of calls, ``objects`` are those that the
    arguments held. ``nested`` tells how deep the call stood, ``switches`` which global settings had
    changed, and ``epoch`` how often classes had.
    """

    function: Function
    bound: dict[str, Value]
    place: Place
    nested: int
    key: Hashable
    objects: tuple[State, ...]
    context: Context
    path: tuple[int, ...]
    assumed: Tag
    frames: tuple[Frame, ...]
    muted: int
    switches: frozenset[str]
    epoch: int

    @contextmanager
    def restored(self, interpreter: Machine) -> Iterator[None]:
        """Stand there again, and afterwards where the interpreter stood before."""
        i = interpreter
        before = (i.context, i.path, i.assumed, i.frames, i.muted, i.switches)
        epoch, EFFECTS.epoch = EFFECTS.epoch, self.epoch
        held = [(value, _held(value)) for value, _ in self.objects]
        i.context, i.path, i.assumed, i.muted = self.context, self.path, self.assumed, self.muted
        i.frames, i.switches = list(self.frames), set(self.switches)
        for value, state in self.objects:
            _hold(value, tuple(map(_copied, state)))
        try:
            with i.budget.apart():
                yield
        finally:
            for value, state in held:
                _hold(value, state)
            i.context, i.path, i.assumed, i.frames, i.muted, i.switches = before
            EFFECTS.epoch = epoch


def states(values: Iterable[Any]) -> tuple[State, ...]:
    """What objects hold now."""
    return tuple((value, tuple(map(_copied, _held(value)))) for value in values)


def _held(value: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in _SLOTS[type(value)])


def _hold(value: Any, state: tuple[Any, ...]) -> None:
    for name, part in zip(_SLOTS[type(value)], state, strict=True):
        setattr(value, name, part)


def _copied(part: Any) -> Any:
    """What no change of the object changes."""
    return copy(part) if type(part) is dict or type(part) is list else part
