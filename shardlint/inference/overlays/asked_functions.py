"""Functions that no overlay knows, but a JAX that is at hand: what it told about them.

A question is a call as data: the function's canonical name, its arguments as `worker/shape_questions.py`
reads them, the types of its arrays, and the mesh on whose Explicit axes they lie. Only what is known in full
is asked. Whether there is an answer or not, the analysis depends on it (``Evaluator.questions``).
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    External,
    LibraryObject,
    ListValue,
    Slice,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.settings import Answers
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.operands import Transfer
from shardlint.inference.overlays.jax.explicit.results import finish_told
from shardlint.inference.overlays.jax.explicit.type_conversion import context_of, has_explicit
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.inference.overlays.object_protocol import as_argument
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.model.origins import ShapeAnswer, plain_kind, remembering


class _NotData(Exception):
    """Raised for an argument of which not all is known, or that is no data."""


def answered(call: Call) -> Value:
    """Return what JAX told about a call of a function; Unknown if it was not asked, or refused it."""
    result = _told(call)
    return computed(
        call.interpreter, finish_told(call, result), (*call.args, *call.kwargs.values()), sure=False
    )


def or_answered(handler: Transfer) -> Transfer:
    """Return the overlay of a function that asks JAX about the calls which it does not understand."""

    def evaluate(call: Call) -> Value:
        try:
            found = handler(call)
        except CannotBind:
            if isinstance(told := _told(call), Unknown):
                raise
            return told
        # Where the library raises, it is another kind of Unknown.
        return _told(call) if type(found) is Unknown else found

    return evaluate


def _told(call: Call) -> Value:
    interpreter, answers = call.interpreter, call.interpreter.settings.answers
    assert answers is not None
    try:
        question, mesh = _question(call)
    except _NotData as reason:
        return Unknown(f"{call.name}: {reason}")
    text = json.dumps([call.name, *question], separators=(",", ":"))
    interpreter.questions.add(text)
    try:
        return _value(call, answers, mesh, answers.get(text))
    except (ValueError, TypeError):
        # An answer may come from a file that anybody may have written.
        return Unknown(f"{call.name}: no answer")


# -- questions -----------------------------------------------------------------------------------------


def _question(call: Call) -> tuple[list[Any], Mesh | None]:
    """Return a call as data: arguments, keywords, arrays and mesh. Raises _NotData."""
    if call.opaque:
        raise _NotData("not all arguments are known")
    arrays: list[Array] = []
    args = [_data(as_argument(value), arrays) for value in call.args]
    kwargs = [[name, _data(as_argument(value), arrays)] for name, value in sorted(call.kwargs.items())]
    mesh = _mesh_of(call, arrays)
    operands = [_operand(array, mesh is not None) for array in arrays]
    return [args, kwargs, operands, None if mesh is None else _mesh_data(mesh)], mesh


def _data(value: Value, arrays: list[Array]) -> Any:
    match value:
        case Array():
            arrays.append(value)
            return ["operand", len(arrays) - 1]
        case Const():
            return _constant(value)
        case Tuple(fields=None, cls=None):
            return ["tuple", *(_data(item, arrays) for item in value.items)]
        case ListValue(items=list(items), kind="list"):
            return ["list", *(_data(item, arrays) for item in items)]
        case DictValue(items=dict(items), kind="dict"):
            pairs = ((_constant(Const(key)), _data(item, arrays)) for key, item in items.items())
            return ["dict", *([key, item] for key, item in pairs)]
        case Slice():
            return ["slice", *(_data(part, arrays) for part in (value.start, value.stop, value.step))]
        case External():
            return ["constant", value.name]
        case LibraryObject(kind="numpy.dtype") if (name := as_dtype(value)) is not None:
            return ["dtype", name]
    raise _NotData("an argument is not known, or no data")


def _constant(constant: Const) -> Any:
    if is_none(constant):
        return ["constant", "None"]
    kind, value = plain_kind(constant.value), constant.value
    if kind is complex:
        return ["complex", value.real, value.imag]
    if kind not in (bool, int, float, str):
        raise _NotData("an argument is no plain data")
    return kind(value)


def _operand(array: Array, typed: bool) -> list[Any]:
    if array.shape is None or array.dtype is None or array.struct:
        raise _NotData("an array is not known in full")
    sizes = [int(size) for size in array.shape if isinstance(size, int)]
    if len(sizes) != len(array.shape):
        raise _NotData("a size is open")
    spec = array.typed.spec if typed and array.typed is not None else None
    return [sizes, array.dtype, array.weak, None if spec is None else _entries(spec)]


def _entries(spec: Spec) -> list[Any]:
    if spec.unreduced or spec.reduced:
        raise _NotData("a sum that is not complete")
    return [list(entry) if isinstance(entry, tuple) else entry for entry in spec.entries]


def _mesh_of(call: Call, arrays: Sequence[Array]) -> Mesh | None:
    """Return the mesh whose Explicit axes are in the types; None if there are none, or not all is known."""
    types = [array.typed for array in arrays]
    meshes: set[Mesh | Unknown | None] = {kind.mesh for kind in types if kind is not None and kind.mesh}
    mesh = next(iter(meshes or {context_of(call.interpreter)}))
    if len(meshes) > 1 or not isinstance(mesh, Mesh) or not has_explicit(mesh) or None in types:
        return None
    sized = all(isinstance(size, int) for size in mesh.sizes)
    return mesh if sized and AxisType.MANUAL not in mesh.types else None


def _mesh_data(mesh: Mesh) -> list[Any]:
    return [list(mesh.names), list(mesh.sizes), [kind.value for kind in mesh.types]]


# -- answers -------------------------------------------------------------------------------------------


def _value(call: Call, answers: Answers, mesh: Mesh | None, data: Any) -> Value:
    """Return the value of an answer. Raises ValueError or TypeError for what is none."""

    def all_of(items: Sequence[Any]) -> list[Value]:
        return [_value(call, answers, mesh, item) for item in items]

    match data:
        case ["array", list(sizes), str(dtype), bool(weak), spec]:
            if not all(type(size) is int and size >= 0 for size in sizes):
                raise ValueError
            answer = ShapeAnswer(call.name, answers.release, call.place)
            shape = tuple(remembering(size, (answer,)) for size in sizes)
            typed = None if spec is None or mesh is None else _typed(mesh, spec, len(shape))
            return Array(shape, dtype, weak, origin=call.place, typed=typed)
        case ["tuple", None, *items]:
            return Tuple(tuple(all_of(items)), call.place)
        case ["tuple", list(names), *items] if len(names) == len(items):
            return Tuple(tuple(all_of(items)), call.place, fields=tuple(map(str, names)))
        case ["list", *items]:
            return ListValue(all_of(items), call.place, call.interpreter.path)
        case ["dict", list(keys), *items] if len(keys) == len(items):
            by_key: dict[Hashable, Value] = dict(zip(map(str, keys), all_of(items), strict=True))
            return DictValue(by_key, call.place, call.interpreter.path)
        case ["plain", None | bool() | int() | float() | str() as plain]:
            return Const(plain, call.place)
    return Unknown(f"{call.name}: JAX told nothing about it")


def _typed(mesh: Mesh, spec: Any, rank: int) -> TypeSharding | None:
    """Return the sharding in a type: its spec as told, on the mesh that was asked about."""
    entries = tuple(tuple(map(str, entry)) if isinstance(entry, list) else entry for entry in spec)
    plain = all(entry is None or isinstance(entry, str | tuple) for entry in entries)
    return TypeSharding(mesh, Spec(entries)) if plain and len(entries) == rank else None
