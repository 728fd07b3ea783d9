"""Methods, attributes, indexing and operators of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shardlint.inference.domain.values import (
    Array,
    Const,
    LibraryObject,
    ListValue,
    Native,
    Tuple,
    Value,
    integer,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import (
    contractions,
    creation,
    elementwise,
    layout,
    reductions,
    selection,
)
from shardlint.inference.overlays.arrays.dtypes import dtype_value, itemsize, real_part
from shardlint.inference.overlays.arrays.indexing import index
from shardlint.inference.overlays.arrays.operands import (
    Stop,
    Transfer,
    dtype_argument,
    given,
    operand,
    table,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.gathered_operands import note_update
from shardlint.inference.overlays.jax.explicit.results import finish_update
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.inference.overlays.tracers import refuses
from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.tracers import Asked

__all__ = ["ATTRIBUTES", "METHODS", "binary", "index", "unary"]


def _receiver(call: Call) -> Array:
    receiver = call.args[0]
    return receiver if isinstance(receiver, Array) else operand(receiver)


def _as_function(function: Transfer) -> Transfer:
    """Return the method that calls the function of the same name in the receiver's library."""

    def transfer(call: Call) -> Value:
        library = "numpy" if _receiver(call).numpy else "jax.numpy"
        return function(replace(call, name=f"{library}.{call.name.rpartition('.')[2]}"))

    return transfer


def _with_star(function: Transfer, name: str) -> Transfer:
    """Return a method that accepts ``x.reshape(2, 3)`` as well as ``x.reshape((2, 3))``."""

    def transfer(call: Call) -> Value:
        rest = tuple(call.args[1:])
        if len(rest) > 1:
            call = replace(call, args=(call.args[0], Tuple(rest)))
        elif not rest and name not in call.kwargs and name == "shape":
            unresolved("the shape is not given")
        return _as_function(function)(call)

    return transfer


def _flatten(call: Call) -> Value:
    call.bind("a", order=None, out_sharding=None)
    x = _receiver(call)
    return Array(layout.reshaped(x.shape, (Const(-1),)), x.dtype, x.weak, x.numpy)


def _item(call: Call) -> Value:
    number = _receiver(call).numbers
    if call.place is not None:
        refuses(call.interpreter, _receiver(call), Asked.NUMBER, call.place)
    return Const(number) if isinstance(number, int | float) else Unknown("a number from an array")


def _to_list(call: Call) -> Value:
    numbers = _receiver(call).numbers
    if not isinstance(numbers, tuple):
        return _item(call)
    return ListValue([Const(number) for number in numbers], call.place, call.interpreter.path)


def _conjugate(call: Call) -> Value:
    """`x.conj()`: bool stays bool, while `numpy.conj` makes it an integer."""
    call.bind("self_")
    return _receiver(call)


def _view(call: Call) -> Value:
    _, dtype = call.bind("self_", dtype=None)
    x = _receiver(call)
    wanted = dtype_argument(dtype, x.dtype)
    same_width = wanted and x.dtype and itemsize(wanted) == itemsize(x.dtype)
    if not same_width:
        unresolved("a view of another width")
    return Array(x.shape, wanted, numpy=x.numpy)


def _unchanged(call: Call) -> Value:
    """`block_until_ready()`, `copy()` and similar methods: the array itself."""
    return _receiver(call)


_OPERATIONS = (
    *reductions.OPERATIONS,
    *layout.OPERATIONS,
    *elementwise.OPERATIONS,
    *selection.OPERATIONS,
    *creation.OPERATIONS,
    *contractions.OPERATIONS,
)


def _clip(call: Call) -> Value:
    """`x.clip(min, max)`: numpy's method, too, has the short parameter names."""
    x, low, high = call.bind("self_", min=None, max=None)
    return elementwise.apply(call, [x, *(bound for bound in (low, high) if given(bound))], elementwise.same)


def _sort(call: Call) -> Value:
    if _receiver(call).numpy:
        return Const(None)
    return selection.sort(replace(call, name="jax.numpy.sort"))


METHODS: dict[str, Transfer] = table("", {
    **{
        name: _as_function(operation.transfer)
        for operation in _OPERATIONS for name in operation.methods.split()
    },
    "reshape": _with_star(layout.reshape, "shape"),
    "transpose": _with_star(layout.transpose, "axes"),
    "resize": layout.resize_in_place,
    "__setattr__": layout.set_in_place,
    "flatten": _flatten,
    "clip": _as_function(_clip),
    "sort": _sort,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "view": _view,
    "item": _item,
    "tolist": _to_list,
    "block_until_ready": _unchanged,
})  # fmt: skip


def _library_call(numpy: bool, op: str) -> Call:
    nowhere: Any = None
    return Call(nowhere, f"{'numpy' if numpy else 'jax.numpy'} {op}".replace(" ", "."), (), {}, nowhere)


def binary(op: str, a: Value, b: Value) -> Value:
    """Return ``a op b`` where at least one side is an array; Unknown if an operand is."""
    sides = [side for side in (a, b) if isinstance(side, Array)]
    numpy = all(side.numpy for side in sides)
    call = _library_call(numpy, op)
    if any(isinstance(side, Tuple) or type(side).__name__ == "ListValue" for side in (a, b)) and not numpy:
        return Stop("not an array", rejected=True).answer("jax.numpy")
    try:
        if op == "@":
            x, y = operand(a, numpy), operand(b, numpy)
            return contractions.contracted(call, [x, y], contractions.matmul_shape(x.shape, y.shape), None)
        return elementwise.operator(call, op, a, b)
    except Stop as stop:
        return stop.answer(call.name)


def unary(op: str, a: Array) -> Value:
    """Return ``-a``, ``+a``, ``~a``, or ``abs(a)``."""
    call = _library_call(a.numpy, op)
    try:
        return elementwise.unary_operator(call, op, a)
    except Stop as stop:
        return stop.answer(call.name)


def _shape(a: Array) -> Value:
    return Unknown("the rank is not known") if a.shape is None else shape_value(a.shape)


def _size(a: Array) -> Value:
    return Unknown("the rank is not known") if a.shape is None else integer(product(a.shape))


def _ndim(a: Array) -> Value:
    return Unknown("the rank is not known") if a.shape is None else Const(len(a.shape))


def _dtype(a: Array) -> Value:
    return Unknown("the dtype is not known") if a.dtype is None else dtype_value(a.dtype)


def _itemsize(a: Array) -> Value:
    width = itemsize(a.dtype) if a.dtype else None
    return Unknown("the dtype is not known") if width is None else Const(width)


def _nbytes(a: Array) -> Value:
    width = itemsize(a.dtype) if a.dtype else None
    if width is None or a.shape is None:
        return Unknown("the size is not known")
    return integer(product(a.shape) * width)


def _transposed(a: Array) -> Value:
    shape = a.shape[::-1] if a.shape is not None else None
    return replace(a, shape=shape, sharding=None, name=None, joined=None)


def _matrix_transposed(a: Array) -> Value:
    try:
        shape = layout.swapped(a.shape, -2, -1)
    except Stop as stop:
        return stop.answer("mT")
    return replace(a, shape=shape, sharding=None, name=None, joined=None)


def _real(a: Array) -> Value:
    return Array(a.shape, real_part(a.dtype), a.weak, a.numpy)


def _at(a: Array) -> Value:
    return LibraryObject("jax.Array.at", {"array": a})


def at_index(at: LibraryObject, key: Value) -> Value:
    """Return ``x.at[key]``: its methods (`set`, `add`, …) return an array like x, `get` returns
    ``x[key]``."""
    array = at.fields.get("array")
    if not isinstance(array, Array):
        return Unknown("at[] of something unknown")
    updated = replace(array, numpy=False, sharding=None, name=None)

    def set_to(call: Call) -> Value:
        note_update(call, array, key)
        found = finish_update(call, array, key, updated)
        made = computed(call.interpreter, found, (updated, key, *call.args, *call.kwargs.values()))
        if not isinstance(found, Array) or not isinstance(made, Array):
            return made
        return replace(made, laid=found.laid)

    def get(call: Call) -> Value:
        found = finish_update(call, array, key, index(updated, key))
        return computed(call.interpreter, found, (updated, key))

    attributes: dict[str, Value] = {
        name: Native(f"at[].{name}", set_to)
        for name in ("set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply")
    }
    attributes["get"] = Native("at[].get", get)
    return LibraryObject("jax.Array.at[]", attributes)


ATTRIBUTES: dict[str, Callable[[Array], Value]] = {
    "shape": _shape,
    "size": _size,
    "ndim": _ndim,
    "dtype": _dtype,
    "itemsize": _itemsize,
    "nbytes": _nbytes,
    "T": _transposed,
    "mT": _matrix_transposed,
    "real": _real,
    "imag": _real,
    "at": _at,
}
