"""``value[key]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.domain import name_links
from shardlint.inference.domain.class_names import ModuleName
from shardlint.inference.domain.classes import class_attribute, operator_method
from shardlint.inference.domain.havoc import forget, forget_contents, forget_variables
from shardlint.inference.domain.iteration import hashable, spec_items
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_bool,
    as_int,
    as_str,
    is_none,
    looked_up,
    unsized,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.disjunction import each_pair
from shardlint.inference.evaluation.mutation import set_item
from shardlint.inference.overlays import jaxtyping
from shardlint.inference.overlays.arrays.methods import index
from shardlint.inference.overlays.jax import joined_parts
from shardlint.inference.overlays.jax.explicit.auto_layouts import as_far_as_known, keeping_gathered
from shardlint.inference.overlays.jax.explicit.gathered_operands import note_index, note_mask, note_slice
from shardlint.inference.overlays.jax.explicit.results import finish_index
from shardlint.inference.overlays.jax.shard_map.axis_order import chosen
from shardlint.inference.overlays.jax.shard_map.indices.global_indices import indexed
from shardlint.inference.overlays.jax.shard_map.indices.local_numbers import numbered
from shardlint.inference.overlays.jax.shard_map.indices.shifted_parts import shifted
from shardlint.inference.overlays.jax.shard_map.split_dimensions import followed, split_of
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.inference.overlays.jax.sharding.device_arrays import index_devices
from shardlint.inference.overlays.jax.sharding.movement import computed_from_gathered
from shardlint.inference.overlays.numpy import known_numbers
from shardlint.inference.overlays.object_protocol import object_item
from shardlint.inference.overlays.python.builtins.spec_tables import note_lookup
from shardlint.inference.overlays.tracers import refuses_index
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


def get_item(interpreter: Evaluator, receiver: Value, key: Value, place: Place) -> Value:
    """Evaluate ``receiver[key]``."""
    return each_pair(interpreter, receiver, key, lambda r, k: _get_item(interpreter, r, k, place))


def _get_item(interpreter: Evaluator, receiver: Value, key: Value, place: Place) -> Value:
    if interpreter.context.bound_axes and refuses_index(interpreter, receiver, key, place):
        return Unknown("JAX refuses this index")
    if isinstance(receiver, Array):
        if not receiver.numpy and _is_whole(key, receiver.shape):
            return replace(receiver)
        found = finish_index(interpreter, receiver, key, index(receiver, key), place)
        if not isinstance(found, Array):
            return found
        if receiver.numbers is not None:
            return known_numbers.of_item(Call(interpreter, "[]", [receiver, key], {}, place), found)
        made = computed(interpreter, found, (receiver, key))
        call = Call(interpreter, "[]", [receiver, key], {}, place)
        if interpreter.context.bound_axes:
            made = indexed(call, "[]", numbered(call, followed(call, "[]", made), "[]"))
            made = shifted(call, "[]", made)
        else:
            note_index(interpreter, receiver, key, place)
            note_slice(interpreter, receiver, key, place)
            note_mask(interpreter, receiver, key, place)
            made = keeping_gathered(call, "[]", as_far_as_known(call, "[]", made))
            if isinstance(key, Array):
                made = computed_from_gathered(made, (receiver, key))
        if receiver.joined is not None and isinstance(made, Array):
            made = joined_parts.followed(call, "[]", (receiver, key), made, split_of(made))
        return chosen(interpreter, "[]", (receiver, key), made) if interpreter.context.orders else made
    if isinstance(receiver, Devices):
        return index_devices(receiver, key)
    if isinstance(receiver, Tuple):
        return _from_sequence(interpreter, receiver.items, key, as_tuple=True)
    if isinstance(receiver, ListValue) and receiver.items is not None:
        found = _from_sequence(interpreter, receiver.items, key, as_tuple=False)
        if isinstance(found, ListValue) and isinstance(key, Slice):
            found.kind = receiver.kind
        return found
    if isinstance(receiver, SpecValue):
        return _from_spec(interpreter, receiver, key)
    if isinstance(receiver, DictValue) and receiver.items is not None:
        return _from_dict(interpreter, receiver, key, place)
    if isinstance(receiver, ClassValue) and receiver.members is not None:
        return receiver.members.get(as_str(key) or "", Unknown(f"a member of `{receiver.name}`"))
    if isinstance(receiver, Const) and isinstance(receiver.value, str | bytes):
        return _from_string(receiver.value, key)
    if isinstance(receiver, Const):
        # A match of a regular expression.
        method = interpreter.attribute(receiver, "__getitem__", place)
        return interpreter.call(method, [key], {}, place)
    if isinstance(receiver, ClassValue | External):
        # A subscripted generic (`Float[Array, "b d"]`, `Module[int]`) is the class for our purposes.
        if isinstance(receiver, ClassValue):
            return _of_class(interpreter, receiver, key, place)
        if receiver.name == "sys.modules":
            return _module(interpreter, key, place)
        return jaxtyping.subscripted(receiver, key) or Unknown(f"`{receiver.name}[...]`")
    if isinstance(receiver, Instance):
        method = operator_method(interpreter, receiver, "__getitem__", place)
        return interpreter.call(method, [key], {}, place)
    if isinstance(receiver, LibraryObject):
        return object_item(interpreter, receiver, key, place)
    return unsized(receiver) if isinstance(receiver, Unknown) else Unknown("indexed something unknown")


def _is_whole(key: Value, shape: Shape | None) -> bool:
    """Return whether an index selects all of an array, so that JAX returns it as it is (JAX 0.10.2)."""
    keys = key.items if isinstance(key, Tuple) else (key,)
    dots = [one for one in keys if isinstance(one, Const) and one.value is ...]
    slices = [one for one in keys if isinstance(one, Slice) and bounds(one) == slice(None)]
    known = not slices or (shape is not None and len(slices) <= len(shape))
    return known and len(dots) <= 1 and len(dots) + len(slices) == len(keys)


def _of_class(interpreter: Evaluator, cls: ClassValue, key: Value, place: Place) -> Value:
    """Evaluate ``cls[key]``."""
    method = class_attribute(cls, "__class_getitem__")
    if isinstance(method, LibraryObject) and method.kind == "builtins.classmethod":
        method = method.fields["function"]
    if method is not None:
        return interpreter.call(method, [cls, key], {}, place)
    return Unknown(f"an item of `{cls.name}`") if cls.opaque else cls


def _module(interpreter: Evaluator, key: Value, place: Place) -> Value:
    """Evaluate ``sys.modules[name]``."""
    if isinstance(key, ModuleName) and key.name == interpreter.running_module.name:
        return interpreter.running_module
    if (name := as_str(key)) is None:
        # It may be this one, and whoever has it may set all its variables.
        forget_variables(interpreter.running_module)
        return Unknown("a module")
    return interpreter.import_module(name, place)


def bounds(key: Slice) -> slice | None:
    """Return a slice of known bounds, or None."""
    parts: list[int | None] = []
    for part in (key.start, key.stop, key.step):
        number = as_int(part)
        if number is None and not is_none(part):
            return None
        parts.append(number)
    return slice(*parts)


def _from_sequence(interpreter: Evaluator, items: Sequence[Value], key: Value, as_tuple: bool) -> Value:
    if isinstance(key, Slice):
        cut = bounds(key)
        if cut is None or cut.step == 0:
            forget_contents(Tuple(tuple(items)))
            return Unknown("sliced by something unknown")
        return Tuple(tuple(items[cut])) if as_tuple else ListValue(list(items[cut]), path=interpreter.path)
    number = _position(key)
    if number is None:
        # Any of the items; an index out of range raises.
        if items and 0 < len(items) <= 8:
            return join(items)
        forget_contents(Tuple(tuple(items)))
        return Unknown("indexed by something unknown")
    return items[number] if -len(items) <= number < len(items) else Unknown("index out of range")


def _position(key: Value) -> int | None:
    """Return a known index of a sequence: True is 1."""
    known = as_bool(key)
    return as_int(key) if known is None else int(known)


def _from_spec(interpreter: Evaluator, spec: SpecValue, key: Value) -> Value:
    """Evaluate ``spec[key]`` on the entries (`P.__getitem__`): a slice is a tuple, not a spec."""
    if spec.spec.unreduced or spec.spec.reduced:
        return Unknown("a spec with reductions cannot be indexed")
    return _from_sequence(interpreter, spec_items(spec), key, as_tuple=True)


def _from_dict(interpreter: Evaluator, receiver: DictValue, key: Value, place: Place) -> Value:
    found, wanted = hashable(key)
    items = receiver.items or {}
    if not found:
        note_lookup(interpreter, items, None, place)
        if receiver.default is not None:
            forget(receiver)
        forget_contents(receiver)
        return Unknown("looked up by something unknown")
    name_links.look_up(wanted, items)
    if wanted in items or receiver.default is not None:
        note_lookup(interpreter, items, wanted, place)
    if wanted in items or receiver.default is None:
        return looked_up(items.get(wanted, Unknown(f"no key {wanted!r}")), key)
    if isinstance(receiver.default, Const):
        return receiver.default
    default = interpreter.call(receiver.default, [], {}, place)
    set_item(interpreter, receiver, key, default, place)
    return default


def _from_string(text: str | bytes, key: Value) -> Value:
    if isinstance(key, Slice):
        cut = bounds(key)
        return (
            Const(text[cut]) if cut is not None and cut.step != 0 else Unknown("sliced by something unknown")
        )
    number = _position(key)
    known = number is not None and -len(text) <= number < len(text)
    return Const(text[number]) if known and number is not None else Unknown("an unknown character")
