"""``def`` and ``class``: headers are evaluated, and function bodies stored for later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.classes import attribute_along, class_attribute, lineage
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    LibraryObject,
    Partial,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Frame, Scope, meant
from shardlint.inference.evaluation.descriptors import intercepts, name_descriptors
from shardlint.inference.interpreter.call_dispatch import call_value, note_escape, wrapped_function
from shardlint.inference.machine.code import Code
from shardlint.inference.overlays.class_hooks import base_class
from shardlint.inference.overlays.jax.sharding.specs import SPEC, subclassed
from shardlint.inference.overlays.python.builtins.objects import SOURCE, SOURCE_CLASSES
from shardlint.inference.overlays.python.stdlib.dataclasses import (
    declare_fields,
    decorator_of,
    make_dataclass,
)
from shardlint.inference.overlays.python.stdlib.enums import is_enumeration, make_members
from shardlint.inference.overlays.testing.marks import is_skipped
from shardlint.inference.semantics.variables import write
from shardlint.inference.summaries.receiver_summary import method_in, override, set_by_methods
from shardlint.inference.syntax.file_parts import FunctionPart
from shardlint.inference.syntax.units import NodePlace, Unit
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def define_function(interpreter: Machine, code: Code, part: FunctionPart | None = None) -> None:
    """Execute a ``def``: evaluate defaults and decorators, and bind the name."""
    scope = interpreter.scope
    code.within = scope.within
    function = Function(code.name, code, scope)
    if scope.is_class:
        owner = scope.variables.get("__class__")
        function.owner = owner if isinstance(owner, ClassValue) else None
    interpreter.define(function)
    value: Value = function
    if part is not None and part.plain:
        function.defaults.update((meant(scope, name), Const(default)) for name, default in part.defaults)
    else:
        node = code.header
        assert isinstance(node, cst.FunctionDef)
        function.origin = NodePlace(code.header_unit, node.name)
        with interpreter.in_unit(code.header_unit):
            decorators = [
                (interpreter.evaluate(decorator.decorator), interpreter.place(decorator.decorator))
                for decorator in node.decorators
            ]
            for parameter in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
                if parameter.default is not None:
                    name = meant(scope, parameter.name.value)
                    function.defaults[name] = interpreter.evaluate(parameter.default)
            for decorator, place in reversed(decorators):
                value = _decorate(interpreter, decorator, value, place)
    if isinstance(value, Const) or is_skipped(value):
        # Its decorators have replaced it, or skip it: it is never called.
        interpreter.reached.add(code.key)
    bound = meant(scope, code.name)
    write(interpreter, scope.target(bound), bound, value)


def _decorate(interpreter: Machine, decorator: Value, value: Value, place: NodePlace) -> Value:
    if isinstance(decorator, LibraryObject) and decorator.kind == "keeps":
        return value
    result = call_value(interpreter, decorator, [value], {}, place)
    function = wrapped_function(value)
    if function is not None and wrapped_function(result) is not function:
        # The replacement may call it at any time.
        note_escape(interpreter, function)
    if isinstance(result, Unknown) and isinstance(value, Function):
        # Somebody else's decorator: what it makes is unknown, and the function is an entry of its own.
        return Unknown(f"`{value.name}` is decorated by something unknown")
    return result


#: How many classes a class may derive from without costing steps.
_MOST_BASES = 32


def define_class(interpreter: Machine, node: cst.ClassDef, unit: Unit, body: Callable[[], object]) -> None:
    """Execute a ``class``: evaluate its bases, run its body in its own scope, and bind the name."""
    with interpreter.in_unit(unit):
        decorators = [interpreter.evaluate(decorator.decorator) for decorator in node.decorators]
        bases = tuple(interpreter.evaluate(base.value) for base in node.bases)
        keywords = {
            keyword.keyword.value: interpreter.evaluate(keyword.value)
            for keyword in node.keywords
            if keyword.keyword is not None
        }
        origin = interpreter.place(node.name)
    if any(isinstance(base, External) and base.name == SPEC for base in bases):
        subclassed(interpreter, node.name.value, origin)
    cls = ClassValue(
        node.name.value,
        tuple(_base(interpreter, base) for base in bases),
        {},
        origin=origin,
        module=interpreter.scope.root.module,
        path=interpreter.path,
        metaclass=_metaclass(keywords.pop("metaclass", None), bases),
    )
    cls.opaque = cls.metaclass is not None
    scope = Scope(interpreter.scope.module, interpreter.scope, is_class=True, path=interpreter.path)
    scope.within = cls.name
    scope.variables["__class__"] = cls
    frame = Frame(scope, unit, path=interpreter.path)
    interpreter.frames.append(frame)
    try:
        body()
    finally:
        interpreter.frames.pop()
    cls.attributes = {name: value for name, value in scope.variables.items() if value is not cls}
    cls.intercepts = intercepts(cls)
    inherited, own = lineage(cls)[1:], cls.attributes.keys() | set_by_methods(cls)
    interpreter.budget.tick(max(0, len(inherited) - _MOST_BASES))
    for base in inherited:
        if isinstance(base, ClassValue):
            override(interpreter, base, own)
    declare_fields(cls, interpreter.annotated.pop(scope.born, {}))
    if is_enumeration(cls):
        make_members(interpreter, cls, origin)
    name_descriptors(interpreter, cls, origin)
    hook = attribute_along(lineage(cls)[1:], "__init_subclass__")
    if isinstance(hook, LibraryObject) and hook.kind == "builtins.classmethod":
        hook = hook.fields["function"]
    if isinstance(hook, Function):
        call_value(interpreter, Bound(hook, cls), [], keywords, origin)
    created: Value = cls if cls.metaclass is None else _made_by(interpreter, cls, cls.metaclass, origin)
    for decorator in reversed(decorators):
        created = _decorate_class(interpreter, decorator, created, origin)
    bound = meant(interpreter.scope, cls.name)
    write(interpreter, interpreter.scope.target(bound), bound, created)


def _metaclass(given: Value | None, bases: tuple[Value, ...]) -> Value | None:
    """Return a class's metaclass if it is the program's or unknown; library metaclasses have no effect."""
    inherited = [base.metaclass for base in bases if isinstance(base, ClassValue)]
    found = next((one for one in (given, *inherited) if one is not None), None)
    return None if isinstance(found, External) else found


def _made_by(interpreter: Machine, cls: ClassValue, maker: Value, place: NodePlace) -> Value:
    """Return what a metaclass of the program creates: the class, or whatever a function returns."""
    if not isinstance(maker, ClassValue):
        created = call_value(
            interpreter, maker, [Const(cls.name), Tuple(cls.bases), DictValue(None)], {}, place
        )
        return cls if isinstance(created, Unknown) else created
    for name in ("__prepare__", "__new__", "__init__"):
        method = method_in(class_attribute(maker, name) or NONE)
        if method is not None:
            interpreter.unseen.call(method, [cls], {}, "called by a metaclass")
    interpreter.unseen.note_special_methods(maker, {})
    return cls


def _decorate_class(interpreter: Machine, decorator: Value, cls: Value, place: NodePlace) -> Value:
    if isinstance(cls, ClassValue):
        if (found := decorator_of(decorator)) is not None:
            make_dataclass(cls, *found)
            return cls
        if _keeps(decorator):
            return cls
    decorated = call_value(interpreter, decorator, [cls], {}, place)
    return (
        decorated if isinstance(decorated, ClassValue) else Unknown("a class decorated by something unknown")
    )


def _base(interpreter: Machine, base: Value) -> Value:
    """Return the class that a base expression stands for: a subscripted generic stands for its origin."""
    cls = base_class(base.function if isinstance(base, Partial) else base)
    if isinstance(cls, External) and cls.name in SOURCE_CLASSES:
        # Its methods are evaluated like those of the program.
        run = interpreter.project.run_file(interpreter, SOURCE)
        return run.scope.variables.get(SOURCE_CLASSES[cls.name], cls)
    return cls


def _keeps(decorator: Value) -> bool:
    """Return whether a class decorator is known to return the class."""
    if isinstance(decorator, LibraryObject):
        return decorator.kind == "keeps"
    return isinstance(decorator, External) and decorator.name.startswith(
        ("functools.total_ordering", "typing.", "abc.", "enum.")
    )
