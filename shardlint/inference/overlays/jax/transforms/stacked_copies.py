"""Stacks of one copy for each device, as `jax.pmap` takes them, that meet a mesh of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    DictValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import arrays_at, arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import CONSTANT
from shardlint.model.memory_uses import CopiesUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact

#: The axis of the mesh on which stacks of copies lie.
COPIES = "_device_put_sharded"
#: The trait of a stack whose items certainly differ: each is what one device of a `pmap` returned.
UNLIKE = (Trait.SPLIT, COPIES)
#: The trait of a stack that a `pmap` returned, and that lies on its devices.
STACKED = (Trait.STACKED, COPIES)
#: The trait of a stack of keys that differ, as `jax.random.split` returns, and of what was drawn with them,
#: each with one.
KEYED = (Trait.KEYED, COPIES)
#: The trait of a stack of the parts into which the first dimension of one array was cut.
CUT = (Trait.CUT, COPIES)
#: The rank of a stack of vectors.
_RANK_OF_VECTORS = 2
#: The trait of a stack of copies that becomes one of items that differ, in a loop.
DRIFTING = (Trait.DRIFTING, COPIES)


#: The variation of copies: `pmap` gives each device the same one.
EQUAL = replace(CONSTANT, equal=frozenset({COPIES}))
#: Functions that may repeat an array, with the position of their axis.
_STACKING = {
    "stack": 1, "array": None, "asarray": None, "broadcast_to": None, "tile": None, "repeat": 2
}  # fmt: skip


def copies_of(array: Array) -> Place | None:
    """Return the call that stacked copies of an array, None for any other array."""
    home = array.sharding
    if not isinstance(home, ShardingValue) or not isinstance(home.mesh, MeshValue):
        return None
    return home.origin if home.mesh.mesh.names == (COPIES,) and array.shape else None


def stacked(call: Call, result: Value) -> Value:
    """Return the result of a call outside of jit, marked if it has copies of one array along its first
    dimension, or its parts, or keys that differ."""
    name = call.name.rpartition(".")[2]
    if name == "reshape" and isinstance(result, Array):
        return replace(result, traits=result.traits | {CUT}) if _is_cut(call.args[0], result) else result
    if call.name == "jax.random.split" and isinstance(result, Array):
        return replace(result, traits=result.traits | {KEYED}, drawn_at=call.place)
    if name not in _STACKING or not isinstance(result, Array) or not result.shape:
        return result
    return result.vary(EQUAL) if call.args and _is_of_copies(call, name, call.args[0], result) else result


def _is_cut(given: Value, result: Array) -> bool:
    """Return whether the first dimension of an array became two of the result, the others as they were."""
    if not isinstance(given, Array) or not given.shape or len(result.shape or ()) != len(given.shape) + 1:
        return False
    pairs = zip(given.shape[1:], (result.shape or ())[2:], strict=True)
    return all(equal(one, other) is True and equal(one, 0) is False for one, other in pairs)


def _is_of_copies(call: Call, name: str, given: Value, result: Array) -> bool:
    axis = call.argument(_STACKING[name], "axis")
    if name in ("stack", "array", "asarray"):
        items = as_items(given) or ()
        at_front = name != "stack" or axis is None or as_int(axis) == 0
        return (
            at_front
            and len(items) > 1
            and isinstance(items[0], Array)
            and all(one is items[0] for one in items)
        )
    if not isinstance(given, Array) or given.shape is None or (name == "repeat" and as_int(axis) != 0):
        return False
    return len(given.shape) < len(result.shape or ()) or equal(given.shape[0], 1) is True


def holds_keyed(tree: Value) -> bool:
    """Return whether a tree holds keys of which each device of a `pmap` gets another one."""
    return any(KEYED in array.traits and not is_inexact(array.dtype) for array in arrays_in(tree))


def note_placed(interpreter: Evaluator, array: Array, placed: ShardingValue | None, place: Place) -> None:
    """Record a stack of copies that lies whole on every device of a mesh from here on."""
    made = copies_of(array)
    if made is None or placed is None or not isinstance(placed.spec, SpecValue):
        return
    spec = placed.spec.spec
    if not entry_axes(spec.entries[0] if spec.entries else None):
        _record(interpreter, array, "", made, place)


def note_arguments(call: Call, names: Sequence[str], args: Sequence[Value], trees: Trees) -> None:
    """Record a stack of copies given to a jitted function beside arrays on a mesh of the program; ``trees``
    as for `nodes.parts`."""
    stacks: list[tuple[int, str, Array, Place]] = []
    others: list[Array] = []
    for index, arg in enumerate(args):
        for array, path in arrays_at(arg, trees):
            made = copies_of(array)
            if made is not None:
                stacks.append((index, path, array, made))
            elif isinstance(array.committed, ShardingValue):
                others.append(array)
    if not stacks or not others or call.interpreter.context.in_jit is not False:
        return
    index, path, array, made = stacks[0]
    count = (array.shape or (0,))[0]
    if all(one.shape and equal(one.shape[0], count) is False for one in others):
        name = names[index] if index < len(names) else f"argument {index}"
        _record(call.interpreter, array, f"`{name}{path}`", made, call.place_of(index, name))


def _record(interpreter: Evaluator, array: Array, subject: str, made: Place, place: Place) -> None:
    interpreter.record(
        CopiesUse(
            place=place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=(Fact("the copies are stacked here", made),),
            subject=subject or (f"`{array.name}`" if array.name else "the array"),
            copies=(array.shape or (0,))[0],
        )
    )


def note_unlike(call: Call, tree: Value, parameter: str = "tree") -> None:
    """Record a stack of numbers that differ from device to device, of which the first is taken for all."""
    for array, path in arrays_at(tree):
        if UNLIKE in array.traits and _is_number(array):
            name = f"{call.interpreter.written(call.place_of(0, parameter)) or ''}{path}"
            what = f"`{name}`" if name else "the stack"
            silent = f"{what} differs from device to device of the `pmap` that returned it"
            record_of_value(
                call.interpreter, "flax.jax_utils.unreplicate", Accepted(), call.place, silent=silent
            )
            return


def note_dropped(call: Call, result: Value, out_axes: Value, axis: str, name: str) -> None:
    """Record a result of a `pmap` that differs from device to device, and of which None in out_axes keeps the
    first device's only; ``axis`` are the devices. Keys are to differ."""
    for array, path in _unmapped(result, out_axes, ""):
        if axis in array.variation.surely and _is_numeric(array):
            of = f"`{name}`"
            what = f"result{path} of {of}" if path else f"the result of {of}"
            facts = [Fact("the result is computed here", array.origin)] if array.origin is not None else []
            silent = f"{what} differs from device to device"
            record_of_value(
                call.interpreter,
                "jax.pmap(out_axes=None)",
                Accepted(),
                call.place,
                facts=facts,
                silent=silent,
            )
            return


def _unmapped(tree: Value, axes: Value, path: str) -> Iterator[tuple[Array, str]]:
    """Yield the arrays of a result for which out_axes hold None, each with its path."""
    if is_none(axes):
        yield from arrays_at(tree, path=path)
        return
    pairs: dict[object, tuple[Value, Value]] = {}
    if isinstance(axes, DictValue) and isinstance(tree, DictValue):
        given = axes.items or {}
        pairs = {key: (item, given[key]) for key, item in (tree.items or {}).items() if key in given}
    elif (given_items := as_items(axes)) is not None and (items := as_items(tree)) is not None:
        pairs = dict(enumerate(zip(items, given_items, strict=False)))
    for key, (item, axis) in pairs.items():
        yield from _unmapped(item, axis, f"{path}[{key!r}]")


def note_drift(interpreter: Evaluator, given: Value, returned: Value, name: str, place: Place) -> None:
    """Record that numbers that differ from device to device take the place of a tree of copies, of some
    surely and of the others perhaps, or have done so in a loop."""
    later = {path: one for one, path in arrays_at(returned)}
    # Running statistics, which are vectors, may differ beside parameters of which nothing is known, or be
    # averaged beside parameters that are not.
    matrices = [
        (one, later[path])
        for one, path in arrays_at(given)
        if _is_number(one) and _is_copied(one) and path in later and len(one.shape or ()) > _RANK_OF_VECTORS
    ]
    apart = any(DRIFTING in one.traits or UNLIKE in new.traits for one, new in matrices)
    if not apart or any(COPIES in new.equal for _, new in matrices):
        return
    what = f"`{name}` holds the same on each device at first, and what a `pmap` returns for it differs"
    record_of_value(interpreter, "jax.pmap(drifting)", Accepted(), place, silent=what)


def _is_copied(array: Array) -> bool:
    return COPIES in array.equal or DRIFTING in array.traits


def _is_numeric(array: Array) -> bool:
    """Return whether an array holds numbers or truth values, and no keys."""
    return (array.dtype or "").startswith(("float", "bfloat", "int", "bool", "complex"))


def _is_number(array: Array) -> bool:
    return (array.dtype or "").startswith(("float", "bfloat"))
