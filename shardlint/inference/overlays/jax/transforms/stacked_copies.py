"""Stacks of one copy for each device, as `jax.pmap` takes them, that meet a mesh of the program."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, MeshValue, ShardingValue, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import arrays_at
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.varying import Trait
from shardlint.model.spans import Place
from shardlint.model.uses import CopiesUse, Fact

#: The axis of the mesh on which stacks of copies lie.
COPIES = "_device_put_sharded"
#: The trait of a stack whose items certainly differ: each is what one device of a `pmap` returned.
UNLIKE = (Trait.SPLIT, COPIES)


def copies_of(array: Array) -> Place | None:
    """Return the call that stacked copies of an array, None for any other array."""
    home = array.sharding
    if not isinstance(home, ShardingValue) or not isinstance(home.mesh, MeshValue):
        return None
    return home.origin if home.mesh.mesh.names == (COPIES,) and array.shape else None


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


def note_unlike(call: Call, tree: Value) -> None:
    """Record a stack of numbers that differ from device to device, of which the first is taken for all."""
    for array, path in arrays_at(tree):
        if UNLIKE in array.traits and (array.dtype or "").startswith(("float", "bfloat")):
            name = f"{call.interpreter.written(call.place_of(0, 'tree')) or ''}{path}"
            what = f"`{name}`" if name else "the stack"
            silent = f"{what} differs from device to device of the `pmap` that returned it"
            record_of_value(
                call.interpreter, "flax.jax_utils.unreplicate", Accepted(), call.place, silent=silent
            )
            return
