"""Handlers of a ``try`` statement: the classes of exceptions that they catch, and those that they pass on."""

from __future__ import annotations

import libcst as cst

from shardlint.inference.syntax.node_fields import exception_names, leaves

#: Stands for classes of exceptions that a handler passes on; it is the name of none.
PASSED_ON = "(passed on)"
#: Methods by which another thread receives an exception.
_HANDING = frozenset({"put", "put_nowait", "set_exception"})


def caught_by(node: cst.Try) -> frozenset[str]:
    """Return the names of the classes that the handlers of a statement catch for good.

    Those that a handler surely passes on count as `PASSED_ON`: they are looked for, and not caught.
    """
    found: set[str] = set()
    for handler in node.handlers:
        found.update((PASSED_ON,) if _passes_on(handler) else exception_names(handler.type))
    return frozenset(found)


def _passes_on(handler: cst.ExceptHandler) -> bool:
    """Return whether a handler surely raises, or keeps the exception itself for others: in an attribute of
    an object, a queue or a future."""
    if leaves(handler.body):
        return False
    name = None if handler.name is None else handler.name.name
    lines = [line for line in handler.body.body if isinstance(line, cst.SimpleStatementLine)]
    if lines and lines[-1] is handler.body.body[-1] and isinstance(lines[-1].body[-1], cst.Raise):
        return True
    return isinstance(name, cst.Name) and any(_keeps(one, name.value) for line in lines for one in line.body)


def _keeps(statement: cst.BaseSmallStatement, name: str) -> bool:
    """Return whether a statement hands a variable's value to other code."""
    if isinstance(statement, cst.Assign):
        holders = [target.target for target in statement.targets]
        return _is_name(statement.value, name) and any(isinstance(one, cst.Attribute) for one in holders)
    call = statement.value if isinstance(statement, cst.Expr) else None
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return False
    return call.func.attr.value in _HANDING and any(_is_name(arg.value, name) for arg in call.args)


def _is_name(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
