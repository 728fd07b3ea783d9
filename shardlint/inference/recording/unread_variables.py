"""Shardings and specs that a program gives a name, and nowhere reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from shardlint.inference.domain.classes import has_unknown_base, library_bases
from shardlint.inference.domain.values import (
    DictValue,
    Instance,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.machine.machine import Machine
from shardlint.inference.recording.unread_arguments import UNREAD, layouts_in
from shardlint.inference.syntax.names_in_text import single_names
from shardlint.laws.core.values import entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.uses import UnreadVariableUse, Use

_LAYOUTS = frozenset({ShardingValue, SpecValue, DictValue, Tuple, ListValue})
#: Code that only runs as a program: no other module imports what it defines.
_PROGRAM = re.compile(r"^(?:if __name__\b|for |while |with |print\()", re.MULTILINE)
#: What may read every variable or attribute.
_SEES_ALL = re.compile(r"\b(?:locals|globals|vars|eval|exec|getattr|asdict|__dict__|__all__)\b")


def note_unread_variable(interpreter: Machine, target: cst.BaseExpression, value: Value) -> None:
    """Record a layout that gets a name which nothing reads. Of the variables of a module, and of attributes,
    the whole program decides that (see `without_read`)."""
    if type(value) not in _LAYOUTS or not _splits(value):
        return
    scope, context = interpreter.scope, interpreter.context
    named = target.attr if isinstance(target, cst.Attribute) else target
    if not isinstance(named, cst.Name) or named.value.startswith("_") or context.test or context.caught:
        return
    local = isinstance(target, cst.Name) and scope.parent is not None
    if local:
        text = interpreter.frames[-1].unit.text
        hidden = scope.is_class or scope.is_comprehension or _SEES_ALL.search(text)
        if hidden or named.value not in single_names(text):
            return
    elif not isinstance(target, cst.Name) and not _is_own_attribute(interpreter, target):
        return
    interpreter.record(
        UnreadVariableUse(
            place=interpreter.place(target),
            environment=interpreter.environment(),
            verdict=Accepted(),
            function=UNREAD,
            silent=f"nothing reads `{named.value}`, and nothing is laid out by it",
            name=named.value,
            local=local,
        )
    )


def _is_own_attribute(interpreter: Machine, target: cst.BaseExpression) -> bool:
    """Return whether a target is an attribute of ``self``, an object of a class that no library reads."""
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        return False
    receiver = interpreter.evaluate(target.value)
    return (
        target.value.value == "self"
        and isinstance(receiver, Instance)
        and not has_unknown_base(receiver.cls)
        and not library_bases(receiver.cls) - {"builtins.object"}
    )


def _splits(value: Value) -> bool:
    """Return whether a value is a sharding or a spec that splits something, or a container of such."""
    specs = [one.spec if isinstance(one, ShardingValue) else one for one in layouts_in(value)]
    return bool(specs) and all(
        isinstance(one, SpecValue) and any(map(entry_axes, one.spec.entries)) for one in specs
    )


def without_read(uses: Iterable[Use], path: str, cells: Sequence[str]) -> Iterator[Use]:
    """Yield uses without those of variables that a program may read; of a variable only the first.

    Args:
        uses: the uses of the program.
        path: its file.
        cells: the text of the file, or of each cell of a notebook.
    """
    told: set[str] = set()
    for use in uses:
        if isinstance(use, UnreadVariableUse) and not use.local:
            if use.place.path != path or use.name in told or _may_be_read(cells, use.name):
                continue
            told.add(use.name)
        yield use


def _may_be_read(cells: Sequence[str], name: str) -> bool:
    """Return whether a name occurs otherwise than where it is bound, or other code may know it."""
    text = "\n".join(cells)
    if _SEES_ALL.search(text) or not _PROGRAM.search(text):
        return True
    bound = re.findall(rf"^\s*(?:self\.)?{name}\s*=(?!=)", text, re.MULTILINE)
    return len(bound) != len(re.findall(rf"\b{name}\b", text))
