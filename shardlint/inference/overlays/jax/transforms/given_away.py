"""Arrays that a jitted function deletes, since they were donated to it, and what uses them afterwards.

A buffer that a result takes is not the argument's any more: JAX refuses each use of its data. What it knows
of the array besides (shape, dtype, sharding) may still be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from shardlint.inference.domain.histories import Gone
from shardlint.inference.domain.values import (
    Array,
    Devices,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    ShardingValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Donation, Evaluator
from shardlint.inference.overlays.jax.configuration import (
    DEBUG_NANS,
    DEFAULT_DEVICE,
    DISABLE_JIT,
    ENABLE_X64,
    is_set,
)
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.jax.host_views import may_be_viewed
from shardlint.inference.overlays.jax.operations import SYNTAX, operation_of
from shardlint.inference.overlays.jax.sharding.movement import layout
from shardlint.inference.overlays.jax.transforms.donation import chosen, is_known, note_donated_twice
from shardlint.inference.overlays.pytrees.nodes import Trees, is_data_node, parts, with_parts
from shardlint.inference.overlays.pytrees.prefixes import arrays_at, arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.dims import equal
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Verdict
from shardlint.laws.transforms.donation import Kept, deleted
from shardlint.model.spans import Place
from shardlint.model.uses import CollectiveUse, Fact, Placement, Use

#: Functions besides operations that read the data of an array.
_READERS = frozenset({
    "builtins.print", "builtins.float", "builtins.int", "builtins.bool", "builtins.str", "builtins.repr",
    "jax.device_get", "jax.block_until_ready", "block_until_ready", "numpy.asarray", "numpy.array", "item",
    "tolist",
})  # fmt: skip
#: Those that may return the very array, where it has the shape and dtype of the result already (measured on
#: JAX 0.4.35, 0.8.3, 0.10.2 and 0.12.0.1); others that change nothing raise, such as `jax.numpy.ravel`.
_FORWARDING = frozenset(
    "array asarray astype broadcast broadcast_to convert_element_type permute_dims reshape squeeze "
    "stop_gradient transpose view".split()
)
_ONE_DEVICE = "one device"
#: Options that keep arguments from being donated, move them to another device, or change their dtypes.
_DECISIVE = (DISABLE_JIT, DEBUG_NANS, DEFAULT_DEVICE, ENABLE_X64)


def note_given_away(
    made: Call,
    called: Call,
    function: str,
    names: Sequence[str],
    args: Sequence[Value],
    result: Value,
    *,
    placed: bool,
    traced: Sequence[Value],
    is_used: Callable[[int, str], bool],
) -> None:
    """Add the arguments that a call of a jitted function deletes to the evaluator's donations.

    ``made`` is the call of `jax.jit`, ``args`` are the arguments of ``called`` by position, ``traced`` those
    that are not static. ``placed`` tells whether there are in_shardings or out_shardings, or others inside of
    the function. ``is_used`` returns whether the array at a path of an argument is certainly used.
    """
    interpreter = called.interpreter
    positions = [index for index in chosen(made, names) if index < len(args)]
    if not positions or not runs_eagerly(interpreter) or not is_known(result) or called.opaque:
        return
    if is_set(interpreter, *_DECISIVE):
        return
    # What lies on the first device, by default, is copied to a mesh rather than given away.
    mine = not placed and interpreter.context.mesh is None and not any(map(_is_put, traced))
    alone = mine and all(map(_is_alone, traced))
    shared = None if placed else _whole_on_mesh(traced)
    results = []
    for array in arrays_in(result):
        if array.shape is None or array.dtype is None:
            return
        home: Hashable | None = _ONE_DEVICE if alone else _layout(array.sharding or array.laid)
        if home is None and array.shape == () and shared is not None:
            home = shared
        results.append(Kept(array.shape, array.dtype, home))
    lost: dict[int, dict[str, Gone]] = {}
    leaves: list[tuple[int, str, Kept | None]] = []
    viewed: set[tuple[int, str]] = set()
    for index in positions:
        for array, path in arrays_at(args[index]):
            if array.numpy or array.struct or array.shape is None or array.dtype is None:
                leaves.append((index, path, None))
            else:
                meshless = _is_meshless(array)
                home = _ONE_DEVICE if mine and meshless else _layout(array.committed)
                # What lies on one device may be copied; of what an earlier step returned, the layout is open.
                copied = meshless and array.shape != ()
                put = isinstance(array.committed, ShardingValue)
                is_open = home is None and (placed or copied or put)
                leaves.append((index, path, None if is_open else Kept(array.shape, array.dtype, home)))
                if may_be_viewed(interpreter, array):
                    viewed.add((index, path))
    known = [kept for _, _, kept in leaves if kept is not None]
    if len(known) < len(leaves):
        return
    donated = {(index, path): kept for index, path, kept in leaves if kept is not None}
    note_donated_twice(called, function, args, donated, results, is_used)
    for (index, path, _), answer in zip(leaves, deleted(known, results), strict=True):
        if answer is not False:
            certain = answer is True and (index, path) not in viewed
            gone = Gone(function, partial(is_used, index, path), called.place, certain)
            lost.setdefault(index, {})[path] = gone
    interpreter.donations += [Donation(args[index], arrays) for index, arrays in lost.items()]


def has_mesh(use: Use) -> bool:
    """Return whether something is laid out on a mesh, or may be, so that a jitted function runs there."""
    return isinstance(use, Placement | CollectiveUse)


def _whole_on_mesh(traced: Sequence[Value]) -> Hashable | None:
    """Return the layout of a number on the only mesh of the arguments: a result without dimensions has no
    other."""
    meshes: set[Hashable] = set()
    for value in traced:
        for array in arrays_in(value):
            if array.committed is None:
                continue
            known = _layout(array.committed)
            if not isinstance(known, tuple):
                return None
            meshes.add((known[0], (), known[2]))
    return meshes.pop() if len(meshes) == 1 else None


def _is_alone(value: Value) -> bool:
    """Return whether all arrays in a value are known, and lie on the first device, by default."""
    return is_known(value) and all(array.numpy or _is_meshless(array) for array in arrays_in(value))


def _is_meshless(array: Array) -> bool:
    made = array.typed is not None and array.typed.mesh is None
    return array.committed is None and (made or array.shape == ())


def _is_put(value: Value) -> bool:
    return any(array.committed is not None for array in arrays_in(value))


def _layout(home: ShardingValue | Devices | None) -> Hashable | None:
    """Return a layout in a form that can be compared."""
    known = layout(home) if isinstance(home, ShardingValue) else None
    if known is None or not isinstance(home, ShardingValue) or not isinstance(home.mesh, MeshValue):
        return None
    mesh, spec = known
    entries = list(spec.entries)
    while entries and entries[-1] is None:
        entries.pop()
    return mesh, tuple(entries), home.mesh.ids


def refuse_gone(interpreter: Evaluator, array: Array, place: Place, function: str) -> bool:
    """Record a use of an array that was deleted; return whether JAX certainly refuses it."""
    gone = array.gone
    if gone is None or not gone.is_used():
        return False
    facts = [] if gone.place is None else [Fact("it is donated here", gone.place)]
    name = interpreter.written(place) or array.name
    name = f"`{name}`" if name else "the array"
    detail = f"{name} was donated to `{gone.function}`, and {function} uses it afterwards"
    verdict: Verdict = Accepted()
    if gone.certain:
        verdict = Rejected(Cause.DELETED, "RuntimeError", "call", detail=detail)
    record_of_value(interpreter, "jax.Array(deleted)", verdict, place, facts=facts, silent=detail)
    return gone.certain


def deleted_arguments(
    call: Call, positions: Sequence[int] | None, trees: Trees
) -> list[tuple[int, str, Array]]:
    """Return the arrays among the arguments at some positions that were donated before, each with its
    position and path."""
    return [
        (at, path, array)
        for at in positions or ()
        for array, path in arrays_at(call.args[at], trees)
        if array.gone is not None and not array.struct
    ]


def uses_gone(call: Call, name: str, result: Value | None = None) -> bool:
    """Record a call, outside of jit, that reads the data of an array that was deleted; return whether JAX
    certainly refuses it. ``name`` is its function or operator in `jax.operations`.

    Some functions return the array that they are given, if it is what they would make: these are recorded
    with their result only.
    """
    # Who reads keywords as a dict's methods do has not asked for them (see `call.Keywords`).
    operands: Iterable[tuple[int | str, Value]] = (*enumerate(call.args), *dict.items(call.kwargs))
    gone = [
        (key, one) for key, one in operands if type(one) is Array and one.gone is not None and not one.struct
    ]
    if not gone or not runs_eagerly(call.interpreter) or call.place is None:
        return False
    short = name.rpartition(".")[2]
    operation = operation_of(f"jax.{name}" if name.startswith("numpy.") else name)
    reads = operation is not None and operation.reads_values is True
    if short in _FORWARDING:
        reads = reads and isinstance(result, Array) and _differs(gone[0][1], result)
    elif result is not None:
        return False
    if not (reads or name in _READERS or name in SYNTAX):
        return False
    key, array = gone[0]
    place = call.place_of(key, "") if isinstance(key, int) else call.place_of(None, key)
    return refuse_gone(call.interpreter, array, place, f"`{short.rpartition(' ')[2]}`")


def _differs(array: Array, other: Array) -> bool:
    """Return whether two arrays certainly have different shapes or dtypes."""
    if None not in (array.dtype, other.dtype) and array.dtype != other.dtype:
        return True
    if array.shape is None or other.shape is None:
        return False
    sizes = zip(array.shape, other.shape, strict=False)
    return len(array.shape) != len(other.shape) or any(equal(m, n) is False for m, n in sizes)


def marked_gone(interpreter: Evaluator, tree: Value, lost: dict[str, Gone], path: str) -> Value:
    """Return a tree with the arrays at some paths marked as gone; what other variables hold as well
    changes in place.

    Paths are those of `prefixes.arrays_at`.
    """
    match tree:
        case Array():
            return replace(tree, gone=lost[path]) if path in lost else tree
        case Tuple():
            items = enumerate(tree.items)
            return replace(
                tree, items=tuple(marked_gone(interpreter, one, lost, f"{path}[{i}]") for i, one in items)
            )
        case ListValue() if tree.items is not None and interpreter.certain(tree.path):
            changing(tree)
            tree.items[:] = [
                marked_gone(interpreter, one, lost, f"{path}[{i}]") for i, one in enumerate(tree.items)
            ]
        case DictValue() if tree.items is not None and interpreter.certain(tree.path):
            changing(tree)
            for key, one in tree.items.items():
                tree.items[key] = marked_gone(interpreter, one, lost, f"{path}[{key!r}]")
        case Instance() | LibraryObject() if not is_data_node(tree):
            children = parts(tree) or {}
            named = isinstance(tree, Instance) or len(children) > 1
            marked = {
                name: marked_gone(interpreter, part, lost, f"{path}.{name}" if named else path)
                for name, part in children.items()
            }
            if not interpreter.certain(tree.path):
                return with_parts(tree, marked)
            changing(tree)
            held = tree.attributes if isinstance(tree, Instance) else tree.fields
            held.update(marked)
    return tree
