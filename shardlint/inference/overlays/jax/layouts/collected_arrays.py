"""Arrays that lie split over several devices, and are collected on one, to be computed with there."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import Array, Devices, MeshValue, ShardingValue, SpecValue
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.transforms.stacked_copies import STACKED
from shardlint.laws.core.dims import product
from shardlint.laws.core.values import AxisType, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.memory_uses import CollectedUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact


def collected_on(
    array: Array, device: Devices, place: Place, name: str | None = None, path: str = ""
) -> Devices:
    """Return a device on which an array is put, with the call that puts it there if it was split.

    ``path`` is that of the array in what is called ``name``.
    """
    ways = _ways(array)
    if device.shape != () or ways < 2:
        return device
    name = f"{name}{path}" if name else array.name
    return replace(device, collected=(f"`{name}`" if name else "an array", ways, place))


def put_on(array: Array, device: Devices, place: Place, name: str | None, path: str) -> Devices:
    """Return a device on which `jax.device_put` puts an array: one whose type is on Explicit axes keeps that
    type, and no computation accepts it."""
    mesh = None if array.typed is None else array.typed.mesh
    if mesh is None or not mesh.names or set(mesh.types) != {AxisType.EXPLICIT} or array.numpy:
        return collected_on(array, device, place, name, path)
    return replace(device, typed=mesh) if device.shape == () else device


def _ways(array: Array) -> int:
    """Return over how many devices an array outside of jit is certainly split; 1 if it is not known to be."""
    if STACKED in array.traits and array.shape:
        return array.shape[0] if isinstance(array.shape[0], int) else 1
    home = array.sharding
    if not isinstance(home, ShardingValue) or not isinstance(home.mesh, MeshValue):
        return 1
    if not isinstance(home.spec, SpecValue):
        return 1
    mesh, entries = home.mesh.mesh, home.spec.spec.entries
    axes = [axis for entry in entries for axis in entry_axes(entry)]
    ways = product(mesh.size_of(axis) for axis in axes) if set(axes) <= {*mesh.names} else 1
    return ways if isinstance(ways, int) else 1


def note_collected(call: Call, function: str, home: Devices) -> None:
    """Record that a jitted function computes with an array that was collected on one device."""
    if home.collected is None:
        return
    subject, ways, place = home.collected
    call.interpreter.record(
        CollectedUse(
            place=place,
            environment=call.interpreter.environment(),
            verdict=Accepted(),
            facts=(Fact("it is computed with here", call.place),),
            subject=subject,
            devices=ways,
            function=function,
        )
    )
