"""jit's requirements on committed arrays: the layout of in_shardings, and the same devices for all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from shardlint.laws.core.dims import Dim, Shape, equal
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.laws.placement.checks import is_axis, parts
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.support.lazy_dataclass import dataclass

#: Layouts of more devices than this are not compared shard by shard.
_MOST_DEVICES = 4096


@dataclass(frozen=True, slots=True)
class Layout:
    """A sharding on a mesh of devices; without a mesh, the whole array on one device."""

    mesh: Mesh | None
    spec: Spec = Spec()


@dataclass(frozen=True, slots=True)
class DeviceOrder:
    """The devices of a sharding, in its order: their number, and their indices in `jax.devices()` where
    known.
    """

    count: Dim
    ids: tuple[int, ...] | None = None


def judge_committed(wanted: Layout, held: Layout, rank: int) -> Verdict:
    """Judge an array committed to ``held`` that is passed where in_shardings state ``wanted``.

    `pjit._resolve_in_shardings`: layouts are compared as the compiler sees them: which shard each device
    holds, by its number in the mesh. Names of axes do not matter, nor do axes of one device or trailing
    Nones, nor the devices themselves, to which jit moves an array of equal layout.
    """
    same = _alike(wanted, held, rank)
    if same is None:
        return Undecided("the layouts are not wholly known")
    return Accepted() if same else Rejected(Cause.OTHER_SHARDING, "ValueError", "call", detail=str(held.spec))


def judge_devices(orders: Sequence[DeviceOrder]) -> Verdict:
    """Judge the devices of all inputs of a jit (`pxla._get_and_check_device_assignment`).

    They must be the same devices in the same order. Unused arguments do not count.
    """
    unsure = False
    for one, other in itertools.combinations(orders, 2):
        same = _same_devices(one, other)
        if same is False:
            return Rejected(Cause.DEVICES, "ValueError", "call", size=one.count, ways=other.count)
        unsure = unsure or same is None
    return Undecided("whether the devices are the same is not known") if unsure else Accepted()


def judge_shards(layout: Layout, shape: Shape, shards: Sequence[Shape]) -> Verdict:
    """Judge the arrays given to `make_array_from_single_device_arrays`, in one process.

    One for each device of the mesh, each of a shard's shape (`ArrayImpl._check_and_rearrange`). A spec
    that does not fit the shape is not judged here.
    """
    mesh, spec, stage = layout.mesh, layout.spec, "make_array_from_single_device_arrays"
    if mesh is None or mesh.abstract:
        return Undecided("no mesh of devices")
    count = mesh.device_count
    if equal(count, len(shards)) is False:
        detail = f"{len(shards)} {'array' if len(shards) == 1 else 'arrays'} for {count} devices"
        return Rejected(Cause.DEVICES, "ValueError", stage, size=count, ways=len(shards), detail=detail)
    if not isinstance(judge_placement(Api.SHARD_SHAPE, mesh, spec, shape), Accepted):
        return Undecided("the sharding does not fit the shape, or may not")
    due = shard_shape(mesh, Spec(spec.entries[: len(shape)]), shape)
    unsure = equal(count, len(shards)) is None
    for shard in shards:
        same = [equal(one, other) for one, other in zip(shard, due, strict=False)]
        if len(shard) != len(due) or False in same:
            detail = f"a shard of {shape} is {due}, and an array of shape {shard} is given"
            return Rejected(Cause.DEVICES, "ValueError", stage, detail=detail)
        unsure = unsure or None in same
    return Undecided("the shapes are not wholly known") if unsure else Accepted()


def judge_process_data(local: Shape, whole: Shape, *, alone: bool) -> Verdict:
    """Judge the data given to `make_array_from_process_local_data` against its ``global_shape``.

    In one process (``alone``) they must be equal; with several, each dimension is the whole one or a part of
    which there are a whole number (`num_addressable_indices`).
    """
    stage = "make_array_from_process_local_data"
    if len(local) != len(whole):
        return Rejected(Cause.DEVICES, "ValueError", stage, detail=f"data of shape {local} for {whole}")
    same = [equal(one, other) for one, other in zip(local, whole, strict=True)]
    for index, (one, other) in enumerate(zip(local, whole, strict=True)):
        if same[index] is not False:
            continue
        parts_of = isinstance(one, int) and isinstance(other, int) and one > 0 and other % one == 0
        if alone or (isinstance(one, int) and isinstance(other, int) and not parts_of):
            detail = f"dimension {index} of the data has size {one}, and that of the whole array {other}"
            return Rejected(Cause.DEVICES, "ValueError", stage, dimension=index, size=other, detail=detail)
    if all(each is True for each in same):
        return Accepted()
    return Undecided("the shapes are not wholly known, or there may be several processes")


def _same_devices(one: DeviceOrder, other: DeviceOrder) -> bool | None:
    if equal(one.count, other.count) is False:
        return False
    return None if one.ids is None or other.ids is None else one.ids == other.ids


def _alike(one: Layout, other: Layout, rank: int) -> bool | None:
    if one == other:
        return True
    shards = [_shards(layout, rank) for layout in (one, other)]
    if shards[0] is None or shards[1] is None:
        return None
    unsplit = [not any(map(any, shard)) for shard in shards if shard is not None]
    return True if all(unsplit) else shards[0] == shards[1]


def _shards(layout: Layout, rank: int) -> list[tuple[int, ...]] | None:
    """Return the indices of the shard that each device holds, in order; None where something is not known."""
    mesh, spec = layout.mesh, layout.spec
    if mesh is None:
        return [(0,) * rank]
    sizes = [size for size in mesh.sizes if isinstance(size, int)]
    if len(sizes) < len(mesh.sizes) or math.prod(sizes) > _MOST_DEVICES or spec.unreduced or spec.reduced:
        return None
    names = [part for entry in spec.entries for part in parts(entry)]
    plain = all(entry is None or parts(entry) for entry in spec.entries)
    if not plain or not all(is_axis(name) and name in mesh.names for name in names) or len(spec) > rank:
        return None
    axes = [[mesh.names.index(str(part)) for part in parts(entry)] for entry in spec.entries]
    axes += [[]] * (rank - len(axes))
    places = itertools.product(*map(range, sizes))
    return [tuple(_number(at, along, sizes) for along in axes) for at in places]


def _number(at: Sequence[int], axes: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the index of a shard along these axes, the first of them the slowest."""
    number = 0
    for axis in axes:
        number = number * sizes[axis] + at[axis]
    return number
