"""Comparison of two summaries of one call: results, and additional reads."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.machine.variable_reads import holder_of, outside
from shardlint.inference.summaries.canonical_keys import Keys, TooLarge, enclosing_scopes
from shardlint.inference.summaries.summary import CallSummary, ExtraRead, summarised_read

#: Fields that limit the validity of a summary.
_LIMITS = ("depth", "closes", "height", "nested", "circumstances")


class Comparison:
    """Compares summaries by the keys of an analysis."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def alike(self, one: CallSummary, other: CallSummary) -> bool:
        """Return whether two runs of one call have equal results."""
        return (
            all(getattr(one, name) == getattr(other, name) for name in _LIMITS)
            and (one.inputs.sizes, one.inputs.tests) == (other.inputs.sizes, other.inputs.tests)
            and one.inputs.assumed == other.inputs.assumed
            and list(map(id, one.inputs.objects)) == list(map(id, other.inputs.objects))
            and self._result_key(one) == self._result_key(other)
        )

    def extra_reads(self, one: CallSummary, other: CallSummary) -> list[ExtraRead] | None:
        """Return the variables that another run of the same call reads and this one did not.

        None if some are not module variables, or may change.
        """
        around, known = enclosing_scopes(one.function.scope), {*one.fixed.names, *one.read_names}
        found = [
            ExtraRead(module.scope, name, value)
            for module in other.fixed.modules
            for name, value in module.read
            if (module.scope, name) not in known
        ]
        for anchor, name, value, _ in other.inputs.reads:
            if (anchor, name) in known:
                continue
            scope = around[anchor] if isinstance(anchor, int) else anchor
            if not isinstance(scope, Scope) or not self._is_of_module(scope, name, value):
                return None
            found.append(ExtraRead(scope, name, value))
        return found

    def _is_of_module(self, scope: Scope, name: str, value: Value | None) -> bool:
        """Return whether a name, read in a scope, is a module variable that never changes, or undefined."""
        holder = holder_of(scope, name)
        with suppress(TooLarge):
            return holder is None or (holder is scope.root and self._keys.is_fixed(value))
        return False

    def add_reads(self, one: CallSummary, more: Iterable[ExtraRead]) -> None:
        """Add variables to a summary's reads, since a call inside it reads them now."""
        around, known = enclosing_scopes(one.function.scope), {*one.fixed.names, *one.read_names}
        depths = {id(scope): depth for depth, scope in enumerate(around)}
        for scope, name, value in more:
            anchor = outside(scope, name, one.start)
            if anchor is None or (depths.get(id(anchor), anchor), name) in known:
                continue
            if anchor.parent is None:
                one.fixed = one.fixed.with_(anchor, name, value)
            else:
                read = summarised_read(self._keys, depths, anchor, name)
                one.inputs.reads = [*one.inputs.reads, read]

    def _result_key(self, one: CallSummary) -> int | None:
        """Return the key of a result relative to the call's inputs; None if it is too large."""
        sizes = {symbol: number for number, symbol in enumerate(one.inputs.sizes)}
        tests = {test: number for number, test in enumerate(one.inputs.tests)}
        self._keys.resume(one.function.scope, one.inputs.objects, sizes, tests)
        try:
            return self._keys.of(one.result)
        except TooLarge:
            return None
