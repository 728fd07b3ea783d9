"""``value.name``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.inference.domain.builtin_bases import holder, mixed_in_value
from shardlint.inference.domain.class_names import NAMES, class_of, module_name, naming_of
from shardlint.inference.domain.classes import (
    PLAIN_BASES,
    class_attribute,
    has_unknown_base,
    library_bases,
    lineage,
    may_change,
)
from shardlint.inference.domain.havoc import NAMESPACE, blur, forget, lose_code, open_cells
from shardlint.inference.domain.values import (
    NONE,
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    Missing,
    ModuleValue,
    Native,
    Partial,
    SetValue,
    ShardingValue,
    SomeMesh,
    SpecValue,
    Tuple,
    Value,
    unsized,
)
from shardlint.inference.evaluation.descriptors import is_data, read, read_of
from shardlint.inference.evaluation.disjunction import each_option
from shardlint.inference.evaluation.iterators import is_iterator
from shardlint.inference.evaluation.monkeypatches import is_set
from shardlint.inference.evaluation.mutation import in_namespace
from shardlint.inference.evaluation.release_queries import is_there
from shardlint.inference.machine.variable_reads import note_attribute
from shardlint.inference.overlays.arrays.attributes import is_of_jax
from shardlint.inference.overlays.class_hooks import hides_attributes, instance_attribute
from shardlint.inference.overlays.command_lines.flags import FLAGS, flag
from shardlint.inference.overlays.object_protocol import object_attribute
from shardlint.inference.overlays.python.builtins.iterators import iterator_method
from shardlint.inference.overlays.python.builtins.methods import python_method
from shardlint.inference.overlays.python.stdlib.dataclasses import fields_by_name
from shardlint.inference.overlays.python.stdlib.foreign_objects import Foreign
from shardlint.inference.overlays.python.stdlib.records import named_tuple_class_attribute
from shardlint.inference.store.effect_log import changed_function
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


#: Methods that only arrays have, and whose result is partly known for any array.
_OF_ARRAYS = frozenset({"reshape", "resize"})
#: Attributes that arrays of some release have.
_FORMER = frozenset({"device_buffer", "device_buffers"})
#: Values whose attributes the overlays know. (Building a union type costs more than the check.)
_OF_LIBRARIES = (Array, Devices, MeshValue, SpecValue, ShardingValue, LibraryObject)
#: The methods and the other attributes of every object.
_OF_OBJECT = frozenset(name for name in dir(object) if callable(getattr(object, name)))
_OF_ANYTHING = frozenset({*dir(object), "__module__", "__weakref__"})
_OF_PYTHON = (Tuple, ListValue, DictValue, SetValue, Const)
#: The attribute in which dataclasses store their fields.
_FIELDS = "__dataclass_fields__"


def get_attribute(interpreter: Machine, value: Value, name: str, place: Place) -> Value:
    """Evaluate ``value.name``."""
    if isinstance(value, Alternatives):
        if name == "resize":
            for option in value.options:
                if isinstance(option, Array | Devices):
                    interpreter.change_in_place(option, None, place)
        # The alternative may depend on a test: a reference may be guarded.
        return each_option(interpreter, value, lambda option: get_attribute(interpreter, option, name, place))
    if isinstance(value, Unknown):
        if name in _OF_ARRAYS:
            return object_attribute(interpreter, Array(None), name, place)
        if name == "empty" and isinstance(value, SomeMesh):
            return Const(False)
        return value.part() if isinstance(value, Foreign) else unsized(value)
    if name == "__dict__" and isinstance(value, ModuleValue | External):
        return LibraryObject(NAMESPACE, {"of": value})
    if isinstance(value, External):
        if name in NAMES and (naming := naming_of(value, name)) is not None:
            return naming
        full = f"{value.name}.{name}"
        if full in interpreter.project.loose:
            return interpreter.project.loose[full]
        if is_set(interpreter, full):
            return Unknown(f"the program sets `{full}`")
        if is_there(interpreter, value.name) is False:
            # The holder is reported: it is gone with all that it held.
            return interpreter.project.replacement(interpreter, full)
        if interpreter.project.reference(interpreter, full, place):
            return interpreter.project.replacement(interpreter, full)
        if full.endswith(".thread_resources.env.physical_mesh") and full.startswith("jax."):
            from shardlint.inference.overlays.jax.sharding.mesh_contexts import physical_mesh

            return physical_mesh(interpreter)
        if value.name == FLAGS and interpreter.settings.defaults:
            return flag(interpreter, name, place)
        return interpreter.project.external(interpreter, full)
    if isinstance(value, ModuleValue):
        return interpreter.project.member(interpreter, value, name)
    if isinstance(value, Instance):
        return _of_instance(interpreter, value, name, place)
    if isinstance(value, ClassValue):
        return _of_class(interpreter, value, name, place)
    if is_iterator(value):
        return iterator_method(value, name)
    if name == "__class__" and (cls := class_of(value)) is not None:
        return cls
    if isinstance(value, _OF_LIBRARIES):
        if type(value) is Array and name in _FORMER and is_of_jax(value):
            interpreter.project.reference(interpreter, f"jax.Array.{name}", place)
        return object_attribute(interpreter, value, name, place)
    if isinstance(value, Tuple) and value.fields is not None:
        return _of_named_tuple(interpreter, value, name, place)
    if isinstance(value, _OF_PYTHON):
        return _of_python(value, name)
    if isinstance(value, Native):
        return _of_native(interpreter, value, name)
    if isinstance(value, Partial):
        return {"func": value.function, "args": Tuple(value.args)}.get(name, Unknown(f"`partial.{name}`"))
    if isinstance(value, Function | Bound):
        inner = value.function if isinstance(value, Bound) else value
        if isinstance(inner, Function):
            return _of_function(inner, value, name)
    return Unknown(f"attribute `{name}` is not known")


def _of_function(function: Function, value: Function | Bound, name: str) -> Value:
    if name == "__name__" and not function.renamed:
        return Const(function.name)
    if name == "__wrapped__" and function.wrapped is not None:
        return function.wrapped
    if name == "__func__" and isinstance(value, Bound):
        return function
    if name == "__self__" and isinstance(value, Bound):
        return value.receiver
    if name == "__globals__":
        run = function.scope.root.module
        return LibraryObject(NAMESPACE, {"of": ModuleValue(run.name, run)})
    if name == "__closure__":
        open_cells(function)
    if name == "__kwdefaults__" and function.defaults:
        # Any reader can mutate them.
        changed_function(function.scope.born)
        function.opaque = True
    return Unknown(f"attribute `{name}` of a function")


def _of_named_tuple(interpreter: Machine, value: Tuple, name: str, place: Place) -> Value:
    if value.fields is not None and name in value.fields:
        return value.items[value.fields.index(name)]
    found = None if value.cls is None else class_attribute(value.cls, name)
    if value.cls is None or found is None:
        return _of_python(value, name)
    return read(interpreter, found, name, value, value.cls, place)


def _of_python(value: Tuple | ListValue | DictValue | SetValue | Const, name: str) -> Value:
    found = python_method(value, name)
    if isinstance(found, Unknown):
        # A method that is not modelled may mutate it.
        forget(value)
    return found


def _of_native(interpreter: Machine, value: Native, name: str) -> Value:
    if name in value.attributes:
        if name in ("lower", "trace"):
            interpreter.called(value)
        return value.attributes[name]
    if name in ("__wrapped__", "func") and value.wraps is not None:
        return value.wraps
    if name == "__name__" and isinstance(value.wraps, Function):
        return Const(value.wraps.name)
    if name in ("lower", "trace", "eval_shape"):
        # Ahead-of-time forms of a jitted function make the same checks as a call.
        def staged(call: object) -> Value:
            result = value.call(call)  # type: ignore[arg-type]
            return result if name == "eval_shape" else LibraryObject("jax.stages", {"result": result})

        interpreter.called(value)
        return Native(f"{value.description}.{name}", staged)
    if name in ("defvjp", "defjvp", "defjvps", "defvmap", "clear_cache"):
        return Native(name, lambda call: Const(None))
    return Unknown(f"attribute `{name}` of a transformed function")


def _of_instance(interpreter: Machine, value: Instance, name: str, place: Place) -> Value:
    getter = class_attribute(value.cls, "__getattribute__") if value.cls.intercepts else None
    if getter is not None:
        return interpreter.call(Bound(getter, value), [Const(name)], {}, place)
    return plain_attribute(interpreter, value, name, place)


def plain_attribute(interpreter: Machine, value: Instance, name: str, place: Place) -> Value:
    """Read an attribute of an object as `object.__getattribute__` does."""
    if may_change(value.cls, name):
        return Unknown(f"`{value.cls.name}.{name}` may change")
    if value.cls.intercepts and is_data(found := class_attribute(value.cls, name)):
        assert found is not None
        return read(interpreter, found, name, value, value.cls, place)
    held = value.attributes.get(name)
    if held is None and "__dict__" in value.attributes:
        held = in_namespace(value, name)
    if held is not None:
        return held
    if name == "__class__" and class_attribute(value.cls, name) is None:
        return value.cls
    if name == "__dict__":
        return LibraryObject(NAMESPACE, {"of": value})
    if name == _FIELDS and (fields := fields_by_name(value.cls)) is not None:
        return fields
    found = note_attribute(interpreter, class_attribute(value.cls, name))
    if value.forgotten and not (isinstance(found, Function | Native | LibraryObject) or is_data(found)):
        forget(found or NONE)
        return Unknown(f"`{value.cls.name}.{name}` may be set elsewhere")
    if found is not None:
        return read(interpreter, found, name, value, value.cls, place)
    bases = library_bases(value.cls)
    for base in bases:
        inherited = instance_attribute(base, value, name)
        if inherited is not None:
            return inherited
    text_or_number = None if value.cls.members is None else mixed_in_value(value)
    if text_or_number is not None:
        return interpreter.attribute(text_or_number, name, place)
    elsewhere = f"`{value.cls.name}.{name}` may be set elsewhere"
    if has_unknown_base(value.cls) or (not bases <= PLAIN_BASES and holder(value.cls) is None):
        # A method of a library's may call those of the program.
        lose_code(value)
    if has_unknown_base(value.cls) or hides_attributes(bases):
        return Unknown(elsewhere)
    if name in _OF_OBJECT:
        return Bound(External(f"builtins.object.{name}"), value)
    if name in _OF_ANYTHING:
        return Unknown(f"`{value.cls.name}.{name}`")
    computes = class_attribute(value.cls, "__getattr__")
    if isinstance(computes, Function | External):
        if value.opaque:
            return Unknown(elsewhere)
        return interpreter.call(Bound(computes, value), [Const(name)], {}, place)
    return Missing(f"nothing that is followed sets `{value.cls.name}.{name}`")


def _of_class(interpreter: Machine, value: ClassValue, name: str, place: Place) -> Value:
    if any(isinstance(base, ClassValue) and may_change(base, name) for base in lineage(value)):
        return Unknown(f"`{value.name}.{name}` may change")
    found = note_attribute(interpreter, class_attribute(value, name))
    if name == "__name__" and name not in value.attributes and not value.opaque:
        return Const(value.name)
    if name == "__module__" and found is None and not value.opaque and value.module is not None:
        return module_name(value.module)
    if name == _FIELDS and (fields := fields_by_name(value)) is not None:
        return fields
    if name == "__members__" and value.members is not None:
        return DictValue(dict(value.members.items()))
    if name in ("_make", "_fields") and "typing.NamedTuple" in library_bases(value):
        return named_tuple_class_attribute(value, name)
    if name == "register" and found is None:
        # Any reader can register a class as a virtual subclass of an abstract one.
        blur(value)
    if found is None:
        unseen = has_unknown_base(value) or library_bases(value) - {"builtins.object"}
        if name == "__new__" and not unseen:
            return External("builtins.object.__new__")
        reason = f"`{value.name}.{name}` is not known"
        return Unknown(reason) if unseen else Missing(reason)
    if isinstance(found, LibraryObject) and found.kind == "builtins.classmethod":
        return Bound(found.fields["function"], value)
    if isinstance(found, LibraryObject) and found.kind == "builtins.staticmethod":
        return found.fields["function"]
    if isinstance(found, Instance) and value.members is None:
        return read_of(interpreter, found, [NONE, value], place)
    return found
