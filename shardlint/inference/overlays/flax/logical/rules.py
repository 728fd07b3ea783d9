"""Flax's logical axis rules: as written in a program, and those in effect.

linen and nnx share the context that holds them (`flax.core.spmd`). If the program leaves them to its caller,
or takes them from an unknown value, those of the configuration apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Const,
    DictValue,
    LibraryObject,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.context import assumed_rules
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.flax.common.metadata import entry_of
from shardlint.inference.overlays.jax.sharding.placement_check import junk_of, text_of
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.values import Junk, Unknown
from shardlint.laws.flax.logical_axes import LogicalRule, NotAPair, RuleTable, given


def rules_of(value: Value | None) -> RuleTable:
    """Return rules as written: pairs in a tuple or list; a Junk for any other value."""
    items = as_items(value)
    if items is not None:
        return tuple(_rule_of(item) for item in items)
    if isinstance(value, DictValue) and value.items is not None:
        return Junk(text_of(value), "dict", hashable=False, falsy=not value.items, data=data_of(value))
    if value is None or is_none(value):
        return ()
    if isinstance(value, Const):
        return junk_of(value)
    return value if isinstance(value, Unknown) else Unknown("the rules are not known")


def _rule_of(value: Value) -> LogicalRule | NotAPair | Unknown:
    pair = as_items(value)
    if (text := as_str(value)) is not None:
        pair = tuple(Const(letter) for letter in text)
    if pair is not None and len(pair) == 2:
        return LogicalRule(entry_of(pair[0]), entry_of(pair[1]))
    if pair is not None:
        return NotAPair(text_of(value), "ValueError", data_of(value))
    return (
        NotAPair(text_of(value), "TypeError", data_of(value))
        if isinstance(value, Const)
        else Unknown("a rule")
    )


def effective_rules(interpreter: Evaluator, own: Value | None) -> Value:
    """Return linen's rules: those passed to a call, else those of the context."""
    context = interpreter.context.logical_rules
    if own is None or is_none(own):
        return context
    return _assumed(interpreter, own) if _replaceable(interpreter, context) else own


def combined_rules(interpreter: Evaluator, own: Value | None) -> tuple[Value, Value | None]:
    """Return nnx's rules: those of the context and a variable's own, which it composes."""
    context = interpreter.context.logical_rules
    if isinstance(own, Unknown) and _replaceable(interpreter, context):
        return _assumed(interpreter, own), None
    return context, own


def _assumed(interpreter: Evaluator, own: Value) -> Value:
    return assumed_rules(interpreter.settings, own) if isinstance(own, Unknown) else own


def _replaceable(interpreter: Evaluator, context: Value) -> bool:
    """Return whether the program has set no rules of its own around a call."""
    if isinstance(context, Unknown):
        return False
    return context is assumed_rules(interpreter.settings, Unknown("")) or not given(rules_of(context))


def _logical_axis_rules(call: Call) -> Value:
    """``with logical_axis_rules(rules):``"""
    return LibraryObject("flax.logical_axis_rules", {"rules": _given(call)}, call.place)


def _set_logical_axis_rules(call: Call) -> Value:
    interpreter = call.interpreter
    interpreter.context = replace(interpreter.context, logical_rules=_given(call))
    return NONE


def _given(call: Call) -> Value:
    (rules,) = call.bind("rules")
    return _assumed(call.interpreter, rules or NONE)


def _get_logical_axis_rules(call: Call) -> Value:
    return call.interpreter.context.logical_rules


#: Modules that export the functions; `flax.linen.partitioning` has other names for them.
_LINEN = ("flax.linen", "flax.linen.spmd", "flax.linen.partitioning", "flax.linen.meta", "flax.core.meta")
_CORE = (*_LINEN, "flax.core.spmd")

TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"{module}.logical_axis_rules": _logical_axis_rules for module in (*_CORE, "flax.nnx")},
    **{f"{module}.set_logical_axis_rules": _set_logical_axis_rules for module in _CORE},
    **{f"{module}.get_logical_axis_rules": _get_logical_axis_rules for module in _CORE},
    "flax.linen.partitioning.axis_rules": _logical_axis_rules,
    "flax.linen.partitioning.set_axis_rules": _set_logical_axis_rules,
    "flax.linen.partitioning.get_axis_rules": _get_logical_axis_rules,
}
