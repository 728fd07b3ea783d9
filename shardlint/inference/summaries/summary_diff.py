"""Comparing runs of one call: what another one gives, and what it depends on besides."""

from __future__ import annotations

from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any

from shardlint.inference.domain.kinds import CHANGING, FROZEN
from shardlint.inference.domain.values import Instance, Value
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.machine.variable_reads import holder_of, outside
from shardlint.inference.store.field_reads import ALL
from shardlint.inference.summaries.canonical_keys import Keys, TooLarge, scopes_around
from shardlint.inference.summaries.summary import Besides, Kept, kept_read

#: What limits the validity of a run.
_LIMITS = ("depth", "closes", "height", "nested", "circumstances")


class Comparison:
    """Compares runs by the keys of an analysis."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def alike(self, one: Kept, other: Kept) -> bool:
        """Whether two runs of one call give the same."""
        return (
            all(getattr(one, name) == getattr(other, name) for name in _LIMITS)
            and (one.given.sizes, one.given.tests) == (other.given.sizes, other.given.tests)
            and one.given.assumed == other.given.assumed
            and list(map(id, one.given.objects)) == list(map(id, other.given.objects))
            and self._result_key(one) == self._result_key(other)
        )

    def besides(self, one: Kept, other: Kept) -> list[Besides] | None:
        """What another run of the same call reads that this one did not.

        None if that is not of modules alone, or may change.
        """
        around, known = scopes_around(one.function.scope), {*one.fixed.names, *one.read_names}
        found = [
            Besides(module.scope, name, value)
            for module in other.fixed.modules
            for name, value in module.read
            if (module.scope, name) not in known
        ]
        for anchor, name, value, _ in other.given.reads:
            if (anchor, name) in known:
                continue
            scope = around[anchor] if isinstance(anchor, int) else anchor
            if not isinstance(scope, Scope) or not self._is_of_module(scope, name, value):
                return None
            found.append(Besides(scope, name, value))
        return found

    def _is_of_module(self, scope: Scope, name: str, value: Value | None) -> bool:
        """Whether code in a scope reads this of the module, which never changes, or finds nothing."""
        holder = holder_of(scope, name)
        with suppress(TooLarge):
            return holder is None or (holder is scope.root and self._keys.is_fixed(value))
        return False

    def read_besides(self, one: Kept, more: Iterable[Besides]) -> None:
        """Let a run depend on more variables, which a run that it met reads now."""
        around, known = scopes_around(one.function.scope), {*one.fixed.names, *one.read_names}
        depths = {id(scope): depth for depth, scope in enumerate(around)}
        for scope, name, value in more:
            anchor = outside(scope, name, one.start)
            if anchor is None or (depths.get(id(anchor), anchor), name) in known:
                continue
            if anchor.parent is None:
                one.fixed = one.fixed.with_(anchor, name, value)
            else:
                read = kept_read(self._keys, depths, anchor, name)
                for given in (one.given, *([one.part.given] if one.part else [])):
                    given.reads = [*given.reads, read]

    def suits_others(self, one: Kept, looks: Iterable[str]) -> bool:
        """Whether a run's result still is that for all who were given it, where it looks at this now."""
        part = one.part
        more = set() if part is None or not part.others else {*looks} - {*part.looks}
        if part is None or not more:
            return True
        return ALL not in more and all(
            self._is_the_same(part.held.get(what), other.get(what))
            for other in part.others.values()
            for what in more
        )

    def _is_the_same(self, one: Any, other: Any) -> bool:
        """Whether two values, or whatever is known of objects, are equal, and stay so."""
        if one is None or other is None or not (type(one) in FROZEN and type(other) in FROZEN):
            return bool(one is other and type(one) not in CHANGING)
        keys = self._keys
        with suppress(TooLarge):
            return keys.is_fixed(one) and keys.is_fixed(other) and keys.of(one) == keys.of(other)
        return False

    def look_further(self, one: Kept, looks: Set[str]) -> None:
        """Let a run have looked at this of all objects that it was given: a run that it met does of one."""
        objects = [value.born for value in one.given.objects if isinstance(value, Instance)]
        one.looked = one.looked | {(number, what): None for number in objects for what in looks}
        if one.part is not None:
            one.part = replace(one.part, looks=tuple(sorted({*one.part.looks, *looks})), key=None)

    def _result_key(self, one: Kept) -> int | None:
        """What a run gave, beside what it was given; None if that is too large."""
        sizes = {symbol: number for number, symbol in enumerate(one.given.sizes)}
        tests = {test: number for number, test in enumerate(one.given.tests)}
        self._keys.resume(one.function.scope, one.given.objects, sizes, tests)
        try:
            return self._keys.of(one.result)
        except TooLarge:
            return None
