"""Operands on Auto axes that XLA gathers on each device, for functions that do not work on their parts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from shardlint.inference.domain.values import (
    Array,
    MeshValue,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.indexing import sliced
from shardlint.inference.overlays.arrays.operands import Stop, given
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.jax.explicit.primitives import Open
from shardlint.inference.overlays.jax.explicit.recording import short_name
from shardlint.inference.overlays.jax.explicit.rules.indexing import FULL, kind_of, spelled
from shardlint.inference.overlays.jax.lax.shapes import is_data
from shardlint.inference.overlays.jax.operations import operation_of
from shardlint.inference.overlays.jax.sharding.movement import known_columns, layout, note_gathered, split_by
from shardlint.laws.core.dims import Dim, product
from shardlint.laws.core.values import AxisType, Mesh, Spec, entry_axes
from shardlint.model.spans import Place


def note_operand(call: Call, name: str) -> None:
    """Record the first operand of a call if it is certainly split along a dimension for which XLA gathers it.

    Inside jit an array lies as it is laid out there, outside where it is committed to; of a product it may be
    known what splits its columns.
    """
    operation = operation_of(name)
    array = next(iter(call.arguments.values()), None)
    if operation is None or operation.gathered is None or not isinstance(array, Array) or not array.shape:
        return
    found = _split(call.interpreter, array)
    partly = found is None and array.columns is not None and not call.interpreter.context.mapped
    if partly and array.columns is not None:
        found = known_columns(array.columns)
    if found is None:
        return
    split = split_by(*found) & {len(array.shape) - 1} if partly else split_by(*found)
    try:
        dimensions = operation.gathered(call, array, split)
    except (Stop, CannotBind):
        return
    _note(call.interpreter, array, found, dimensions, short_name(name), call.place, partly=partly)


def note_index(interpreter: Evaluator, array: Array, key: Value, place: Place) -> None:
    """Record an array that is indexed by a number, known to the data alone, along a dimension that is
    certainly split: XLA gathers it (JAX 0.10.2 and 0.12.0.1). Arrays of indices are looked up in parts."""
    found = _split(interpreter, array)
    if found is None or array.shape is None:
        return
    try:
        items = [item for item in spelled(key, len(array.shape)) if not is_none(item)]
        kinds = [kind_of(item) for item in items]
    except Open:
        return
    searched = frozenset(at for at, item in enumerate(items) if kinds[at] == "scalar" and is_data(item))
    if "array" not in kinds:
        _note(interpreter, array, found, searched & split_by(*found), "[]", place)


def note_cut(call: Call, name: str) -> None:
    """Record an array inside jit that `jnp.split` cuts into pieces along a dimension that is certainly split:
    as each piece lies on some of the devices, XLA moves it to split it over all (JAX 0.10.2 and 0.12.0.1)."""
    if name not in _CUTTING or call.interpreter.context.in_jit is not True:
        return
    array, given, axis = (call.argument(i, key) for i, key in enumerate(_CUT_BY))
    at = 0 if axis is None else as_int(axis)
    if not isinstance(array, Array) or not array.shape or at is None:
        return
    at = at + len(array.shape) if at < 0 else at
    size, pieces, items = array.shape[at] if at < len(array.shape) else None, as_int(given), as_items(given)
    if not isinstance(size, int):
        return
    if pieces is not None:
        bounds: list[int | None] = (
            [size * piece // pieces for piece in range(pieces + 1)] if pieces > 1 else []
        )
    else:
        bounds = [0, *map(as_int, items or ()), size] if items else []
    _note_cut(call.interpreter, array, at, bounds, short_name(name), call.place)


def note_slice(interpreter: Evaluator, array: Array, key: Value, place: Place) -> None:
    """Record an array inside jit of which a slice keeps the first elements along a dimension that is split
    for sure: they are moved as the pieces of `jnp.split` are. Further slices of it are not recorded."""
    if interpreter.context.in_jit is not True or not array.shape:
        return
    try:
        items = [item for item in spelled(key, len(array.shape)) if not is_none(item)]
    except Open:
        return
    cut = [at for at, item in enumerate(items) if item != FULL]
    if len(cut) == 1 and isinstance(item := items[cut[0]], Slice) and _is_part(item, array.shape[cut[0]]):
        first = is_none(item.start) or as_int(item.start) == 0
        stop = sliced(array.shape[cut[0]], item)
        if first and isinstance(stop, int):
            _note_cut(interpreter, array, cut[0], [0, stop], "[]", place)


def _note_cut(
    interpreter: Evaluator, array: Array, at: int, bounds: Sequence[int | None], function: str, place: Place
) -> None:
    """Record an array that is cut into pieces, if the dimension is split, perhaps as the columns of a product
    of which no more is known. A first part of it that is less than what a device holds is a small one."""
    shape, found = array.shape or (), _split(interpreter, array)
    if (found is None or at not in split_by(*found)) and at == len(shape) - 1 and array.columns is not None:
        found = known_columns(array.columns)
    if found is None or at not in split_by(*found) or interpreter.context.mapped:
        return
    size, ways = shape[at], product(found[0].size_of(axis) for axis in entry_axes(found[1].entries[at]))
    known = tuple(bound for bound in bounds if bound is not None)
    if not isinstance(size, int) or not isinstance(ways, int) or len(known) != len(bounds) or size % ways:
        return
    sizes = [stop - start for start, stop in itertools.pairwise(known)]
    large = len(sizes) > 1 or sum(sizes) * ways >= size
    if large and all(piece > 0 and piece % ways == 0 for piece in sizes):
        subject = f"`{array.name}`" if array.name else "the operand"
        note_gathered(interpreter, array, found, frozenset({at}), function, place, subject, bounds=known)


#: Functions that cut an array into pieces, and their parameters.
_CUTTING = frozenset({"jax.numpy.split", "jax.numpy.array_split"})
_CUT_BY = ("ary", "indices_or_sections", "axis")
#: Methods of ``x.at[...]`` that scatter what they are given.
_SCATTERING = frozenset({"set", "add", "subtract", "multiply", "mul", "min", "max", "apply"})


def note_update(call: Call, array: Array, key: Value) -> None:
    """Record an array of which ``x.at[key].set(y)``, or a relative of it, writes a fixed slice of rows,
    two or more but not all, of a dimension that is certainly split: XLA gathers it (JAX 0.10.2, 0.12.0.1)."""
    found, method = _split(call.interpreter, array), call.name.rpartition(".")[2]
    partly = found is None and call.interpreter.context.in_jit is True and not call.interpreter.context.mapped
    found = _known_parts(array) if partly else found
    if found is None or array.shape is None or method not in _SCATTERING:
        return
    try:
        items = [item for item in spelled(key, len(array.shape)) if not is_none(item)]
    except Open:
        return
    pairs = enumerate(zip(items, array.shape, strict=False))
    written = frozenset(at for at, (item, size) in pairs if _is_part(item, size))
    written &= split_by(*found)
    _note(call.interpreter, array, found, written, f".at[...].{method}", call.place, partly=partly)


def _is_part(item: Value, size: Dim) -> bool:
    """Return whether an index is a slice, without a step, of two rows or more of a dimension, but not all."""
    if not isinstance(item, Slice) or not (is_none(item.step) or as_int(item.step) == 1):
        return False
    rows = sliced(size, item)
    return isinstance(rows, int) and isinstance(size, int) and 1 < rows < size


def note_gathered_by_host(call: Call, array: Array, *, small: bool = True) -> None:
    """Record an array that a function on the host gets whole, if it is certainly split inside jit.

    Of what is computed row by row, the rows may be all that is known to be split (JAX 0.10.2 and 0.12.0.1);
    without ``small``, one number a row is no matter.
    """
    context = call.interpreter.context
    if context.in_jit is not True or context.mapped or not (small or len(array.shape or (0, 0)) > 1):
        return
    found = _split(call.interpreter, array)
    partly = found is None and array.shape is not None
    found = _known_parts(array) if partly else found
    if found is not None and (split := split_by(*found)):
        subject, name = f"`{array.name}`" if array.name else "the operand", short_name(call.name)
        note_gathered(call.interpreter, array, found, split, name, call.place, subject, partly=partly)


def _known_parts(array: Array) -> tuple[Mesh, Spec] | None:
    """Return mesh and spec of an array inside jit, as far as the compiler does not choose."""
    home = array.laid
    if home is None or not isinstance(home.mesh, MeshValue) or set(home.mesh.mesh.types) != {AxisType.AUTO}:
        return None
    return known_columns(home) if isinstance(home.spec, SpecValue) else None


# -- elements that the data choose -------------------------------------------------------------------------
#
# Outside of jit a mask is read on the host, and what it picks along a dimension that is split lies whole on
# all devices along it, in a shape of its own (JAX 0.10.2 and 0.12.0.1; on one device, if it picks nothing).

#: Functions that return what the data choose among all elements of an operand, and its position.
_CHOOSING = {
    **dict.fromkeys(
        (f"jax.numpy.{name}" for name in ("nonzero", "flatnonzero", "argwhere", "unique", "where")), 0
    ),
    "jax.numpy.extract": 1,
    "jax.numpy.compress": 1,
}


def note_mask(interpreter: Evaluator, array: Array, key: Value, place: Place) -> None:
    """Record an array outside of jit of which a mask picks what lies along a dimension that is split."""
    if not runs_eagerly(interpreter) or not array.shape:
        return
    at, masked = 0, frozenset[int]()
    for item in key.items if isinstance(key, Tuple) else (key,):
        if isinstance(item, Array) and item.dtype == "bool" and item.shape and not masked:
            masked = frozenset(range(at, at + len(item.shape)))
            at += len(item.shape)
        elif isinstance(item, Slice) and all(map(is_none, (item.start, item.stop, item.step))):
            at += 1
        else:
            return
    _note_chosen(interpreter, array, masked, "[]", place)


def note_choice(call: Call, name: str) -> None:
    """Record an array outside of jit among whose elements a function returns those that the data choose."""
    if name not in _CHOOSING or not runs_eagerly(call.interpreter) or given(call.kwargs.get("size")):
        return
    operands = len(call.args) + len(call.kwargs.keys() & {"x", "y", "_x", "_y"})
    array = call.args[_CHOOSING[name]] if len(call.args) > _CHOOSING[name] else None
    if not isinstance(array, Array) or not array.shape or (name.endswith(".where") and operands > 1):
        return
    dimensions = frozenset(range(len(array.shape)))
    if name.endswith((".compress", ".unique")):
        axis = call.argument(2, "axis") if name.endswith(".compress") else call.kwargs.get("axis")
        number = as_int(axis) if axis is not None else None
        if given(axis):
            if number is None:
                return
            dimensions = frozenset({number % len(array.shape)})
    _note_chosen(call.interpreter, array, dimensions, short_name(name), call.place)


def _note_chosen(
    interpreter: Evaluator, array: Array, dimensions: frozenset[int], function: str, place: Place
) -> None:
    found = _split(interpreter, array)
    if found is not None and (split := dimensions & split_by(*found)):
        subject = f"`{array.name}`" if array.name else "the operand"
        note_gathered(interpreter, array, found, split, function, place, subject, chosen=True)


def _split(interpreter: Evaluator, array: Array) -> tuple[Mesh, Spec] | None:
    """Return the layout of an array that Auto axes certainly split; None if none is known to."""
    context = interpreter.context
    home = array.laid if context.in_jit is True else array.committed
    known = layout(home) if isinstance(home, ShardingValue) else None
    return None if known is None or context.mapped or not split_by(*known) else known


def _note(
    interpreter: Evaluator,
    array: Array,
    known: tuple[Mesh, Spec],
    dimensions: frozenset[int],
    function: str,
    place: Place,
    *,
    partly: bool = False,
) -> None:
    if dimensions:
        subject = f"`{array.name}`" if array.name else "the operand"
        note_gathered(interpreter, array, known, dimensions, function, place, subject, partly=partly)
