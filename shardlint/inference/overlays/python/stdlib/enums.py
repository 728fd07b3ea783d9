"""Enumerations of the program: members are instances of their class, created with it.

Values of `auto`, and which names are members, follow `enum` of Python 3.11 to 3.14. Differences between these
versions, and effects of metaclasses, are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import class_attribute, has_unknown_base, library_bases
from shardlint.inference.domain.lattice import same
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    Native,
    Tuple,
    Value,
    as_int,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

#: The classes of `enum`, and the built-in classes that a member may derive from as well.
_FLAGS = frozenset({"enum.Flag", "enum.IntFlag"})
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum"}) | _FLAGS
_TEXTS = frozenset({"builtins.str", "enum.StrEnum"})
_NUMBERS = frozenset({"builtins.int", "enum.IntEnum", "enum.IntFlag"})


def is_enumeration(cls: ClassValue) -> bool:
    """Return whether a class derives from one of `enum`."""
    return bool(library_bases(cls) & ENUMS)


def make_members(interpreter: Evaluator, cls: ClassValue, place: Place) -> None:
    """Turn the plain attributes of an enumeration's body into its members."""
    cls.members = {}
    bases = library_bases(cls)
    follows = bases <= (ENUMS | _TEXTS | _NUMBERS | {"builtins.object"}) and not has_unknown_base(cls)
    makes_new = any(
        class_attribute(cls, name) is not None for name in ("__new__", "_generate_next_value_", "_missing_")
    )
    before: list[Value] = []
    for name, held in list(cls.attributes.items()):
        if isinstance(held, LibraryObject) and held.kind == "enum.nonmember":
            cls.attributes[name] = held.fields["value"]
        elif _is_member(name, held):
            value = _value(bases, name, held, before) if follows and not makes_new else None
            cls.attributes[name] = member = _member(interpreter, cls, name, value, place)
            cls.members[name] = member
            before.append(member.attributes.get("_value_", Unknown("a value")))


def _is_member(name: str, held: Value) -> bool:
    if name.startswith("_") and (name.endswith("_") or name.startswith("__")):
        return False
    if isinstance(held, LibraryObject):
        return not held.kind.startswith(("builtins.", "functools."))
    return not isinstance(held, Function | Native | ClassValue)


def _value(bases: frozenset[str], name: str, held: Value, before: list[Value]) -> Value:
    """Return the value of a member, from the value in the class body."""
    if isinstance(held, LibraryObject) and held.kind == "enum.auto":
        held = _automatic(bases, name, before)
    for mixed, kind in ((_TEXTS, str), (_NUMBERS, int)):
        if bases & mixed and not (isinstance(held, Const) and type(held.value) is kind):
            return Unknown(f"what `{kind.__name__}` makes of a member's value")
    return held


def _automatic(bases: frozenset[str], name: str, before: list[Value]) -> Value:
    """Return the value of ``auto()``: one more than the last, the next bit, or the name in lower case."""
    if "enum.StrEnum" in bases:
        return Const(name.lower())
    numbers = [as_int(value) for value in before]
    known = [number for number in numbers if number is not None]
    if len(known) < len(before) or known != sorted(known):
        return Unknown("an automatic value after others")
    last = known[-1] if known else 0
    return Const(1 << last.bit_length()) if bases & _FLAGS else Const(last + 1)


def _member(
    interpreter: Evaluator, cls: ClassValue, name: str, value: Value | None, place: Place
) -> Instance:
    """Return the member of a name: an earlier one of the same value, or a new one."""
    others = cls.members or {}
    if value is not None and not isinstance(value, Unknown):
        alias = (m for m in others.values() if same(m.attributes.get("_value_", Unknown("")), value))
        if (found := next(alias, None)) is not None:
            return found
    member = Instance(cls, {"name": Const(name), "_name_": Const(name)}, origin=place, path=interpreter.path)
    interpreter.unseen.note_special_methods(cls, member.attributes)
    if value is None:
        member.opaque = True
        return member
    member.attributes["value"] = member.attributes["_value_"] = value
    init = class_attribute(cls, "__init__")
    if init is not None:
        given = list(value.items) if isinstance(value, Tuple) else [value]
        interpreter.call(Bound(init, member), given, {}, place)
    return member


def member_of_value(interpreter: Evaluator, cls: ClassValue, value: Value) -> Value:
    """``cls(value)``: the member of that value."""
    if value in (members := list((cls.members or {}).values())):
        return value
    for member in members:
        own_value = member.attributes.get("_value_", Unknown("a value"))
        outcome = interpreter.comparison("Equal", own_value, value)
        if outcome == Const(True):
            return member
        if outcome != Const(False):
            break
    return Unknown(f"which member of `{cls.name}` has that value is not known")


def _auto(call: Call) -> Value:
    return LibraryObject("enum.auto", {})


def _nonmember(call: Call) -> Value:
    (value,) = call.bind("value")
    return LibraryObject("enum.nonmember", {"value": value or NONE})


def _given(call: Call) -> Value:
    (value,) = call.bind("value")
    return value or NONE


def _functional(call: Call) -> Value:
    """``Enum("Axis", "X Y")``: an enumeration by the names of its members, or by names and values."""
    name, given, *_, mixed_in, start, _ = call.bind(
        "value", names=None, module=None, qualname=None, type=None, start=Const(1), boundary=None
    )
    text, rows, first = as_str(name), _rows(given), as_int(start)
    if text is None or rows is None or first is None or (mixed_in is not None and is_none(mixed_in)):
        raise CannotBind(call.name)
    automatic: Value = LibraryObject("enum.auto", {})
    if rows and rows[0][1] is None and first != 1:
        if call.name not in ("enum.Enum", "enum.IntEnum"):
            raise CannotBind(call.name)
        rows = [(row, Const(first + i)) for i, (row, _) in enumerate(rows)]
    attributes = {row: automatic if value is None else value for row, value in rows}
    bases = (External(call.name),) if mixed_in is None else (mixed_in, External(call.name))
    cls = ClassValue(text, bases, attributes, origin=call.place, path=call.interpreter.path)
    make_members(call.interpreter, cls, call.place)
    return cls


def _rows(given: Value | None) -> list[tuple[str, Value | None]] | None:
    """Return the members of ``Enum(name, members)``, each with its value, or None if all are automatic."""
    if (text := as_str(given)) is not None:
        return [(name, None) for name in text.replace(",", " ").split()]
    items: Sequence[Value] | None = as_items(given)
    if isinstance(given, DictValue) and given.items is not None:
        items = [Tuple((Const(name), value)) for name, value in given.items.items()]
    rows: list[tuple[str, Value | None]] = []
    for item in items or ():
        name, *value = as_items(item) or (item,)
        if (label := as_str(name)) is None or len(value) > 1:
            return None
        rows.append((label, value[0] if value else None))
    alike = len({value is None for _, value in rows}) == 1
    return rows if alike else None


TABLE: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(sorted(ENUMS), _functional),
    "enum.auto": _auto,
    "enum.nonmember": _nonmember,
    "enum.member": _given,
}
