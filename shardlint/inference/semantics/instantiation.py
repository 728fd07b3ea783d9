"""Instantiation of the program's classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.inference.domain.builtin_bases import HOLDERS
from shardlint.inference.domain.classes import (
    PLAIN_BASES,
    all_fields,
    class_attribute,
    has_unknown_base,
    library_bases,
    lineage,
)
from shardlint.inference.domain.havoc import forget, lose_code
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.class_hooks import FIELD_BASES, call_library_class, created, followed_bases
from shardlint.inference.overlays.python.builtins.derived_classes import hold, initialise
from shardlint.inference.overlays.python.stdlib.dataclasses import (
    field_default,
    is_init_only,
    positional_fields,
)
from shardlint.inference.overlays.python.stdlib.enums import member_of_value
from shardlint.inference.overlays.testing.unittest import TEST_CASES
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

_MAKING = ("__new__", "__init__", "__post_init__")
#: Methods of tuples that a class may override.
_OF_TUPLES = frozenset(name for name in dir(tuple) if name not in dir(object)) | {
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__", "__getattribute__",
}  # fmt: skip


def is_dataclass(cls: ClassValue) -> bool:
    """Return whether calling the class fills its annotated fields."""
    declared = any(isinstance(base, ClassValue) and base.dataclass for base in lineage(cls))
    return declared or bool(library_bases(cls) & FIELD_BASES)


def instantiate(interpreter: Evaluator, call: Call, cls: ClassValue) -> Value:
    """Evaluate ``cls(...)``, after which Python may call its special methods at any time."""
    instance = _made(interpreter, call, cls)
    interpreter.unseen.note_special_methods(
        cls, instance.attributes if isinstance(instance, Instance) else {}
    )
    return instance


def _made(interpreter: Evaluator, call: Call, cls: ClassValue) -> Value:
    """Evaluate ``cls(...)`` and notify the overlays of its library bases."""
    if cls.metaclass is not None:
        return _made_unseen(interpreter, call, cls)
    maker = class_attribute(cls, "__new__")
    if maker is not None:
        return _make(interpreter, call, cls, maker)
    instance = _instantiate(interpreter, call, cls)
    if isinstance(instance, Instance):
        created(interpreter, instance, library_bases(cls))
    return instance


def _made_unseen(interpreter: Evaluator, call: Call, cls: ClassValue) -> Value:
    """Evaluate ``cls(...)`` of a class with a metaclass: it decides the call, and may call its methods."""
    methods = [class_attribute(cls.metaclass, "__call__")] if isinstance(cls.metaclass, ClassValue) else []
    methods += [
        found
        for base in lineage(cls)
        if isinstance(base, ClassValue)
        for name in _MAKING
        if (found := base.attributes.get(name)) is not None
    ]
    for method in methods:
        if isinstance(method, Function):
            interpreter.unseen.call(method, [cls, *call.args], call.kwargs, "called by a metaclass")
    for value in (*call.args, *call.kwargs.values()):
        forget(value)
    return Unknown(f"what `{cls.name}`, which has a metaclass, gives")


def _make(interpreter: Evaluator, call: Call, cls: ClassValue, maker: Value) -> Value:
    """Evaluate ``cls(...)`` of a class with ``__new__``; an instance that it returns is initialised."""
    if isinstance(maker, LibraryObject) and maker.kind == "builtins.staticmethod":
        maker = maker.fields["function"]
    instance = interpreter.call(maker, [cls, *call.args], call.kwargs, call.place, call.opaque)
    for option in options(instance):
        if isinstance(option, Instance) and cls in lineage(option.cls):
            init = class_attribute(option.cls, "__init__")
            if _generates_init(option.cls) or is_dataclass(option.cls):
                forget(option)
            elif init is not None:
                interpreter.call(Bound(init, option), call.args, call.kwargs, call.place, call.opaque)
            else:
                initialise(interpreter, option, call)
        elif isinstance(option, Unknown):
            init = class_attribute(cls, "__init__")
            if isinstance(init, Function):
                interpreter.unseen.call(
                    init, [option, *call.args], call.kwargs, "an object that is not known"
                )
    return instance


def _instantiate(interpreter: Evaluator, call: Call, cls: ClassValue) -> Value:
    bases = library_bases(cls)
    if cls.members is not None and len(call.args) == 1 and not call.kwargs:
        return member_of_value(interpreter, cls, call.args[0])
    if "typing.TypedDict" in bases and not call.args and not call.opaque:
        return DictValue(dict(call.kwargs.items()), call.place, interpreter.path)
    if cls.members is not None or "builtins.type" in bases:
        return Unknown(f"an instance of `{cls.name}`")
    known = PLAIN_BASES | HOLDERS.keys() | followed_bases()
    opaque = has_unknown_base(cls) or not bases <= known
    if (made := call_library_class(call, cls, bases)) is not None:
        return made
    instance = Instance(cls, {}, opaque, call.place, interpreter.path)
    if opaque and (has_unknown_base(cls) or not bases <= known.union(TEST_CASES)):
        # The constructor of a library's class may call methods of this one; those of test cases do not.
        lose_code(instance)
    hold(interpreter, instance, call)
    init = class_attribute(cls, "__init__")
    if init is not None and not _generates_init(cls):
        _construct(interpreter, call, instance, init, list(call.args), call.kwargs, call.opaque)
        if call.opaque:
            instance.opaque = True
        return instance
    if is_dataclass(cls):
        return _fill_fields(interpreter, call, cls, instance)
    if "typing.NamedTuple" in bases:
        if not _behaves_as_tuple(cls):
            return Unknown(f"a tuple of the class `{cls.name}`, which does as it likes")
        filled = _fill_fields(interpreter, call, cls, instance)
        if isinstance(filled, Instance) and not filled.opaque:
            return Tuple(tuple(filled.attributes.values()), call.place, tuple(filled.attributes), cls)
        return filled
    if not initialise(interpreter, instance, call) and (call.args or call.kwargs):
        instance.opaque = True
    return instance


def _behaves_as_tuple(cls: ClassValue) -> bool:
    """Return whether a class of named tuples overrides none of the methods of tuples."""
    own = (name for base in lineage(cls) if isinstance(base, ClassValue) for name in base.attributes)
    return not any(name in _OF_TUPLES for name in own)


def _generates_init(cls: ClassValue) -> bool:
    """Return whether a dataclass's generated ``__init__`` takes precedence over any written one."""
    classes = (base for base in lineage(cls) if isinstance(base, ClassValue))
    first = next((base for base in classes if base.dataclass or "__init__" in base.attributes), None)
    return first is not None and "__init__" not in first.attributes


def _fill_fields(interpreter: Evaluator, call: Call, cls: ClassValue, instance: Instance) -> Value:
    """Bind constructor arguments to dataclass fields, then run ``__post_init__``."""
    fields = all_fields(cls)
    names = list(fields)
    given = dict(zip(positional_fields(fields), call.args, strict=False)) | call.kwargs
    for name in names:
        default = fields[name]
        if name in given:
            instance.attributes[name] = given[name]
        elif call.opaque:
            instance.attributes[name] = Unknown("starred arguments")
        elif default is not None:
            instance.attributes[name] = field_default(interpreter, default, call.place)
        else:
            instance.attributes[name] = Unknown(f"`{name}` is not given")
    for name in (name for name in given if name not in fields):
        instance.attributes[name] = given[name]
    # Arguments that only `__post_init__` receives.
    passing = [instance.attributes.pop(name) for name in names if is_init_only(fields[name])]
    post = class_attribute(cls, "__post_init__")
    if post is not None:
        _construct(interpreter, call, instance, post, passing, {})
    return instance


def _construct(
    interpreter: Evaluator,
    call: Call,
    instance: Instance,
    method: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    opaque: bool = False,
) -> None:
    """Let a method set the attributes of a new object that has no other reference yet."""
    interpreter.making = instance
    try:
        interpreter.call(Bound(method, instance), args, kwargs, call.place, opaque)
    finally:
        interpreter.making = None
