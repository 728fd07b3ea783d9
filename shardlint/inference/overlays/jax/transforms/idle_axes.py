"""Mesh axes that split none of the arguments of a training step: their devices all compute the same."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.sharding.movement import layout
from shardlint.inference.overlays.jax.transforms.donation import is_known
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.laws.core.values import Mesh, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.uses import CallUse, Fact, IdleUse, Use

#: The name of the event that a gradient is computed inside jit.
GRADIENT = "jax.grad(in jit)"


def note_idle_axes(
    call: Call, function: str, arguments: Sequence[Value], result: Value, recorded: Sequence[Use]
) -> None:
    """Record a call of a jitted function that computes gradients, if an axis of the only mesh of its
    arguments splits none of them.

    ``arguments`` are as they arrive, without static ones; ``recorded`` is what the call recorded.
    """
    if call.interpreter.context.test or not any(
        isinstance(use, CallUse) and use.function == GRADIENT for use in recorded
    ):
        return
    mesh: Mesh | None = None
    split: set[str] = set()
    for array in [array for argument in arguments for array in arrays_in(argument)]:
        known = None if array.laid is None else layout(array.laid)
        made = array.typed is not None and array.typed.mesh is None
        if known is None and (made or array.numpy or array.shape == ()) and array.committed is None:
            continue
        if known is None or (mesh is not None and mesh != known[0]):
            return
        mesh = known[0]
        split |= {axis for entry in known[1].entries for axis in entry_axes(entry)}
    if mesh is None or not all(map(is_known, (*arguments, result))):
        return
    sizes = zip(mesh.names, mesh.sizes, strict=True)
    idle = tuple(name for name, size in sizes if isinstance(size, int) and size > 1 and name not in split)
    if idle:
        call.interpreter.record(
            IdleUse(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=Accepted(),
                facts=tuple(_facts(arguments)),
                function=function,
                mesh=mesh,
                axes=idle,
            )
        )


def _facts(arguments: Sequence[Value]) -> list[Fact]:
    """Return where arguments are laid out."""
    places = {
        array.laid.origin: array.name
        for argument in arguments
        for array in arrays_in(argument)
        if array.laid is not None and array.laid.origin is not None
    }
    return [Fact("an argument is laid out by this", place) for place in list(places)[:3]]
