"""Arrays inside `jax.jit` that are certainly laid out in one way, and are asked for in another.

An argument arrives in the layout of in_shardings, or of what it was committed to; a constraint gives an array
another one. Where arrays of one layout are combined element by element, whoever asks for the result in
another layout makes the compiler move it: the operands before, or the result after.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from shardlint.inference.domain.histories import Gathered
from shardlint.inference.domain.values import (
    Array,
    Const,
    Integer,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
)
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import NO_PATH, arrays_at, arrays_in, map_arrays
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.memory_uses import GatherUse, MoveUse, WrittenUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact
from shardlint.support.lazy_dataclass import replace


def arrived(tree: Value, trees: Trees) -> Value:
    """Return arguments of a jitted function, called outside any jit, in the layouts they are committed to."""

    def lay(array: Array, _: str) -> Array:
        home = array.sharding if array.struct else array.committed
        if array.made is not None or array.gone is not None:
            array = replace(array, made=None, gone=None)
        return laid(array, home) if isinstance(home, ShardingValue) else array

    return map_arrays(tree, lay, NO_PATH, trees=trees, keeps=True)


def laid(array: Array, sharding: ShardingValue | None) -> Array:
    """Return an array that certainly has a layout from here on; None if nothing is known of it."""
    known = sharding is not None and layout(sharding) is not None
    return replace(
        array, laid=sharding if known else None, columns=None, made=None, gathered=None, product=None
    )


def layout(sharding: ShardingValue) -> tuple[Mesh, Spec] | None:
    """Return mesh and spec of a sharding on Auto axes; None if they are not known."""
    if not isinstance(sharding.mesh, MeshValue) or not isinstance(sharding.spec, SpecValue):
        return None
    mesh, spec = sharding.mesh.mesh, sharding.spec.spec
    return (mesh, spec) if set(mesh.types) == {AxisType.AUTO} and OPEN not in spec.entries else None


def certain_layout(array: Array) -> tuple[Mesh, Spec] | None:
    """Return mesh and spec that an array certainly has: those it was laid out by on Auto axes, or those of
    its type, if all axes of its mesh are Explicit; None if they are not known."""
    typed = array.typed
    if array.laid is not None or typed is None or typed.mesh is None:
        return None if array.laid is None else layout(array.laid)
    explicit = set(typed.mesh.types) == {AxisType.EXPLICIT}
    return (replace(typed.mesh, abstract=False), typed.spec) if explicit else None


#: The rank up to which an array may well be whole though what is written into it is split: a list of numbers,
#: or of tokens.
_RANK_OF_MATRICES = 2
#: The entry of a dimension whose layout the compiler chooses.
OPEN = Unknown("the compiler chooses its layout")


def known_part(array: Array) -> tuple[Mesh, Spec] | None:
    """Return mesh and spec of an array inside jit, of its first dimensions as far as they are known."""
    home = array.laid
    if home is None or not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return None
    mesh, entries = home.mesh.mesh, home.spec.spec.entries
    known = tuple(itertools.takewhile(lambda entry: not isinstance(entry, Unknown), entries))
    return (mesh, Spec(known)) if set(mesh.types) == {AxisType.AUTO} else None


def known_columns(home: ShardingValue) -> tuple[Mesh, Spec] | None:
    """Return mesh and spec of a product with split columns, as far as they are known."""
    if not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return None
    entries = (None if entry == OPEN else entry for entry in home.spec.spec.entries)
    return home.mesh.mesh, Spec(tuple(entries))


def _rows(array: Array) -> tuple[ShardingValue, Entry] | None:
    """Return what splits the first dimension of an array inside jit, whatever is known of the others."""
    home = array.laid
    if home is None or not array.shape or not isinstance(home.spec, SpecValue):
        return None
    if not isinstance(home.mesh, MeshValue) or set(home.mesh.mesh.types) != {AxisType.AUTO}:
        return None
    entries = home.spec.spec.entries
    return (home, entries[0]) if entries and entry_axes(entries[0]) else None


def keeping_rows(interpreter: Evaluator, result: Value, array: Value) -> Value:
    """Return a result inside jit, row by row computed from an array: its rows are split as they came, until
    something asks for another layout."""
    if not isinstance(array, Array) or not isinstance(result, Array) or result.laid is not None:
        return result
    found = _rows(array)
    if found is None or interpreter.context.in_jit is not True or not result.shape or not array.shape:
        return result
    if equal(result.shape[0], array.shape[0]) is not True:
        return result
    home, entry = found
    entries = (entry, *(OPEN,) * (len(result.shape) - 1))
    return replace(result, laid=replace(home, spec=SpecValue(Spec(entries))))


def constrained(array: Array, wanted: ShardingValue | None, place: Place, subject: str | None) -> Array:
    """Return an array that a constraint lays out, None for another call; it may gather the rows."""
    gathered = None if wanted is None else _gathering(array, wanted, place, subject)
    return replace(laid(array, wanted), gathered=gathered)


def _gathering(array: Array, wanted: ShardingValue, place: Place, subject: str | None) -> Gathered | None:
    """Return the gathering of an array's rows, if they were split over some axis, and are asked for whole
    along it; an earlier one, where they stay whole."""
    after, rows, earlier = layout(wanted), _rows(array), array.gathered
    if after is None:
        return None
    mesh, spec = after
    held = {axis for entry in spec.entries for axis in entry_axes(entry)}
    if rows is None:
        same = earlier is not None and earlier.mesh == mesh and not held & {*earlier.axes}
        return earlier if same else None
    home, entry = rows
    if not isinstance(home.mesh, MeshValue) or home.mesh.mesh != mesh:
        return None
    axes = (axis for axis in entry_axes(entry) if axis in mesh.names and axis not in held)
    lost = tuple(axis for axis in axes if equal(mesh.size_of(axis), 1) is False)
    before, shape = Spec((entry, *spec.entries[1:])), array.shape or ()
    return (
        Gathered(mesh, lost, before, spec, subject or "the array", shape, array.dtype, place)
        if lost
        else None
    )


def computed_from_gathered(result: Value, operands: Iterable[Value]) -> Value:
    """Return a result of arrays whose rows a constraint gathered, and of others that are whole along the same
    axes: it is the same on all devices along these."""
    arrays = [one for one in operands if isinstance(one, Array) and one.shape != ()]
    found = next((one.gathered for one in arrays if one.gathered is not None), None)
    if found is None or not isinstance(result, Array):
        return result
    alike = all(one.gathered == found or _is_whole_along(one, found) for one in arrays)
    return replace(result, gathered=found) if alike else result


def _is_whole_along(array: Array, found: Gathered) -> bool:
    """Return whether an array is certainly whole along the axes of a gathering."""
    known = certain_layout(array)
    return (
        known is not None
        and known[0] == found.mesh
        and not {axis for entry in known[1].entries for axis in entry_axes(entry)} & {*found.axes}
    )


def note_multiplied(interpreter: Evaluator, result: Value) -> None:
    """Record the constraint that gathered the rows of what a product was computed from."""
    if isinstance(result, Array) and result.gathered is not None:
        _note_same_rows(interpreter, result.gathered)


def _note_meeting(interpreter: Evaluator, arrays: Sequence[Array]) -> None:
    """Record the constraint that gathered the rows of an array, which meets the same rows of another one,
    split as those were before: each device takes its own of them again."""
    for one, other in itertools.permutations(arrays, 2):
        found, rows = one.gathered, _rows(other)
        if found is None or rows is None or not one.shape or len(one.shape) != len(other.shape or ()):
            continue
        home, entry = rows
        same = isinstance(home.mesh, MeshValue) and home.mesh.mesh == found.mesh
        if same and {*found.axes} <= {*entry_axes(entry)} and equal(one.shape[0], other.shape[0]) is True:  # type: ignore[index]
            _note_same_rows(interpreter, found)


def _note_same_rows(interpreter: Evaluator, found: Gathered) -> None:
    if interpreter.context.mapped:
        return
    interpreter.record(
        MoveUse(
            place=found.place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=(),
            function="with_sharding_constraint",
            mesh=found.mesh,
            before=found.before,
            after=found.after,
            shape=found.shape,
            dtype=found.dtype,
            subject=found.subject,
            idle=found.axes,
        )
    )


def combined(interpreter: Evaluator, result: Value, operands: Sequence[Value]) -> Value:
    """Return the result of an operation, element by element, in the layout that all its operands share; what
    is computed from made arrays alone is made."""
    result = _of_product(computed_from_gathered(result, operands), operands)
    arrays = [one for one in operands if isinstance(one, Array) and one.shape != ()]
    if any(one.gathered is not None for one in arrays):
        _note_meeting(interpreter, arrays)
    columns = next((one.columns for one in arrays if one.columns is not None), None)
    if columns is not None and isinstance(result, Array):
        # A bias is split as what it is added to.
        full = (one for one in arrays if one.shape is None or len(one.shape) > 1)
        if all(one.columns == columns and one.shape == result.shape for one in full):
            result = replace(result, columns=columns)
    if arrays and all(one.made is not None for one in arrays) and isinstance(result, Array):
        return replace(result, made=arrays[0].made)
    if not any(one.laid is not None for one in arrays) or not isinstance(result, Array):
        return result
    # Of numpy's arrays inside jit, constants of the program, each device takes its part.
    traced = [one for one in arrays if not one.numpy]
    first = traced[0].laid if traced else None
    alike = all(one.laid == first and one.shape == result.shape for one in traced)
    if alike and interpreter.context.in_jit is True:
        return replace(result, laid=first)
    split = [(one, rows) for one in arrays if _ranks_alike(one, result) and (rows := _rows(one)) is not None]
    kinds = [(home.mesh, entry, (one.shape or ())[:1]) for one, (home, entry) in split]
    alike = all(kind == kinds[0] for kind in kinds)
    return keeping_rows(interpreter, result, split[0][0]) if split and alike else result


def _of_product(result: Value, operands: Sequence[Value]) -> Value:
    """Return what is computed element by element from a product, of which it has all elements."""
    if not isinstance(result, Array):
        return result
    found = (one.product for one in operands if isinstance(one, Array) and one.shape == result.shape)
    product = next((one for one in found if one is not None), None)
    return result if product is None else replace(result, product=product)


def _ranks_alike(one: Array, other: Array) -> bool:
    return len(one.shape or ()) == len(other.shape or ())


def updated(interpreter: Evaluator, array: Value, result: Value, new: Value, place: Place) -> Value:
    """Return an array inside jit of which a part is replaced by ``new``, in the layout that the rest of it
    has; record one that lies whole, if what replaces a part of it is split."""
    if not isinstance(array, Array) or not isinstance(result, Array) or array.laid is None:
        return result
    if interpreter.context.in_jit is not True or result.shape != array.shape:
        return result
    _note_written(interpreter, array, new, place)
    return replace(result, laid=array.laid)


def _note_written(interpreter: Evaluator, array: Array, new: Value, place: Place) -> None:
    """Record that what is written into an array that lies whole on all devices is split along a dimension
    that the array has, too."""
    known = certain_layout(array)
    home = new.laid if isinstance(new, Array) else None
    if known is None or split_by(*known) or home is None or not isinstance(home.spec, SpecValue):
        return
    assert isinstance(new, Array)
    split = [(at, entry) for at, entry in enumerate(home.spec.spec.entries) if entry_axes(entry)]
    pairs = [
        (dimension, entry) for at, entry in split if (dimension := _dimension_of(array, new, at)) is not None
    ]
    if not pairs or interpreter.context.mapped or len(array.shape or ()) <= _RANK_OF_MATRICES:
        return
    dimension, entry = pairs[-1]
    assert array.shape is not None
    interpreter.record(
        WrittenUse(
            place=array.origin or (array.laid.origin if array.laid is not None else None) or place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=(Fact("it is written here", place),),
            written=place,
            mesh=known[0],
            spec=known[1],
            dimension=dimension,
            axes=entry_axes(entry),
            shape=array.shape,
            dtype=array.dtype,
            subject=f"`{array.name}`" if array.name else "the array",
        )
    )


def _dimension_of(array: Array, new: Array, at: int) -> int | None:
    """Return the dimension of an array along which a dimension of what replaces a part of it is written: of
    the same size, counted from the end if possible; None if there is none."""
    sizes, size = array.shape or (), (new.shape or ())[at]
    aligned = at + len(sizes) - len(new.shape or ())
    alike = [dimension for dimension, other in enumerate(sizes) if equal(other, size) is True]
    return aligned if aligned in alike else next(iter(alike), None)


def home_in_force(interpreter: Evaluator) -> ShardingValue | None:
    """Return where an operation outside of jit is computed if its operands lie nowhere: whole on each device
    of the mesh that `jax.set_mesh` set (JAX 0.6.2 to 0.12.0.1); None if none is set."""
    mesh = interpreter.context.mesh
    if not isinstance(mesh, MeshValue) or mesh.mesh.abstract or not mesh.mesh.names:
        return None
    return ShardingValue(mesh, SpecValue(Spec()))


def computed_in_force(interpreter: Evaluator, result: Value, operands: Iterable[Value]) -> Value:
    """Return the result of an operation outside of jit that makes a new array, committed to the mesh in force
    if its operands lie there or nowhere."""
    home = home_in_force(interpreter)
    return result if home is None else _committed_to(home, result, operands)


def lying_whole(result: Value, operands: Sequence[Value]) -> Value:
    """Return the result of an operation outside of jit, which lies whole on a mesh if its operands do."""
    homes = (array.committed for one in operands for array in arrays_in(one))
    home = next((one for one in homes if isinstance(one, ShardingValue)), None)
    if home is None or not isinstance(home.spec, SpecValue) or any(map(entry_axes, home.spec.spec.entries)):
        return result
    return _committed_to(home, result, operands)


def _committed_to(home: ShardingValue, result: Value, operands: Iterable[Value]) -> Value:
    if not isinstance(result, Array) or result.numpy or result.sharding is not None:
        return result
    sharded = result.typed is not None and any(map(entry_axes, result.typed.spec.entries))
    arrays = [array for one in operands for array in arrays_in(one)]
    if sharded or result.committed not in (None, home) or not all(lies_on(home, array) for array in arrays):
        return result
    return replace(result, sharding=home, committed=home)


def lies_on(home: ShardingValue, array: Array) -> bool:
    """Return whether an array certainly lies whole on a mesh, or nowhere: it was made with no mesh set."""
    if array.numpy:
        return True
    if array.committed is not None or array.sharding is not None:
        return array.committed == array.sharding == home
    return array.typed is not None and array.typed.mesh is None


def lying_alike(result: Value, operands: Sequence[Value]) -> Value:
    """Return the result of an operation outside of jit, element by element, that lies where all its operands
    are committed to: in one layout (measured on JAX 0.10.2 and 0.12.0.1)."""
    if not isinstance(result, Array) or not all(isinstance(one, Array | Const | Integer) for one in operands):
        return result
    arrays = [one for one in operands if isinstance(one, Array) and one.shape != ()]
    home = arrays[0].committed if arrays else None
    if not isinstance(home, ShardingValue) or layout(home) is None or result.numpy:
        return result
    alike = all(one.committed == home and one.shape == result.shape and not one.numpy for one in arrays)
    return replace(result, sharding=home, committed=home) if alike else result


def note_constraint(
    interpreter: Evaluator,
    array: Array,
    wanted: ShardingValue | None,
    function: str,
    place: Place,
    subject: str | None,
) -> None:
    """Record an array that is asked for in another layout than it certainly has."""
    if array.laid is None or wanted is None or interpreter.context.mapped:
        return
    before, after = layout(array.laid), layout(wanted)
    computed = before is None
    rows = _rows(array) if before is None else None
    if rows is not None and after is not None and isinstance(rows[0].mesh, MeshValue):
        # Of the other dimensions nothing is known: they are taken for what they are asked to be.
        first, *others = after[1].entries or (None,)
        asked = {axis for entry in others for axis in entry_axes(entry)}
        fewer = set(entry_axes(first)) < set(entry_axes(rows[1]))
        if fewer and not asked & set(entry_axes(rows[1])):
            before = rows[0].mesh.mesh, Spec((rows[1], *others))
    if before is None or after is None or _shape(before[0]) != _shape(after[0]):
        return
    _record(interpreter, array, before, after[1], function, place, subject, computed)


def note_loop(interpreter: Evaluator, tree: Value, function: str, place: Place) -> None:
    """Record arrays that a loop takes slice by slice along a dimension that is split."""
    for array, path in arrays_at(tree):
        home = array.laid if interpreter.context.in_jit is True else array.committed
        known = layout(home) if isinstance(home, ShardingValue) else None
        if known is not None and array.shape and not interpreter.context.mapped:
            mesh, spec = known
            if 0 in split_by(mesh, spec):
                name = f"`{array.name}{path}`" if array.name else "the array"
                note_gathered(interpreter, array, known, frozenset({0}), function, place, name, loop=True)


def split_by(mesh: Mesh, spec: Spec) -> frozenset[int]:
    """Return the dimensions that a spec certainly splits."""
    return frozenset(
        at
        for at, entry in enumerate(spec.entries)
        if any(axis in mesh.names and equal(mesh.size_of(axis), 1) is False for axis in entry_axes(entry))
    )


def note_gathered(
    interpreter: Evaluator,
    array: Array,
    known: tuple[Mesh, Spec],
    dimensions: frozenset[int],
    function: str,
    place: Place,
    subject: str,
    *,
    loop: bool = False,
    bounds: tuple[int, ...] = (),
    partly: bool = False,
    chosen: bool = False,
) -> None:
    """Record an array of a certain layout that the compiler gathers along some dimensions for a function, or
    cuts at some bounds."""
    interpreter.record(
        GatherUse(
            place=place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=_origin(array),
            function=function,
            mesh=known[0],
            spec=known[1],
            dimensions=tuple(sorted(dimensions)),
            shape=array.shape if array.shape is not None else Unknown("shape not known"),
            dtype=array.dtype,
            subject=subject,
            loop=loop,
            bounds=bounds,
            partly=partly,
            chosen=chosen,
        )
    )


def _origin(array: Array) -> tuple[Fact, ...]:
    origin = array.laid.origin if array.laid is not None else None
    return () if origin is None else (Fact("it is laid out by this", origin),)


def _shape(mesh: Mesh) -> object:
    return mesh.names, mesh.sizes


def _record(
    interpreter: Evaluator,
    array: Array,
    before: tuple[Mesh, Spec],
    after: Spec,
    function: str,
    place: Place,
    subject: str | None,
    computed: bool,
) -> None:
    interpreter.record(
        MoveUse(
            place=place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=_origin(array),
            function=function,
            mesh=before[0],
            before=before[1],
            after=after,
            shape=array.shape if array.shape is not None else Unknown("shape not known"),
            dtype=array.dtype,
            subject=subject or "the array",
            computed=computed,
        )
    )
