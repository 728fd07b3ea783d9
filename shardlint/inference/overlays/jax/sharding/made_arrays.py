"""Arrays that a jitted function makes from nothing: zeros, draws, and what is computed from these alone.

The compiler knows no layout for them, if nothing asks for one: they are whole, on every device of the mesh
that is set or of the arguments, or on a single device. `jnp.zeros_like` is no exception: inside jit it takes
the shape of its argument, and not its sharding, as it does outside (measured on JAX 0.10.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Devices, MeshValue, ShardingValue, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.jax.explicit.device_lists import is_put, runs_eagerly
from shardlint.inference.overlays.jax.explicit.type_conversion import compiled
from shardlint.inference.overlays.jax.sharding.movement import certain_layout, computed_in_force, layout
from shardlint.inference.overlays.jax.sharding.placement_check import inside_shard_map, mesh_facts
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import NO_PATH, arrays_at, arrays_in, map_arrays, steps_of
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.model.memory_uses import EACH_CALL, EACH_JITTED_CALL, HOST, MADE_IN_JIT, MadeUse, RestoreUse
from shardlint.model.uses import Fact

_MAKING = frozenset(
    f"jax.numpy.{name}{like}" for name in ("zeros", "ones", "full", "empty") for like in ("", "_like")
)
#: Functions that put an array of the host's on a device.
_TAKING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})
#: The rank up to which arrays of one shape may have nothing to do with each other.
_RANK_OF_MATRICES = 2
#: More functions that compute an array from nothing, or from numbers.
COUNTING = frozenset(f"jax.numpy.{name}" for name in ("arange", "eye", "identity", "linspace", "tri"))


def is_making(name: str) -> bool:
    """Return whether a function makes an array of which the compiler knows no layout."""
    return name in _MAKING


def takes_from_host(call: Call) -> bool:
    """Return whether a call, outside of jit, makes an array of what is in the host's memory: it is put on one
    device, or whole on each of the mesh that is set (JAX 0.10.2 and 0.12.0.1)."""
    if call.name not in _TAKING:
        return False
    values = (*call.args, *call.kwargs.values())
    host = bool(values) and isinstance(values[0], Array) and values[0].numpy
    return host and not {"device", "out_sharding"} & set(call.kwargs)


def is_alone(array: Array) -> bool:
    """Return whether an array of the host's, or a struct, has no layout, so that neither has what is made
    like it outside of jit; of another array that must be known."""
    bare = array.struct and array.sharding is None and array.typed is not None and array.typed.mesh is None
    return array.made is not None or array.numpy or bare


def is_split(array: Array) -> bool:
    """Return whether Explicit axes split an array, and so what is made like it, or with its layout."""
    return array.typed is not None and any(map(entry_axes, array.typed.spec.entries))


def made_by_library(call: Call, tree: Value) -> Value:
    """Return parameters as a library makes them: outside of jit each is on one device, or whole on each of
    the mesh that is set; inside, where none is set, the compiler knows no layout for them."""
    context, eager = call.interpreter.context, runs_eagerly(call.interpreter)
    alone = context.mesh is None and context.legacy_mesh is None
    if not eager and (context.in_jit is not True or not alone or context.mapped or context.bound_axes != ()):
        return tree

    def mark(array: Array, _: str) -> Array:
        free = array.sharding is None and array.committed is None and not array.struct and not array.numpy
        if not free or not array.shape or is_split(array):
            return array
        marked = replace(array, made=call.place)
        if context.mesh is None:
            return marked
        lying = computed_in_force(call.interpreter, marked, ())
        return lying if isinstance(lying, Array) and lying.committed is not None else array

    return map_arrays(tree, mark, NO_PATH, keeps=True)


def made(call: Call, result: Value) -> Value:
    """Return the result of a call that makes an array, marked if it has no layout."""
    if not isinstance(result, Array) or result.sharding is not None or inside_shard_map(call.interpreter):
        return result
    eager = call.interpreter.context.in_jit is False
    # A draw lies where its key does.
    if result.committed is not None or (eager and any(map(is_put, call.args))):
        return result
    if is_split(result):
        return result
    pattern = call.args[0] if call.name.endswith("_like") and call.args else None
    if eager and isinstance(pattern, Array) and not is_alone(pattern):
        return result
    result = replace(result, made=call.place, laid=None)
    if call.name.endswith("_like") or not runs_eagerly(call.interpreter):
        return result
    return computed_in_force(call.interpreter, result, (*call.args, *call.kwargs.values()))


def returned(
    call: Call, function: str, names: Sequence[str], arguments: Sequence[Value], result: Value
) -> Value:
    """Return the result of a jitted function without out_shardings, after recording what it made whole."""
    if call.interpreter.context.in_jit is not False or inside_shard_map(call.interpreter):
        return result
    found: list[tuple[Array, str, int]] = []

    def take(array: Array, path: str) -> Array:
        array = compiled(call.interpreter, array)
        if array.made is None:
            return array
        size = None if array.shape is None else array_bytes(array.shape, array.dtype)
        if size is not None:
            found.append((array, path, size))
        return replace(array, made=call.place)

    kept = map_arrays(result, take, keeps=True)
    if found and runs_eagerly(call.interpreter):
        record_of_value(call.interpreter, MADE_IN_JIT, Accepted(), call.place)
    split = {one.shape: text for one, text, _ in _split_arguments(names, arguments)} if found else {}
    beside = [one for one in found if one[0].shape in split]
    holder = call.interpreter.context.mesh
    shared = isinstance(holder, MeshValue) and _is_shared(holder.mesh)
    ours = beside or (found if shared else [])
    if ours:
        array, path, _ = max(ours, key=lambda one: one[2])
        facts = list(mesh_facts(holder)) if isinstance(holder, MeshValue) else []
        if array.made is not None:
            facts.insert(0, Fact("it is made here", array.made))
        call.interpreter.record(
            MadeUse(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=Accepted(),
                facts=tuple(facts),
                function=function,
                subject=f"result{path}",
                shape=array.shape or (),
                dtype=array.dtype,
                total=sum(size for _, _, size in ours),
                number=len(ours),
                split=split.get(array.shape or ()) if beside else None,
            )
        )
    return kept


def note_given(
    call: Call,
    function: str,
    names: Sequence[str],
    arguments: Sequence[Value],
    received: Sequence[Value],
    trees: Trees,
) -> None:
    """Record arguments of a jitted function that the program made whole, outside of jit, and that are for
    others, of the same key, which are split: an optimizer's state, sums of gradients, a buffer of what is
    collected; or that are for others that are split, whatever they are.

    ``received`` are the arguments with the layouts that they have in the function; ``trees`` as for
    `nodes.parts`.
    """
    if call.interpreter.context.in_jit is not False or inside_shard_map(call.interpreter):
        return
    if not any(array.made is not None or array.numpy for one in arguments for array in arrays_in(one, trees)):
        return
    found: list[tuple[Array, str, int]] = []
    hosted: list[tuple[Array, str, int]] = []
    for index, (argument, arrived) in enumerate(zip(arguments, received, strict=True)):
        name = names[index] if index < len(names) else f"argument {index}"
        pairs = zip(arrays_at(argument, trees), arrays_at(arrived, trees), strict=False)
        for (array, path), (placed, _) in pairs:
            if array.numpy:
                hosted += [(array, f"`{name}{path}`", index)] if placed.laid is None else []
                continue
            size = array_bytes(array.shape, array.dtype) if array.shape and array.made is not None else None
            if size is not None and _lies_whole(array, placed):
                found.append((array, f"`{name}{path}`", size))
    split = list(_split_arguments(names, received)) if found or hosted else []
    if hosted and split:
        _note_hosted(call, function, hosted, [array for array, _, _ in split])
    ours: list[tuple[int, str, Array, str | None]] = [
        (size, name, array, text)
        for array, name, size in found
        for other, text, key in split
        if _is_same_grid(other, array)
        or (key and _are_alike(name[1:-1], key) and _splits_as(other, array, size))
    ]
    # Whether it is large is the rule's to say.
    every = ours or [(size, name, array, None) for array, name, size in found if split]
    if every:
        _, subject, array, text = max(every, key=lambda one: one[0])
        sizes = {name: size for size, name, _, _ in every}
        lies = "one device" if array.committed is None else "all devices of the mesh that is set"
        known = certain_layout(split[0][0])
        _record_outside(
            call, array, function, subject, [*sizes.values()], "it is given here", outside=lies, split=text,
            alone=[(one, path) for one, path, _ in found if one.committed is None],
            mesh=None if known is None else known[0],
        )  # fmt: skip


def note_split(call: Call, tree: Value, placed: Value) -> None:
    """Record arrays that the program made whole on one device, and that `jax.device_put` splits."""
    if not runs_eagerly(call.interpreter):
        return
    found = [
        (size, array, path)
        for (array, path), (after, _) in zip(arrays_at(tree), arrays_at(placed), strict=False)
        if array.made is not None and array.committed is None and array.sharding is None and not array.numpy
        if array.shape and array.shape == after.shape
        if isinstance(home := after.committed, ShardingValue)
        if (known := layout(home)) is not None and _splits(*known)
        if (size := array_bytes(array.shape, array.dtype)) is not None
    ]
    if not found:
        return
    _, array, path = max(found, key=lambda one: one[0])
    name = call.interpreter.written(call.place_of(0, "x")) or ""
    subject = f"`{name}{path}`" if name.isidentifier() else "the array"
    sizes = [size for size, _, _ in found]
    _record_outside(call, array, call.name, subject, sizes, "it is split here", outside="one device")


def _record_outside(
    call: Call, array: Array, function: str, subject: str, sizes: Sequence[int], happens: str,
    *, outside: str, split: str | None = None, mesh: Mesh | None = None,
    alone: Sequence[tuple[Array, str]] = (),
) -> None:  # fmt: skip
    """Record arrays that the program made outside of jit: the largest of them, and the sizes of all; the call
    is where something ``happens`` to them, on ``mesh``. ``alone`` are those on one device, with their
    paths."""
    assert array.made is not None
    call.interpreter.record(
        MadeUse(
            place=array.made,
            environment=call.interpreter.environment(),
            verdict=Accepted(),
            facts=(Fact(happens, call.place),),
            function=function,
            subject=subject,
            shape=array.shape or (),
            dtype=array.dtype,
            total=sum(sizes),
            number=len(sizes),
            split=split,
            outside=outside,
            leaves=tuple((steps_of(path), one.shape or ()) for one, path in alone),
            mesh=mesh,
        )
    )


def _note_hosted(
    call: Call, function: str, arrays: Sequence[tuple[Array, str, int]], split: Sequence[Array]
) -> None:
    """Record numpy arrays that a jitted function gets beside others that are split: those that were restored,
    and in a loop those that are as large as what is split; each with its name and the number of its
    argument."""
    restored = [(array.made, name) for array, name, _ in arrays if array.made is not None]
    if restored:
        place, subject = restored[0]
        call.interpreter.record(
            RestoreUse(
                place=place,
                environment=call.interpreter.environment(),
                verdict=Accepted(),
                facts=(Fact("it is given here", call.place),),
                subject=subject,
                number=len(restored),
                given_to=function,
            )
        )
    sized = [
        (size, array, name, index)
        for array, name, index in arrays
        if array.made is None and len(array.shape or ()) >= _RANK_OF_MATRICES
        if (size := array_bytes(array.shape or (), array.dtype)) is not None
    ]
    total = sum(array_bytes(array.shape or (), array.dtype) or 0 for array in split)
    if not call.interpreter.frame.loops or not sized or sum(size for size, *_ in sized) < total:
        return
    _, array, subject, index = max(sized, key=lambda one: one[0])
    _record_outside(
        call, replace(array, made=call.place_of(index, "")), function, subject, [one[0] for one in sized],
        "it is given here", outside=HOST,
    )  # fmt: skip


def note_given_again(
    call: Call, function: str, arguments: Sequence[Value], received: Sequence[Value]
) -> None:
    """Record matrices on one device that a jitted function gets in a loop beside arrays on a mesh: JAX copies
    them to its devices in each call, as for `pmap`. ``received`` as for `note_given`."""
    homes = [known[0] for tree in received for one in arrays_in(tree) if (known := certain_layout(one))]
    if call.interpreter.context.mesh is None and any(map(_is_shared, homes)):
        note_broadcast(call, function, list(enumerate(arguments)), EACH_JITTED_CALL)


def note_broadcast(
    call: Call, function: str, given: Sequence[tuple[int, Value]], outside: str = EACH_CALL
) -> None:
    """Record matrices made on one device that a `pmap` gets in a loop, with None in its in_axes: JAX copies
    them to its devices in each call (JAX 0.10.2 and 0.12.0.1). They are arguments with these numbers."""
    loops = call.interpreter.frame.loops
    if call.interpreter.context.in_jit is not False or not loops or any(loop.first for loop in loops):
        return
    sized = [
        (size, array, path, number)
        for number, tree in given
        if _is_from_outside(call, number)
        for array, path in arrays_at(tree)
        if array.made is not None and not array.numpy and array.sharding is None and array.committed is None
        if len(array.shape or ()) >= _RANK_OF_MATRICES and is_inexact(array.dtype)
        if (size := array_bytes(array.shape or (), array.dtype)) is not None
    ]
    if sized:
        _, array, path, number = max(sized, key=lambda one: one[0])
        place = call.place_of(number, "")
        subject = f"`{call.interpreter.written(place)}{path}`"
        _record_outside(
            call, replace(array, made=place), function, subject, [one[0] for one in sized],
            "it is given here", outside=outside,
        )  # fmt: skip


def _is_from_outside(call: Call, number: int) -> bool:
    """Return whether an argument is written as a variable that no loop around has set, or a part of one."""
    written = call.interpreter.written(call.place_of(number, "")) or ""
    name = re.split(r"[.\[]", written)[0]
    set_here = any(loop.sets(name) for loop in call.interpreter.frame.loops)
    return "(" not in written and name.isidentifier() and not set_here


def _lies_whole(array: Array, placed: Array) -> bool:
    """Return whether a made array has no layout but that of the mesh in force, when it is given to a
    function, where it is ``placed``: jit leaves what it makes on the mesh's devices."""
    home = array.sharding
    if not isinstance(array.committed, Devices) and array.committed != home:
        return False
    if placed.laid not in (None, home):
        return False
    spec = None if home is None else home.spec
    return spec is None or (isinstance(spec, SpecValue) and not any(map(entry_axes, spec.spec.entries)))


def _is_shared(mesh: Mesh) -> bool:
    """Return whether a mesh has several devices, and no Manual axes."""
    return AxisType.MANUAL not in mesh.types and equal(mesh.device_count, 1) is False


def _are_alike(name: str, key: str) -> bool:
    """Return whether the path of one array ends as that of another, or differs in one step from it that is
    not the last: `state.params["w"]` and `state.average["w"]`."""
    steps, others = _STEP.findall(name), _STEP.findall(key)
    if name.endswith(key):
        return True
    if len(steps) != len(others) or len(steps) < 2 or steps[-1] != others[-1]:
        return False
    return sum(step != other for step, other in zip(steps, others, strict=True)) == 1


_STEP = re.compile(r"\.\w+|\[[^\]]*\]")


def _is_same_grid(split: Array, array: Array) -> bool:
    """Return whether two arrays have the same three dimensions or more: values on one grid, one for each."""
    return split.shape is not None and len(split.shape) > _RANK_OF_MATRICES and split.shape == array.shape


def _splits_as(split: Array, array: Array, size: int) -> bool:
    """Return whether an array, of so many bytes, could be split as another is, and is no smaller."""
    known = certain_layout(split)
    if known is None or split.shape is None or array.shape is None:
        return False
    if size < (array_bytes(split.shape, split.dtype) or 0):
        return False
    entries = known[1].entries[: len(split.shape)]
    return all(
        at < len(array.shape) and equal(array.shape[at], split.shape[at]) is True
        for at, entry in enumerate(entries)
        if entry_axes(entry)
    )


def _split_arguments(names: Sequence[str], arguments: Sequence[Value]) -> Iterator[tuple[Array, str, str]]:
    """Yield the arrays among arguments that are split, what is to be said of each, and its path."""
    for index, argument in enumerate(arguments):
        name = names[index] if index < len(names) else f"argument {index}"
        for array, path in arrays_at(argument):
            known = certain_layout(array)
            if known is not None and array.shape and _splits(*known):
                yield array, f"`{name}{path}` is split by {known[1]}", path


def _splits(mesh: Mesh, spec: Spec) -> bool:
    """Return whether a spec certainly splits an array on a mesh."""
    axes = (axis for entry in spec.entries for axis in entry_axes(entry) if axis in mesh.names)
    return any(equal(mesh.size_of(axis), 1) is False for axis in axes)
