"""Arguments of a jitted function that lie on no mesh, beside others that do.

The function runs on the mesh, so what it returns lies there: where a result takes the place of such an
argument, the next call has an argument laid out otherwise, and `jax.jit` compiles the function again (JAX
0.10.2 and 0.12.0.1, on Auto axes; with out_shardings too). So it does where out_shardings ask for another
layout than that of the argument.
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.domain.values import Array, MeshValue, ShardingValue, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.jax.explicit.memory_spaces import is_active
from shardlint.inference.overlays.jax.sharding.movement import layout
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import arrays_at, arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Mesh, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.propagation.operands import all_of
from shardlint.laws.transforms.memory_spaces import DEVICE, HOST
from shardlint.model.spans import Place

#: The event that a function compiles twice.
COMPILED_AGAIN = "jax.jit(compiled again)"
#: The event that it does since a result has another layout than the argument whose place it takes.
COMPILED_OTHERWISE = "jax.jit(compiled for another layout)"
#: The event that what was put on the host comes back on the devices.
LEFT_HOST = "jax.jit(left the host)"


def note_on_mesh(call: Call, arguments: Iterable[Value], trees: Trees) -> None:
    """Remember that a call of a jitted function without in_shardings runs on the mesh of an argument, with no
    mesh set. ``trees`` as for `nodes.parts`."""
    interpreter = call.interpreter
    unset = interpreter.context.mesh is None and interpreter.context.legacy_mesh is None
    on_mesh = False
    if unset and runs_eagerly(interpreter):
        on_mesh = any(_lies_on_mesh(array) for one in arguments for array in arrays_in(one, trees))
    interpreter.fed_back.on_mesh = call.place if on_mesh else None


def note_replaced(interpreter: Evaluator, given: Value, returned: Value, name: str, place: Place) -> None:
    """Record what changes where what a call returned takes the place of its argument ``name``."""
    note_fed_back(interpreter, given, returned, name, place)
    note_other_layouts(interpreter, given, returned, name, place)
    note_left_host(interpreter, given, returned, name, place)


def note_fed_back(interpreter: Evaluator, given: Value, returned: Value, name: str, place: Place) -> None:
    """Record arrays and numbers that lay nowhere when a call was evaluated before, and whose place what it
    returned has taken."""
    known = interpreter.fed_back
    before = known.loose.get((place, name), frozenset())
    if known.on_mesh != place and not before:
        return
    loose = _loose_paths(given)
    if known.on_mesh == place:
        known.loose[place, name] = loose
    if not before - loose:
        return
    later = {path: one for one, path in arrays_at(returned)}
    replaced = [
        path for one, path in arrays_at(given) if path in before - loose and _is_like(one, later.get(path))
    ]
    if replaced:
        what = f"`{name}{replaced[0]}`" + (f" and {len(replaced) - 1} more" if replaced[1:] else "")
        verb = "lie" if replaced[1:] else "lies"
        silent = f"{what} {verb} on no mesh at the first call, and on the mesh after it"
        record_of_value(interpreter, COMPILED_AGAIN, Accepted(), place, silent=silent)


def note_other_layouts(
    interpreter: Evaluator, given: Value, returned: Value, name: str, place: Place
) -> None:
    """Record an array that a call got in one layout when it was evaluated first, and gets now in the other in
    which it returns it."""
    known = interpreter.fed_back
    if known.on_mesh != place:
        return
    arrays = {path: one for one, path in arrays_at(given) if _lies_on_mesh(one)}
    before = known.laid.setdefault((place, name), arrays)
    later = {path: one for one, path in arrays_at(returned)}
    changed = [
        path
        for path, one in arrays.items()
        if path in before and _is_like(before[path], one) and _is_like(one, later.get(path))
        if _split(one) not in (None, _split(before[path])) and _split(one) == _split(later[path])
    ]
    if changed and _split(before[changed[0]]) is not None:
        what = f"`{name}{changed[0]}`" + (f" (and {len(changed) - 1} more)" if changed[1:] else "")
        first, now = (one[changed[0]].committed for one in (before, arrays))
        assert isinstance(first, ShardingValue) and isinstance(now, ShardingValue)
        silent = f"{what} is laid out as {_text(first)} at the first call, and as {_text(now)} after it"
        record_of_value(interpreter, COMPILED_OTHERWISE, Accepted(), place, silent=silent)


def note_left_host(interpreter: Evaluator, given: Value, returned: Value, name: str, place: Place) -> None:
    """Record arrays that lay in the memory of the host when a call of a jitted function was evaluated first,
    and lie on the devices now, where it returns them."""
    known, arrays = interpreter.fed_back, {path: one for one, path in arrays_at(given) if one.shape}
    if not is_active():
        return
    if known.on_mesh == place and (place, name) not in known.hosted:
        held = (path for path, one in arrays.items() if one.memory == HOST)
        known.hosted[place, name] = frozenset(held)
    hosted, later = known.hosted.get((place, name), ()), {path: one for one, path in arrays_at(returned)}
    lost = [
        path
        for path, one in arrays.items()
        if path in hosted and one.memory == DEVICE and _is_like(one, later.get(path))
        if later[path].memory == DEVICE
    ]
    if lost:
        what = f"`{name}{lost[0]}`" + (f" (and {len(lost) - 1} more)" if lost[1:] else "")
        silent = f"{what} lies on the host at the first call, and in the memory of the devices after it"
        record_of_value(interpreter, LEFT_HOST, Accepted(), place, silent=silent)


def _split(array: Array) -> tuple[Mesh, tuple[tuple[str, ...], ...]] | None:
    """Return the mesh of an array and the axes that split each of its dimensions, if they are known."""
    home = None if not isinstance(array.committed, ShardingValue) else layout(array.committed)
    if home is None or any(isinstance(entry, Unknown) for entry in home[1].entries):
        return None
    mesh, spec = home
    entries = [tuple(a for a in entry_axes(e) if equal(mesh.size_of(a), 1) is not True) for e in spec.entries]
    while entries and not entries[-1]:
        del entries[-1]
    return mesh, tuple(entries)


def _text(sharding: ShardingValue) -> str:
    return str(sharding.spec.spec) if isinstance(sharding.spec, SpecValue) else "another spec"


def _lies_on_mesh(array: Array) -> bool:
    """Return whether an array certainly lies on Auto axes of several devices."""
    home = array.committed
    if not isinstance(home, ShardingValue) or not isinstance(home.mesh, MeshValue) or array.struct:
        return False
    return all_of(home.mesh.mesh, AxisType.AUTO) and equal(home.mesh.mesh.device_count, 1) is False


def _loose_paths(tree: Value) -> frozenset[str]:
    """Return the paths of what lies nowhere: numbers, arrays of the host, those made from nothing."""
    again = {path: one for one, path in arrays_at(tree)}
    # Of a number each walk makes another array.
    return frozenset(path for one, path in arrays_at(tree) if one is not again[path] or _lies_nowhere(one))


def _lies_nowhere(array: Array) -> bool:
    if array.struct or array.committed is not None or array.sharding is not None:
        return False
    return array.numpy or array.made is not None


def _is_like(array: Array, returned: Array | None) -> bool:
    """Return whether an argument has the shape and the dtype of a result."""
    if returned is None or returned.numpy or array.shape is None:
        return False
    return (returned.shape, returned.dtype) == (array.shape, array.dtype)
