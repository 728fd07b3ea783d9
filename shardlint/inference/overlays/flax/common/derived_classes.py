"""Layers of linen and nnx as base classes of a program's own, and variables of derived classes.

A class of linen has the layer's fields, which a call reads from the object. A class of nnx has a constructor,
which makes the layer's variables and sets them as attributes; the object has its layer, with the
constructor's arguments, in the attribute `LAYER`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shardlint.inference.domain.classes import class_attribute, library_bases, lineage
from shardlint.inference.domain.values import ClassValue, External, Instance, LibraryObject, Native, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.common.parameter_uses import Owner
from shardlint.inference.overlays.flax.nnx.variables import VARIABLES, make_variable
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown

Rule = Callable[[Call], Value]

#: The value of a linen layer's field that is not set.
DEFAULT = Unknown("a layer's own default")
#: The attribute that holds the layer, in an object of a class derived from a layer of nnx.
LAYER = "(layer)"


# -- linen --------------------------------------------------------------------------------------------------


def linen_class(name: str, fields: Iterable[str], forward: Rule) -> ClassValue:
    """Return a layer of linen as a class; ``forward`` evaluates a call of its instances."""
    kind = External(f"flax.linen.{name}")
    call = Native(f"flax.linen.{name}.__call__", forward, kind)
    return ClassValue(
        name, (kind, External("flax.linen.Module")), {"__call__": call}, dict.fromkeys(fields, DEFAULT)
    )


def linen_layer(module: Value, kind: str) -> LibraryObject | None:
    """Return a module as a layer of a kind, or None if it is none."""
    if isinstance(module, LibraryObject):
        return module
    if not isinstance(module, Instance) or module.forgotten or kind not in library_bases(module.cls):
        return None
    given = {name: value for name, value in module.attributes.items() if value != DEFAULT}
    return LibraryObject(kind, given, module.origin)


# -- nnx ----------------------------------------------------------------------------------------------------


def nnx_class(name: str, construct: Rule, forward: Rule) -> ClassValue:
    """Return a layer of nnx as a class, from its constructor and the rule that evaluates a call."""
    kind = External(f"flax.nnx.{name}")

    def start(call: Call) -> Value:
        instance, *args = call.args
        module = construct(Call(call.interpreter, kind.name, args, call.kwargs, call.place, call.opaque))
        if not isinstance(instance, Instance):
            return call.unknown("the object is not known")
        changing(instance)
        if isinstance(module, LibraryObject):
            known = {name: value for name, value in module.fields.items() if not isinstance(value, Unknown)}
            instance.attributes.update({**known, LAYER: module})
        else:
            instance.opaque = True
        return module if isinstance(module, Unknown) else call.unknown("nothing is returned")

    methods: dict[str, Value] = {
        "__init__": Native(f"{kind.name}.__init__", start, kind),
        "__call__": Native(f"{kind.name}.__call__", forward, kind),
    }
    return ClassValue(name, (kind, External("flax.nnx.Module")), methods)


def nnx_layer(module: Value) -> LibraryObject | None:
    """Return the layer of an object, with its current variables; None if it is unknown."""
    if isinstance(module, LibraryObject):
        return module
    layer = module.attributes.get(LAYER) if isinstance(module, Instance) else None
    if not isinstance(module, Instance) or not isinstance(layer, LibraryObject):
        return None
    now = {name: module.attributes[name] for name in layer.fields if name in module.attributes}
    return LibraryObject(layer.kind, {**layer.fields, **now}, layer.origin)


def variable_of_class(call: Call, cls: ClassValue) -> Value | None:
    """``MyParam(value, **metadata)`` of a class of variables; None if the class has its own constructor."""
    if class_attribute(cls, "__init__") is not None or class_attribute(cls, "__new__") is not None:
        return None
    kinds = [base.name for base in lineage(cls) if isinstance(base, External) and base.name in VARIABLES]
    value = call.argument(0, "value")
    if not kinds or value is None:
        return None
    metadata = {key: item for key, item in call.kwargs.items() if key not in ("value", "hijax", "ref")}
    owner = Owner("nnx", cls.name, call.place)
    variable = make_variable(call, kinds[0], value, None if call.opaque else metadata, owner, "value")
    if isinstance(variable, LibraryObject):
        variable.fields["__class__"] = cls
    return variable


#: The value of an instance of a class of the program, by the library class that it derives from.
INSTANCES: dict[str, Callable[[Call, ClassValue], Value | None]] = dict.fromkeys(VARIABLES, variable_of_class)
