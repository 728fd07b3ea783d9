"""Which tests of a program surely come out alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import Test, Value
from shardlint.inference.store.effect_log import born, depends
from shardlint.inference.syntax.node_fields import structure, walk

if TYPE_CHECKING:
    from shardlint.inference.evaluation.context import Scope
    from shardlint.inference.machine.machine import Machine

#: The identities of the values that a test reads, None for what is bound nowhere.
Read = tuple["int | None", ...]
#: In place of the structure of a test that was not met yet.
_NEW = ""
#: Calls that answer alike each time.
_STEADY = frozenset({"isinstance", "hasattr", "len"})


class Tests:
    """The tests that one analysis has met."""

    def __init__(self) -> None:
        self._structures: dict[cst.BaseExpression, str | None] = {}
        #: Values that tests read: kept, so that no later value can have the identity of one that is gone.
        self._read: list[Value] = []
        #: By the number of the scope: by how they are written and what they read.
        self._met: dict[int, dict[tuple[str, Read], Test]] = {}

    def identity(self, interpreter: Machine, test: cst.BaseExpression) -> Test:
        """What two tests share that surely have one outcome in one run of a function.

        They are written alike and read the same values; one may stand in a function inside the other's.
        """
        text = self._structures.get(test, _NEW)
        if text == _NEW:
            text = self._structures[test] = None if _may_vary(test) else structure(test)
        if text is None:
            return (born(),)
        identities: list[int | None] = []
        around: set[Scope | None] = set()
        for name in interpreter.names_in(test):
            holder = interpreter.find(name)
            around.add(holder)
            if holder is None:
                identities.append(None)
            else:
                value = holder.variables[name]
                self._read.append(value)
                identities.append(id(value))
        scope, read = interpreter.scope, tuple(identities)
        outer = around.pop() if len(around) == 1 else None
        if outer is not None and outer is not scope:
            known = self._met.get(outer.born, {}).get((text, read))
            if known is not None:
                # What the function inside does depends on the one around it.
                depends(outer.born)
                return known
        found = (scope.born, text, read)
        self._met.setdefault(scope.born, {})[text, read] = found
        return found

    def take_over(
        self, scope: Scope, other: Scope, again: Callable[[Test], Test], values: dict[int, int]
    ) -> None:
        """Let functions inside a scope find tests that were met in another one, which it takes the place of.

        They are those that ``again`` gives. ``values`` are the identities of what it holds, by those of what
        is in their places there.
        """
        found = self._met.get(other.born)
        if found is not None:
            self._met[scope.born] = {
                (text, tuple([one if one is None else values.get(one, one) for one in read])): again(test)
                for (text, read), test in found.items()
            }

    def forget_nodes(self) -> None:
        """Forget the nodes of the program, of which some are no more."""
        self._structures.clear()


def _may_vary(test: cst.BaseExpression) -> bool:
    """Whether a test calls something that may answer differently each time."""
    calls = (part.func for part in walk(test) if type(part) is cst.Call)
    return not all(type(called) is cst.Name and called.value in _STEADY for called in calls)
