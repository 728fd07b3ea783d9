"""Replay of a summary at a call site: its effects are applied and the objects it created are instantiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from shardlint.inference.domain.values import Function, Instance, Tuple, Value
from shardlint.inference.machine.trace import Note, Trace
from shardlint.inference.machine.variable_reads import note_read
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.summaries.canonical_keys import Keys, enclosing_scopes
from shardlint.inference.summaries.instantiation import Instantiation
from shardlint.inference.summaries.summary import CallSummary
from shardlint.model.spans import Place
from shardlint.model.uses import ArrayUse, ParameterUse, Use
from shardlint.support.lazy_dataclass import replace

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Steps charged for each copy of a use, since it is judged too.
_COPY = 12


def note_summary(interpreter: Machine, trace: Trace, one: CallSummary | None) -> None:
    """Record that a call was trace, or its trace if it is not cached: needed for programs that are edited."""
    if not interpreter.settings.editing:
        return
    if one is None:
        trace.add_calls_to(interpreter)
    else:
        interpreter.cached_calls.extend((one,))


def record(interpreter: Machine, uses: Sequence[Use], notes: list[Note]) -> None:
    """Record uses and notes, as variants of one another where the call is one of several alternatives."""
    variant, variants = interpreter.variants
    if variants > 1:
        uses = [
            replace(
                use,
                variant=variant * use.variants + use.variant,
                variants=variants * use.variants,
                supposed=use.supposed or interpreter.supposes,
            )
            for use in uses
        ]
    elif interpreter.settings.exhaustive:
        # Each call makes parameters of its own, and reports count them; findings are the same without.
        uses = [replace(use) if isinstance(use, ParameterUse) and not use.path else use for use in uses]
    interpreter.uses.extend(uses)
    interpreter.notes.extend(notes)


def charge_for_copies(interpreter: Machine, one: CallSummary) -> None:
    """Charge steps for uses that became variants, which nothing else bounds. Raises Exhausted."""
    if interpreter.variants[1] > 1 and not interpreter.is_silent:
        judged = sum(not isinstance(use, ArrayUse) for use in one.trace.uses)
        interpreter.budget.tick(judged * _COPY)


def replay(
    interpreter: Machine,
    one: CallSummary,
    keys: Keys,
    function: Function,
    place: Place,
    nested: int,
    makes: Instance | None,
) -> Value:
    """Apply a summary to a call whose keys were computed just now, and return its result."""
    inputs = one.inputs
    one.trace.add_to(interpreter, again=True)
    note_summary(interpreter, one.trace, one)
    if one.nested is None:
        interpreter.deepest = max(interpreter.deepest, nested + one.height)
    else:
        interpreter.cut = True
    EFFECTS.asked |= one.circumstances.keys()
    if interpreter.reads is not None:
        one.fixed.note(interpreter)
        around = enclosing_scopes(function.scope)
        for anchor, name, _, _ in inputs.reads:
            note_read(interpreter, around[anchor] if isinstance(anchor, int) else anchor, name)
    uses = one.uses_at(place, interpreter.context.entry)
    if not interpreter.is_silent:
        record(interpreter, uses, one.trace.notes)
    interpreter.budget.take(one.work)
    for use in uses:
        interpreter.budget.meet(use)
    others = [(a, b) for a, b in zip(inputs.objects, keys.objects, strict=True) if a is not b]
    same = {id(a): b for a, b in others}
    sizes = {a: b for a, b in zip(inputs.sizes, keys.symbols, strict=True) if a != b}
    tests = dict(zip(inputs.tests, keys.tests, strict=True))
    renewal = Instantiation(one.start, one.symbols, one.path, interpreter.path, same, sizes, tests)
    result = one.result
    if makes is not None:
        result, made = cast(Tuple, one.result).items
        assert isinstance(made, Instance)
        renewal.fill(makes, made)
    again = cast(Value, renewal.of(result))
    renewal.take_over(interpreter.tests)
    return again
