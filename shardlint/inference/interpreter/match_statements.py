"""``match``: the values that a pattern matches, and the names it binds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.classes import all_fields, class_attribute, is_missing, lineage
from shardlint.inference.domain.havoc import forget_contents
from shardlint.inference.domain.iteration import hashable
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    ListValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
    as_str,
)
from shardlint.inference.syntax.node_fields import walk
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The outcome of a match: True with its bindings, False, or None (undecided) with possible bindings.
Bindings = dict[str, Value]
#: Python's own classes whose positional pattern is the value itself.
_SELF = frozenset(
    f"builtins.{name}" for name in "bool bytearray bytes dict float frozenset int list set str tuple".split()
)


def takes(interpreter: Machine, pattern: cst.MatchPattern, value: Value, bound: Bindings) -> bool | None:
    """Return whether a pattern matches a value; bindings are added to ``bound``."""
    if len(options(value)) > 1 and not isinstance(pattern, cst.MatchAs):
        for name in pattern_names(pattern):
            bound[name] = Unknown("bound by a pattern")
        outcomes = {takes(interpreter, pattern, option, {}) for option in options(value)}
        return outcomes.pop() if len(outcomes) == 1 else None
    if isinstance(pattern, cst.MatchAs):
        outcome = True if pattern.pattern is None else takes(interpreter, pattern.pattern, value, bound)
        if pattern.name is not None:
            bound[pattern.name.value] = value
        return outcome
    if isinstance(pattern, cst.MatchValue):
        return truth(interpreter.comparison("Equal", value, interpreter.evaluate(pattern.value)))
    if isinstance(pattern, cst.MatchSingleton):
        return truth(interpreter.comparison("Is", value, interpreter.evaluate(pattern.value)))
    if isinstance(pattern, cst.MatchOr):
        return _first(interpreter, pattern, value, bound)
    if isinstance(pattern, cst.MatchSequence):
        return _sequence(interpreter, pattern, value, bound)
    if isinstance(pattern, cst.MatchMapping):
        return _mapping(interpreter, pattern, value, bound)
    if isinstance(pattern, cst.MatchClass):
        return _class(interpreter, pattern, value, bound)
    return None


def _unknown(pattern: cst.CSTNode, bound: Bindings) -> None:
    for name in pattern_names(pattern):
        bound[name] = Unknown("bound by a pattern")


def _first(interpreter: Machine, pattern: cst.MatchOr, value: Value, bound: Bindings) -> bool | None:
    for element in pattern.patterns:
        found: Bindings = {}
        outcome = takes(interpreter, element.pattern, value, found)
        if outcome is not False:
            if outcome is None:
                _unknown(pattern, bound)
            else:
                bound.update(found)
            return outcome
    return False


def _all(outcomes: list[bool | None]) -> bool | None:
    return False if False in outcomes else None if None in outcomes else True


def _sequence(interpreter: Machine, pattern: cst.MatchSequence, value: Value, bound: Bindings) -> bool | None:
    if not isinstance(value, Tuple | ListValue):
        _unknown(pattern, bound)
        # Texts, dicts and numbers are not sequences here; specs, arrays and unknown values may be.
        return False if isinstance(value, Const | DictValue) else None
    items = as_items(value)
    if items is None:
        _unknown(pattern, bound)
        return None
    elements = list(pattern.patterns)
    star = next((i for i, e in enumerate(elements) if isinstance(e, cst.MatchStar)), None)
    if len(items) != len(elements) if star is None else len(items) < len(elements) - 1:
        return False
    outcomes: list[bool | None] = []
    for i, element in enumerate(elements):
        position = i if star is None or i < star else i - len(elements)
        if isinstance(element, cst.MatchSequenceElement):
            outcomes.append(takes(interpreter, element.value, items[position], bound))
        elif isinstance(element, cst.MatchStar) and element.name is not None:
            middle = list(items[i : len(items) - (len(elements) - i - 1)])
            bound[element.name.value] = ListValue(middle, path=interpreter.path)
    return _all(outcomes)


def _mapping(interpreter: Machine, pattern: cst.MatchMapping, value: Value, bound: Bindings) -> bool | None:
    if not isinstance(value, DictValue) or value.items is None:
        _unknown(pattern, bound)
        forget_contents(value)
        return False if isinstance(value, Const | Tuple | ListValue | SpecValue | Array) else None
    outcomes: list[bool | None] = []
    taken: set[object] = set()
    for element in pattern.elements:
        found, key = hashable(interpreter.evaluate(element.key))
        taken.add(key)
        if not found:
            _unknown(element.pattern, bound)
            outcomes.append(None)
        elif key not in value.items:
            return False
        else:
            outcomes.append(takes(interpreter, element.pattern, value.items[key], bound))
    if pattern.rest is not None:
        rest = {key: item for key, item in value.items.items() if key not in taken}
        bound[pattern.rest.value] = DictValue(rest, path=interpreter.path)
    return _all(outcomes)


def _class(interpreter: Machine, pattern: cst.MatchClass, value: Value, bound: Bindings) -> bool | None:
    place = interpreter.place(pattern)
    cls = interpreter.evaluate(pattern.cls)
    asked = interpreter.call(External("builtins.isinstance"), [value, cls], {}, place)
    outcomes = [truth(asked)]
    if outcomes == [False]:
        return False
    positions = _positions(cls, value)
    for i, element in enumerate(pattern.patterns):
        if isinstance(cls, External) and cls.name in _SELF and i == 0:
            outcomes.append(takes(interpreter, element.value, value, bound))
        elif positions is None or i >= len(positions):
            _unknown(element, bound)
            outcomes.append(None)
        else:
            part = interpreter.attribute(value, positions[i], place)
            outcomes.append(takes(interpreter, element.value, part, bound))
    for keyword in pattern.kwds:
        part = interpreter.attribute(value, keyword.key.value, place)
        if is_missing(part, value):
            return False
        outcomes.append(takes(interpreter, keyword.pattern, part, bound))
    return _all(outcomes)


def _positions(cls: Value, value: Value) -> list[str] | None:
    """Return ``__match_args__``: the attributes matched by positional patterns of a class."""
    if not isinstance(cls, ClassValue):
        return None
    written = class_attribute(cls, "__match_args__")
    if written is not None:
        names = [as_str(item) for item in as_items(written) or (Const(None),)]
        known = [name for name in names if name is not None]
        return known if len(known) == len(names) else None
    if isinstance(value, Tuple) and value.fields is not None:
        return list(value.fields)
    dataclass = any(isinstance(base, ClassValue) and base.dataclass for base in lineage(cls))
    return list(all_fields(cls)) if dataclass and isinstance(value, Instance) else None


def pattern_names(pattern: cst.CSTNode) -> list[str]:
    """Return the names that a pattern binds."""
    names: list[str] = []
    for part in walk(pattern):
        if isinstance(part, cst.MatchAs | cst.MatchStar) and part.name is not None:
            names.append(part.name.value)
        elif isinstance(part, cst.MatchMapping) and part.rest is not None:
            names.append(part.rest.value)
    return names
