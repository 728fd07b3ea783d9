"""The state of the interpreter at a call, so that the call can be run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from shardlint.inference.domain.kinds import CHANGING
from shardlint.inference.domain.values import Function, Tag, Value
from shardlint.inference.evaluation.context import Context, Frame
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

_SLOTS = {kind: tuple(one.name for one in fields(kind)) for kind in CHANGING}
#: A mutable object and its contents.
State = tuple[Any, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class ReentryPoint:
    """The inputs of a call besides the variables that it reads: its arguments and the interpreter's state.

    ``key`` is the call's key in the cache, ``objects`` are those reachable from the arguments. ``nested`` is
    the depth of the call, ``switches`` the global settings changed so far, and ``viewed`` the arrays that
    numpy may view. ``in_module`` is whether a method of a linen module ran, which `CallCache.run_again`
    restores.
    """

    function: Function
    bound: dict[str, Value]
    place: Place
    nested: int
    key: tuple[Any, ...]
    objects: tuple[State, ...]
    context: Context
    path: tuple[int, ...]
    assumed: Tag
    frames: tuple[Frame, ...]
    muted: int
    switches: frozenset[str]
    viewed: frozenset[str]
    in_module: bool

    @contextmanager
    def restored(self, interpreter: Machine) -> Iterator[None]:
        """Restore this state, and the present one afterwards."""
        i = interpreter
        before = (i.context, i.path, i.assumed, i.frames, i.muted, i.switches, i.viewed)
        states = [(value, _held(value)) for value, _ in self.objects]
        i.context, i.path, i.assumed, i.muted = self.context, self.path, self.assumed, self.muted
        i.frames, i.switches, i.viewed = list(self.frames), set(self.switches), set(self.viewed)
        for value, state in self.objects:
            _hold(value, tuple(map(_copied, state)))
        try:
            with i.budget.apart():
                yield
        finally:
            for value, state in states:
                _hold(value, state)
            i.context, i.path, i.assumed, i.frames, i.muted, i.switches, i.viewed = before


def states(values: Iterable[Any]) -> tuple[State, ...]:
    """Return objects with their contents."""
    return tuple((value, tuple(map(_copied, _held(value)))) for value in values)


def _held(value: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in _SLOTS[type(value)])


def _hold(value: Any, state: tuple[Any, ...]) -> None:
    for name, part in zip(_SLOTS[type(value)], state, strict=True):
        setattr(value, name, part)


def _copied(part: Any) -> Any:
    """Return a part that later writes to the object leave unchanged."""
    return copy(part) if type(part) is dict or type(part) is list else part
