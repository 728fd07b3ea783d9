"""Shardings and specs that a call hands to a function of the program, whose body does not read them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from shardlint.inference.domain.values import (
    DictValue,
    Function,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.machine.machine import Machine
from shardlint.inference.syntax.node_fields import is_dotted, walk
from shardlint.inference.syntax.units import BrokenText
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.spans import Place
from shardlint.model.uses import CallUse

#: Functions that may read every variable.
_SEE_ALL = frozenset({"locals", "eval", "exec", "vars"})
#: The event that a function does not read a layout that it is given.
UNREAD = "a layout (unread)"


def note_unread_arguments(
    interpreter: Machine,
    node: cst.Call,
    function: Function,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    places: dict[int | str, Place],
) -> None:
    """Record each sharding or spec among arguments by position or keyword that the function does not read.

    A method, a function in a table or behind a decorator may have to take what others of its kind do.
    """
    _, names, keyword_only = function.code.parameters
    named = {name: value for name, value in kwargs.items() if name in names or name in keyword_only}
    given = {**dict(zip(names, args, strict=False)), **named}
    layouts = {name: value for name, value in given.items() if layouts_in(value)}
    context = interpreter.context
    if not layouts or context.test or context.caught or function.code.within or not is_dotted(node.func):
        return
    header = function.code.header
    if not isinstance(header, cst.FunctionDef) or header.decorators:
        return
    for name, value in layouts.items():
        if name.startswith("_") or name in _read(function):
            continue
        key = name if name in kwargs else names.index(name)
        text = "a spec" if isinstance(value, SpecValue) else "shardings"
        silent = (
            f"`{function.name}` does not read `{name}`, which is given {text} here: nothing is laid out by it"
        )
        interpreter.record(
            CallUse(
                place=places.get(key, interpreter.place(node)),
                environment=interpreter.environment(),
                verdict=Accepted(),
                function=UNREAD,
                silent=silent,
            )
        )


def layouts_in(value: Value) -> list[ShardingValue | SpecValue]:
    """Return the shardings and specs that a value is, or that a container of nothing else holds."""
    found: list[ShardingValue | SpecValue] = []
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, ShardingValue | SpecValue):
            found.append(one)
            continue
        items = one.items if isinstance(one, DictValue | ListValue | Tuple) else None
        if not items or id(one) in seen:
            return []
        seen.add(id(one))
        waiting += items.values() if isinstance(items, dict) else items
    return found


def _read(function: Function) -> frozenset[str]:
    """Return the names in the body of a function; all its parameters' if the body reads none of them, or
    returns one as it is: such a function stands for another, where that is not there."""
    code = function.code
    parameters = frozenset((*code.parameters[1], *code.parameters[2]))
    try:
        body = code.node.body
    except BrokenText:
        return parameters
    nodes = list(walk(body))
    labels = {id(node.attr) for node in nodes if isinstance(node, cst.Attribute)}
    labels |= {id(node.keyword) for node in nodes if isinstance(node, cst.Arg)}
    found = frozenset(node.value for node in nodes if isinstance(node, cst.Name) and id(node) not in labels)
    plain = len(found) == 1 and not any(isinstance(node, cst.Call) for node in nodes)
    return parameters if plain or not found & parameters or found & _SEE_ALL else found
