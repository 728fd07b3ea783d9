"""Methods of sets and frozensets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shardlint.inference.domain.builtin_bases import held_value
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.iteration import constant, hashable
from shardlint.inference.domain.values import NONE, Const, SetValue, Tuple, Value
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.iterators import items_of
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown

_NEW = "copy difference intersection isdisjoint issubset issuperset symmetric_difference union"
_UPDATES = {
    "update": "union",
    "intersection_update": "intersection",
    "difference_update": "difference",
    "symmetric_difference_update": "symmetric_difference",
}


def _members(call: Call, given: Sequence[Value]) -> list[frozenset[Any]] | None:
    """Return the members of each of some iterables; None if they are not all known."""
    found: list[frozenset[Any]] = []
    for one in given:
        # CPython takes the members of sets without their own iterator.
        held = held_value(one)
        other = held if isinstance(held, SetValue) else one
        members = other.items if isinstance(other, SetValue) else None
        if not isinstance(other, SetValue):
            known = items_of(call.interpreter, other, call.place)
            pairs = [hashable(item) for item in known or ()]
            whole = known is not None and all(is_known for is_known, _ in pairs)
            members = frozenset(key for _, key in pairs) if whole else None
        if members is None:
            return None
        found.append(members)
    return found


def _new(name: str) -> Callable[[Call], Value]:
    """Return a method that does not change its set: ``union``, ``difference``, ``issubset``…"""

    def apply(call: Call) -> Value:
        receiver, *others = call.args
        parts = _members(call, others)
        if not isinstance(receiver, SetValue) or receiver.items is None:
            return Unknown(f"`set.{name}` of something unknown")
        if parts is None or call.opaque or call.kwargs:
            return Unknown(f"`set.{name}` of something unknown")
        made = _applied(call, name, receiver, parts)
        if not isinstance(made, frozenset):
            return Const(made)
        return SetValue(made, frozen=receiver.frozen, path=call.interpreter.path)

    return apply


def _applied(call: Call, name: str, receiver: SetValue, parts: Sequence[Any]) -> Any:
    try:
        return getattr(receiver.items, name)(*parts)
    except TypeError:
        raise CannotBind(call.name) from None


def _followed(call: Call, known: bool = True) -> SetValue | None:
    """Return the receiver if its change can be followed now; otherwise forget its members, and what the
    method is given, and return None."""
    receiver = call.args[0]
    if (
        not isinstance(receiver, SetValue)
        or receiver.items is None
        or not known
        or call.opaque
        or not call.interpreter.certain(receiver.path)
    ):
        forget(Tuple((*call.args, *call.kwargs.values())))
        return None
    changing(receiver)
    return receiver


def _update(name: str) -> Callable[[Call], Value]:
    """Return a method that changes its set as another one makes a new set."""

    def apply(call: Call) -> Value:
        parts = _members(call, call.args[1:])
        receiver = _followed(call, parts is not None)
        if receiver is not None and parts is not None:
            receiver.items = _applied(call, name, receiver, parts)
        return NONE

    return apply


def _with_member(change: Callable[[frozenset[Any], Any], frozenset[Any]]) -> Callable[[Call], Value]:
    """Return a method that changes its set by one member."""

    def apply(call: Call) -> Value:
        if len(call.args) != 2:
            raise CannotBind(call.name)
        known, member = hashable(call.args[1])
        receiver = _followed(call, known)
        if receiver is not None and receiver.items is not None:
            receiver.items = change(receiver.items, member)
        return NONE

    return apply


def _pop(call: Call) -> Value:
    """``s.pop()``: any of the members."""
    receiver = _followed(call)
    if receiver is None or receiver.items is None or len(receiver.items) != 1:
        forget(call.args[0])
        return Unknown("any of a set's members")
    (member,), receiver.items = receiver.items, frozenset()
    return constant(member)


def _clear(call: Call) -> Value:
    receiver = _followed(call)
    if receiver is not None:
        receiver.items = frozenset()
    return NONE


_CHANGES: dict[str, Callable[[Call], Value]] = {
    "add": _with_member(lambda members, one: members | {one}),
    "discard": _with_member(lambda members, one: members - {one}),
    "remove": _with_member(lambda members, one: members - {one}),
    "pop": _pop,
    "clear": _clear,
    **{name: _update(other) for name, other in _UPDATES.items()},
}
FROZENSET_METHODS: dict[str, Callable[[Call], Value]] = {name: _new(name) for name in _NEW.split()}
SET_METHODS = {**FROZENSET_METHODS, **_CHANGES}
