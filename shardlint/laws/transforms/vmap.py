"""Requirements of `vmap` and `pmap` on the axes they map over."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.dims import Dim, Shape, divisible, equal
from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array that is mapped over: the user's name for it, its shape, and its axis in in_axes."""

    subject: str
    shape: Shape
    axis: int

    @property
    def size(self) -> Dim | None:
        """Return the number of examples it holds; None where it has no such axis."""
        rank = len(self.shape)
        return self.shape[self.axis] if -rank <= self.axis < rank else None


def judge_mapped(leaves: Sequence[Leaf], told: Dim | None = None, *, pmap: bool = False) -> Verdict:
    """Judge the mapped axes of all arguments (`api._mapped_axis_size`); ``told`` is ``axis_size=``.

    Every array must have the axis, and all as many examples. The exception of `pmap` otherwise depends on the
    axis, and on which size divides which.
    """
    for leaf in leaves:
        if leaf.size is None:
            detail = f"{leaf.subject} of shape {leaf.shape} has no axis {leaf.axis} to map over"
            return Rejected(Cause.MISUSE, "Exception" if pmap else "ValueError", "trace", detail=detail)
    if pmap and any(leaf.axis < 0 for leaf in leaves):
        return Undecided("pmap takes negative axes of some ranks only")
    sizes = [("axis_size", told)] * (told is not None) + [(leaf.subject, leaf.size) for leaf in leaves]
    unsure = False
    for subject, size in sizes[1:]:
        first, other = sizes[0]
        assert size is not None and other is not None
        same = equal(size, other)
        if same is False:
            claim = f"axis_size is {other}" if first == "axis_size" else f"{first} holds {other}"
            detail = f"{subject} holds {size} examples along its mapped axis, but {claim}"
            return Rejected(Cause.MISUSE, "Exception" if pmap else "ValueError", "trace", detail=detail)
        unsure = unsure or same is None
    return Undecided("whether the sizes are equal is not known") if unsure else Accepted()


def judge_spmd(axes: Sequence[str], spec: Spec, mesh: Mesh | None) -> Verdict:
    """Judge a with_sharding_constraint under ``vmap(spmd_axis_name=axes)`` on an array that is mapped over,
    or, without a mesh, a spec of a `shard_map` of such an array.

    The mapped dimension is sharded over these axes in the constraint (`pjit._sharding_constraint_batcher`):
    the mesh must have them, and the spec may not name them, nor may any of shard_map's
    (`shard_map._shard_map_batch`).
    """
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    for axis in axes:
        if axis in named:
            detail = f'spmd_axis_name gives "{axis}" to the mapped dimension, and {spec} to another'
            return Rejected(Cause.DUPLICATE_AXIS, "ValueError", "trace", axis=axis, detail=detail)
    for axis in axes if mesh is not None else ():
        if mesh is not None and axis not in mesh.names:
            names = ", ".join(f'"{name}"' for name in mesh.names)
            detail = f'spmd_axis_name is "{axis}", and the mesh of this constraint has {names}'
            return Rejected(Cause.UNKNOWN_AXIS, "ValueError", "trace", axis=axis, detail=detail)
    return Accepted()


def judge_resharded(axes: Sequence[str], spec: Spec) -> Verdict:
    """Judge a `reshard` of an array whose dimension along these Explicit axes `vmap` maps over.

    The mapped dimension stays along them (`pjit._reshard_batcher`).
    """
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    for axis in axes:
        if axis in named:
            detail = f'`vmap` maps over a dimension along "{axis}", and {spec} gives it to another'
            return Rejected(Cause.DUPLICATE_AXIS, "DuplicateSpecError", "trace", axis=axis, detail=detail)
    return Accepted()


def judge_over_devices(leaf: Leaf, devices: Dim, *, traced: bool) -> Verdict:
    """Judge a `pmap` over this many devices: one example each, so there may not be more examples.

    Outside jit `pmap` first places its arguments, which fails where the number of devices does not divide
    them.
    """
    size = leaf.size
    if size is None or not isinstance(size, int) or not isinstance(devices, int):
        return Undecided("how many examples or devices there are is not known")
    if size <= devices:
        return Accepted()
    exception = "ValueError" if traced or divisible(size, devices) else "IndivisibleError"
    detail = f"{leaf.subject} holds {size} examples along its mapped axis, for {devices} devices"
    return Rejected(Cause.INDIVISIBLE, exception, "trace", size=size, ways=devices, detail=detail)
