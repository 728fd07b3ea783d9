"""``def`` and ``class``: evaluating headers, and keeping bodies for later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.calling import call_value, note_handed, wrapped_function
from shardlint.inference.classes import attribute_along, lineage
from shardlint.inference.context import Frame, Scope
from shardlint.inference.functions import Code
from shardlint.inference.overlays import base_class
from shardlint.inference.overlays.jax_specs import SPEC, subclassed
from shardlint.inference.overlays.py_dataclasses import declare_fields, decorator_of, make_dataclass
from shardlint.inference.overlays.py_enums import is_enumeration, make_members
from shardlint.inference.selves import override, set_by_methods
from shardlint.inference.syntax import FunctionPart
from shardlint.inference.units import NodePlace, Unit
from shardlint.inference.values import (
    Bound,
    ClassValue,
    Const,
    External,
    Function,
    LibraryObject,
    Partial,
    Value,
)
from shardlint.inference.variables import write
from shardlint.laws.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter


def define_function(interpreter: Interpreter, code: Code, part: FunctionPart | None = None) -> None:
    """Execute a ``def``: evaluate defaults and decorators and bind the name."""
    from shardlint.inference.expressions import evaluate

    scope = interpreter.scope
    function = Function(code.name, code, scope)
    if scope.is_class:
        owner = scope.variables.get("__class__")
        function.owner = owner if isinstance(owner, ClassValue) else None
    interpreter.define(function)
    value: Value = function
    if part is not None and part.plain:
        function.defaults.update((name, Const(default)) for name, default in part.defaults)
    else:
        node = code.header
        assert isinstance(node, cst.FunctionDef)
        function.origin = NodePlace(code.header_unit, node.name)
        with interpreter.in_unit(code.header_unit):
            for parameter in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
                if parameter.default is not None:
                    function.defaults[parameter.name.value] = evaluate(interpreter, parameter.default)
            for decorator in reversed(node.decorators):
                applied = evaluate(interpreter, decorator.decorator)
                value = _decorate(interpreter, applied, value, interpreter.place(decorator.decorator))
    write(interpreter, scope.target(code.name), code.name, value)


def _decorate(interpreter: Interpreter, decorator: Value, value: Value, place: NodePlace) -> Value:
    if isinstance(decorator, LibraryObject) and decorator.kind in ("builtins.property", "keeps"):
        return value
    result = call_value(interpreter, decorator, [value], {}, place)
    function = wrapped_function(value)
    if function is not None and wrapped_function(result) is not function:
        # Whatever stands for it may be called at any time.
        note_handed(interpreter, function)
    if isinstance(result, Unknown) and isinstance(value, Function):
        # Somebody else's decorator: what it makes is unknown, and the function is an entry of its own.
        return Unknown(f"`{value.name}` is decorated by something unknown")
    return result


def define_class(
    interpreter: Interpreter, node: cst.ClassDef, unit: Unit, body: Callable[[], object]
) -> None:
    """Execute a ``class``: evaluate its bases, run its body in a scope of its own, bind the name."""
    from shardlint.inference.expressions import evaluate

    with interpreter.in_unit(unit):
        bases = tuple(evaluate(interpreter, base.value) for base in node.bases)
        decorators = [evaluate(interpreter, decorator.decorator) for decorator in node.decorators]
        keywords = {
            keyword.keyword.value: evaluate(interpreter, keyword.value)
            for keyword in node.keywords
            if keyword.keyword is not None and keyword.keyword.value != "metaclass"
        }
        origin = interpreter.place(node.name)
    if any(isinstance(base, External) and base.name == SPEC for base in bases):
        subclassed(interpreter, node.name.value, origin)
    cls = ClassValue(
        node.name.value,
        tuple(_base(base) for base in bases),
        {},
        origin=origin,
        module=interpreter.scope.root.module,
        path=interpreter.path,
    )
    scope = Scope(interpreter.scope.module, interpreter.scope, is_class=True, path=interpreter.path)
    scope.variables["__class__"] = cls
    frame = Frame(scope, unit, path=interpreter.path)
    interpreter.frames.append(frame)
    try:
        body()
    finally:
        interpreter.frames.pop()
    del scope.variables["__class__"]
    cls.attributes = dict(scope.variables)
    for base in lineage(cls)[1:]:
        if isinstance(base, ClassValue):
            override(interpreter, base, cls.attributes.keys() | set_by_methods(cls))
    declare_fields(cls, interpreter.annotated.pop(id(scope), {}))
    if is_enumeration(cls):
        make_members(interpreter, cls, origin)
    hook = attribute_along(lineage(cls)[1:], "__init_subclass__")
    if isinstance(hook, Function):
        call_value(interpreter, Bound(hook, cls), [], keywords, origin)
    made: Value = cls
    for decorator in reversed(decorators):
        made = _decorate_class(interpreter, decorator, made, origin)
    write(interpreter, interpreter.scope.target(cls.name), cls.name, made)


def _decorate_class(interpreter: Interpreter, decorator: Value, cls: Value, place: NodePlace) -> Value:
    if isinstance(cls, ClassValue):
        if (found := decorator_of(decorator)) is not None:
            make_dataclass(cls, *found)
            return cls
        if _keeps(decorator):
            return cls
    made = call_value(interpreter, decorator, [cls], {}, place)
    return made if isinstance(made, ClassValue) else Unknown("a class decorated by something unknown")


def _base(base: Value) -> Value:
    """A subscripted generic counts as what it is made of."""
    return base_class(base.function if isinstance(base, Partial) else base)


def _keeps(decorator: Value) -> bool:
    """Whether a class decorator is known to return the class."""
    if isinstance(decorator, LibraryObject):
        return decorator.kind == "keeps"
    return isinstance(decorator, External) and decorator.name.startswith(
        ("functools.total_ordering", "typing.", "abc.", "enum.")
    )
