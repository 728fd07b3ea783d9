"""Mesh axes that split nothing in a training step: their devices all compute the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shardlint.inference.domain.values import MeshValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.sharding.movement import certain_layout
from shardlint.inference.overlays.jax.transforms.donation import is_known
from shardlint.inference.overlays.jax.transforms.stacked_copies import COPIES
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import AxisType, Marker, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.model.memory_uses import IdleUse
from shardlint.model.uses import (
    CallUse,
    CollectiveUse,
    Fact,
    LogicalAxesUse,
    OperationUse,
    ParameterUse,
    Placement,
    Use,
)

#: The name of the event that a gradient is computed inside jit.
GRADIENT = "jax.grad(in jit)"
#: What may lay out a part of a jitted function, though it is written outside.
_AROUND = frozenset({Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT})
#: Collectives that give each device the same: what enters a shard_map whole is the same on all of them.
_COMBINING = frozenset({"all_gather", "axis_size", "pmax", "pmean", "pmin", "psum"})


def note_gradient(call: Call) -> None:
    """Record that a gradient is computed, if that is inside jit."""
    if call.interpreter.context.in_jit is True:
        record_of_value(call.interpreter, GRADIENT, Accepted(), call.place)


def note_idle_axes(
    call: Call,
    function: str,
    arguments: Sequence[Value],
    result: Value,
    recorded: Sequence[Use],
    trees: Trees,
) -> None:
    """Record a call of a jitted function that computes gradients, if an axis of the only mesh of its
    arguments splits none of them, and nothing that the call recorded names it; of another function, if it
    gets arrays whole and names no axis, or gets arrays from no mesh.

    ``arguments`` are as they arrive, without static ones. Arrays from outside are constants of the program,
    which every device has whole (measured on JAX 0.10.2 and 0.12.0.1). ``trees`` as for `nodes.parts`.
    """
    if call.interpreter.context.test:
        return
    trains = any(isinstance(use, CallUse) and use.function == GRADIENT for use in recorded)
    named = _named(recorded)
    if named is None:
        return
    mesh: Mesh | None = None
    used, is_open = set[str](), False
    shapes: list[Shape] = []
    rows: list[Shape] = []
    weights: list[Shape] = []
    for array in [array for argument in arguments for array in arrays_in(argument, trees)]:
        known = certain_layout(array)
        made = array.typed is not None and array.typed.mesh is None
        if known is None and (made or array.numpy or array.shape == ()) and array.committed is None:
            rows += [array.shape] if array.shape is not None and len(array.shape) > 1 else []
            continue
        if known is None or (mesh is not None and mesh != known[0]):
            if trains:
                return
            is_open = True
            continue
        mesh, axes = known[0], _axes(known[1])
        is_open = is_open or axes is None
        used |= axes or set()
        if array.shape and axes == set():
            shapes.append(array.shape)
        if array.shape is not None and len(array.shape) > 1:
            weights.append(array.shape)
    holder = call.interpreter.context.mesh
    if mesh is None and trains and isinstance(holder, MeshValue) and not holder.mesh.abstract:
        # All devices of the mesh that is set get what is laid out on none (JAX 0.10.2 and 0.12.0.1).
        mesh = holder.mesh
    if mesh is None or not all(map(is_known, (*arguments, result))):
        return
    sizes = zip(mesh.names, mesh.sizes, strict=True)
    several = [name for name, size in sizes if size != 1]
    idle = tuple(name for name in several if name not in named and isinstance(mesh.size_of(name), int))
    free = tuple(name for name in idle if name not in used)
    if trains and free:
        _record(call, function, mesh, free, arguments)
    elif not trains and idle and len(idle) == len(several) and shapes:
        _record(call, function, mesh, idle, arguments, shapes=shapes)
    # What is computed of arrays of one shape alone is little.
    if not trains and not is_open and free and rows and any(shape not in rows for shape in weights):
        _record(call, function, mesh, free, arguments, rows=rows)


def note_same_data(
    call: Call,
    function: str,
    axis: str | None,
    size: Dim,
    mapped: Sequence[Value],
    whole: Sequence[Value],
    recorded: Sequence[Use],
) -> None:
    """Record a call of a function under `pmap` that computes gradients, if all that is ``mapped`` over is
    stacks of one copy for each device, and nothing in it, with what each gets ``whole``, tells them apart."""
    stacks = [array for arg in mapped for array in arrays_in(arg)]
    if call.interpreter.context.test or not isinstance(size, int) or size < 2 or not stacks:
        return
    if not all(COPIES in array.equal for array in stacks) or not all(map(is_known, (*mapped, *whole))):
        return
    apart = any(isinstance(use, CollectiveUse) and use.function not in _COMBINING for use in recorded)
    if any(isinstance(use, CallUse) and use.function == GRADIENT for use in recorded) and not apart:
        mesh = Mesh((axis or "devices",), (size,), (AxisType.AUTO,))
        _record(call, function, mesh, mesh.names, ())


def _record(
    call: Call,
    function: str,
    mesh: Mesh,
    axes: tuple[str, ...],
    arguments: Sequence[Value],
    *,
    shapes: Sequence[Shape] = (),
    rows: Sequence[Shape] = (),
) -> None:
    call.interpreter.record(
        IdleUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=Accepted(),
            facts=tuple(_facts(arguments)),
            function=function,
            mesh=mesh,
            axes=axes,
            trains=not shapes and not rows,
            shapes=tuple(dict.fromkeys(shapes)),
            rows=tuple(dict.fromkeys(rows)),
        )
    )


def _named(uses: Iterable[Use]) -> set[str] | None:
    """Return the axes that uses may name inside jit; None if they are not all known."""
    named: set[str] = set()
    for use in uses:
        for spec in _specs(use):
            axes = _axes(spec)
            if axes is None:
                return None
            named |= axes
        if isinstance(use, LogicalAxesUse) or (
            isinstance(use, CollectiveUse) and use.function not in _COMBINING
        ):
            named |= set(use.axes)
    return named


def _specs(use: Use) -> Iterator[object]:
    """Yield the specs that a use may ask for inside jit."""
    if isinstance(use, Placement) and (use.environment.in_jit or use.api in _AROUND):
        yield use.spec
    if isinstance(use, ParameterUse):
        yield from (use.names, use.axes)
    if isinstance(use, OperationUse):
        yield use.out_sharding


def _axes(spec: object) -> set[str] | None:
    """Return the axes that a spec names; None if they are not known."""
    if isinstance(spec, Unknown):
        return None
    if not isinstance(spec, Spec):
        return set()
    parts = [part for entry in spec.entries for part in (entry if isinstance(entry, tuple) else (entry,))]
    if any(isinstance(part, Unknown | Marker) for part in parts):
        return None
    return {axis for entry in spec.entries for axis in entry_axes(entry)}


def _facts(arguments: Sequence[Value]) -> list[Fact]:
    """Return where arguments are laid out."""
    places = {
        array.laid.origin: array.name
        for argument in arguments
        for array in arrays_in(argument)
        if array.laid is not None and array.laid.origin is not None
    }
    return [Fact("an argument is laid out by this", place) for place in list(places)[:3]]
