"""Flax's logical axes: the translation of dimension names by rules.

linen (`flax.linen.spmd._logical_to_mesh_axes`) uses for each name the first of its rules whose mesh axes no
other dimension has taken. nnx (`flax.core.spmd.apply_rules`) renames: rules are a dict, and names without a
rule stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Union

from shardlint.laws.core.values import Data, Entry, Junk, Name, Spec, Unknown, entry_axes, entry_text
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided
from shardlint.laws.placement.checks import is_axis
from shardlint.laws.placement.partition_spec import normalize
from shardlint.support.lazy_dataclass import dataclass


class Mistake(StrEnum):
    """A mistake in logical names, their rules, or the mesh behind them."""

    NOT_NAMES = "not-names"
    NOT_RULES = "not-rules"
    INCONSISTENT = "inconsistent"
    REPEATED_NAME = "repeated-name"
    UNKNOWN_NAME = "unknown-name"
    UNKNOWN_MESH_AXIS = "unknown-mesh-axis"
    ONE_MESH_AXIS = "one-mesh-axis"
    CONSTRAINT_OFF = "constraint-off"
    UNNAMED_AXIS = "unnamed-axis"
    SHADOWED = "shadowed"


class Fallback(StrEnum):
    """The treatment of a constraint when a name gets no mesh axis (`flax.linen.spmd.RulesFallback`)."""

    AXIS_IS_UNSHARDED = "AXIS_IS_UNSHARDED"
    RAISE_ERROR = "RAISE_ERROR"
    NO_CONSTRAINT = "NO_CONSTRAINT"


@dataclass(frozen=True, slots=True)
class LogicalRule:
    """One rule: dimensions of this name are sharded over these mesh axes."""

    name: Entry
    axes: Entry


@dataclass(frozen=True, slots=True)
class NotAPair:
    """A rule that cannot be unpacked into a name and its axes; ``data`` as in a Junk."""

    text: str
    exception: str
    data: Data | None = None


#: Rules as in a program: a tuple or list, a Junk for anything else, or unknown.
Rules = tuple[Union[LogicalRule, NotAPair, Unknown], ...]
RuleTable = Union[Rules, Junk, Unknown]


@dataclass(frozen=True, slots=True)
class Refused:
    """Flax raises ``exception`` because of the name or rule in ``text``, of ``dimension`` if it is a name."""

    mistake: Mistake
    exception: str
    text: str
    dimension: int | None = None
    detail: str = ""

    def at(self, stage: str) -> Rejected:
        """Return the refusal as a verdict."""
        return Rejected(
            Cause.RULES, self.exception, stage, self.dimension, axis=self.text, detail=self.detail
        )


@dataclass(frozen=True, slots=True)
class Resolved:
    """Names resolved as in linen. ``spec`` has None where no rule applied.

    ``unmatched`` are the dimensions to which no rule applied, ``taken`` those of them whose rule names a mesh
    axis that another dimension has taken, with that axis.
    """

    spec: Spec
    unmatched: tuple[int, ...] = ()
    taken: tuple[tuple[int, str], ...] = ()


def resolve(names: Spec, rules: RuleTable) -> Resolved | Refused | Undecided:
    """Resolve names as linen does (`_logical_to_mesh_axes`).

    It checks the names first (TypeError for an unhashable one, ValueError for a duplicate), then the rules
    (ValueError unless they are a tuple or list), then each rule (ValueError or TypeError unless it is a
    pair).
    """
    for dimension, name in enumerate(names.entries):
        if isinstance(name, Junk) and not name.hashable:
            return Refused(Mistake.NOT_NAMES, "TypeError", name.text, dimension)
    for dimension, name in enumerate(names.entries):
        if is_axis(name) and name in names.entries[:dimension]:
            return Refused(Mistake.REPEATED_NAME, "ValueError", str(name), dimension)
    if isinstance(rules, Unknown):
        return Undecided(f"the rules are not known: {rules.reason}")
    if isinstance(rules, Junk):
        return Refused(Mistake.NOT_RULES, "ValueError", rules.text)
    if any(isinstance(name, Unknown) for name in names.entries):
        return _not_a_pair(rules) or Undecided("a name is not known")
    return _not_a_pair(rules) or _assign(names, rules)


def _assign(names: Spec, rules: Rules) -> Resolved | Undecided:
    entries: dict[int, Entry] = {d: name for d, name in enumerate(names.entries) if not is_axis(name)}
    dropped: dict[int, str] = {}
    for rule in rules:
        if not isinstance(rule, LogicalRule) or isinstance(rule.name, Unknown):
            return Undecided("a rule is not known")
        if not is_axis(rule.name) or rule.name not in names.entries:
            continue
        dimension = names.entries.index(rule.name)
        if dimension in entries:
            continue
        axes = tuple(_leaves(rule.axes))
        taken = {leaf for entry in entries.values() for leaf in _leaves(entry)}
        if any(isinstance(leaf, Unknown) for leaf in (*axes, *taken)):
            return Undecided("the mesh axes of a rule are not known")
        if both := [axis for axis in axes if axis in taken]:
            dropped.setdefault(dimension, str(both[0]))
        else:
            entries[dimension] = rule.axes
    unmatched = tuple(d for d in range(len(names)) if d not in entries)
    return Resolved(
        Spec(tuple(entries.get(d) for d in range(len(names)))),
        unmatched,
        tuple((d, dropped[d]) for d in unmatched if d in dropped),
    )


def rename(names: Spec, context: RuleTable, own: RuleTable = ()) -> Spec | Refused | Undecided:
    """Rename names as nnx does: by the rules of the context and the variable's own together.

    Where both define a name they must agree (ValueError). Of two rules for a name the last wins.
    """
    table = _composed(context, own)
    if not isinstance(table, dict):
        return table
    entries: list[Entry] = []
    for name in names.entries:
        if isinstance(name, Unknown):
            return Undecided("a name is not known")
        renamed = table.get(name, name) if _is_key(name) else name
        if any(isinstance(leaf, Unknown) for leaf in _leaves(renamed)):
            return Undecided("the mesh axes of a rule are not known")
        entries.append(renamed)
    return Spec(tuple(entries))


def _composed(context: RuleTable, own: RuleTable) -> dict[Entry, Entry] | Refused | Undecided:
    """`flax.core.spmd.composite_rules`, as a dict; a dict of rules is read as its keys."""
    if isinstance(context, Unknown) or isinstance(own, Unknown):
        return Undecided("the rules are not known")
    both = given(context) and given(own)
    table: dict[Entry, Entry] = {}
    for rules in (context, own):
        if isinstance(rules, Junk):
            if rules.falsy:
                continue
            return Refused(Mistake.NOT_RULES, "ValueError", rules.text)
        for rule in rules:
            if isinstance(rule, NotAPair):
                return Refused(Mistake.NOT_RULES, rule.exception, rule.text)
            if isinstance(rule, Unknown) or not _is_key(rule.name):
                return Undecided("a rule is not known")
            before = table.get(rule.name, rule.axes)
            if both and rules is own and before != rule.axes:
                if any(isinstance(leaf, Unknown) for leaf in (*_leaves(before), *_leaves(rule.axes))):
                    return Undecided("the mesh axes of a rule are not known")
                detail = f"{entry_text(before)} and {entry_text(rule.axes)}"
                return Refused(Mistake.INCONSISTENT, "ValueError", str(rule.name), detail=detail)
            table[rule.name] = rule.axes
    return table


def given(rules: RuleTable) -> bool:
    """Return whether rules count as given, by Python's truth value; unknown ones may be."""
    if isinstance(rules, Unknown):
        return True
    return not rules.falsy if isinstance(rules, Junk) else bool(rules)


def mesh_spec(spec: Spec) -> Spec:
    """Return ``PartitionSpec(*entries)`` of names that rules have translated to mesh axes."""
    return normalize(spec)


def shadowed(names: Spec, rules: Rules) -> list[tuple[int, tuple[str, ...]]]:
    """Return the dimensions for whose names the first rule has no mesh axis, with the axes of the first later
    rule that has some: linen takes the first rule of a name (`_logical_to_mesh_axes`)."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for dimension, name in enumerate(names.entries):
        ours = [rule for rule in rules if isinstance(rule, LogicalRule) and rule.name == name]
        if is_axis(name) and ours and ours[0].axes is None:
            later = next((axes for rule in ours if (axes := entry_axes(rule.axes))), None)
            found += [(dimension, later)] if later else []
    return found


def without_rule(names: Spec, rules: Rules) -> tuple[int, ...]:
    """Return the dimensions whose name no rule mentions."""
    known = {rule.name for rule in rules if isinstance(rule, LogicalRule)}
    return tuple(d for d, name in enumerate(names.entries) if is_axis(name) and name not in known)


def axes_given(rules: Rules) -> tuple[str, ...]:
    """Return the mesh axes to which rules map names."""
    leaves = (leaf for rule in rules if isinstance(rule, LogicalRule) for leaf in _leaves(rule.axes))
    return tuple(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, str)))


def _not_a_pair(rules: Rules) -> Refused | Undecided | None:
    for rule in rules:
        if isinstance(rule, NotAPair):
            return Refused(Mistake.NOT_RULES, rule.exception, rule.text)
        if isinstance(rule, Unknown):
            return Undecided("a rule is not known")
    return None


def _is_key(name: Name) -> bool:
    return name is None or isinstance(name, str | tuple)


def _leaves(entry: Name) -> Iterator[Name]:
    """Yield the parts of an entry that can be mesh axes; None and UNCONSTRAINED are not."""
    if isinstance(entry, tuple):
        for part in entry:
            yield from _leaves(part)
    elif entry is not None and (is_axis(entry) or not isinstance(entry, str)):
        yield entry
