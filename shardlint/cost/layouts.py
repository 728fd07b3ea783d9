"""The layout that a value had before a collective, and the one asked for, as XLA's partitioner saw them.

Before it partitions a module, XLA writes it with the sharding of every value. A collective stands between two
such values: the one that it comes from, and the one that takes what it makes. Where either is not certain,
nothing is said: two values of one origin that differ, a sharding that no spec of the mesh says.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shardlint.cost.hlo import Computation, Frame, Instruction, Module, arrays_of
from shardlint.cost.meshes import DeviceMesh, device_order, groups_of
from shardlint.cost.values import Kind
from shardlint.laws.core.values import Entry, Spec, entry_axes
from shardlint.support.lazy_dataclass import dataclass

_SHARDING = re.compile(r"\bsharding=\{")
_TILES = re.compile(r"devices=\[([\d,]+)\]<?=?(.*?)(?: last_tile_dim_replicate)?$")
_ENTRIES = re.compile(r"^mesh\[[^\]]*\](?:, *device_ids=\([^()]*(?:\([^()]*\))?[^()]*\))?, *\[(.*)\]$")
_ENTRY = re.compile(r"\{([^{}]*)\}")
_GATHERS = ("all-gather", "all-gather-start", "all-gather-done")
_SENDS = (
    *_GATHERS,
    "all-to-all",
    "collective-permute",
    "collective-permute-start",
    "collective-permute-done",
)
#: What keeps a value, and changes only which part of it a device has, or how that is written down.
_MOVES = (*_SENDS, "copy", "bitcast", "reshape", "transpose", "convert", "dynamic-slice", "slice", "tuple")
_SAME = ("copy", "bitcast", "convert")
_SLICES = ("copy", "bitcast", "reshape", "transpose", "convert", "dynamic-slice")
#: What asks of its operands the layout of its result.
_ELEMENTWISE = frozenset(
    "abs add and atan2 cbrt ceil clamp compare convert copy cosine custom-call divide exponential "
    "exponential-minus-one floor is-finite log log-plus-one logistic maximum minimum multiply negate not "
    "or power remainder round-nearest-afz round-nearest-even rsqrt select sign sine sqrt subtract tan tanh "
    "xor tuple".split()
)


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layout that a value had, and the one asked for; None where it is not known."""

    before: Spec | None = None
    after: Spec | None = None


UNKNOWN = Layouts()


@dataclass(frozen=True, slots=True)
class _Value:
    """A value before partitioning, with its layout."""

    name: str
    opcode: str
    dims: tuple[int, ...]
    spec: Spec
    operands: tuple[str, ...]


#: The operation of JAX's that an instruction comes from, and the line that calls it.
_Origin = tuple[str, tuple[Frame, ...]]


class LayoutFinder:
    """Finds the layouts around the collectives of a module, which was ``whole`` before it was partitioned."""

    def __init__(self, whole: Module, partitioned: Module, mesh: DeviceMesh | None) -> None:
        self._module, self._mesh = partitioned, mesh
        self._values: dict[_Origin, list[_Value]] = defaultdict(list)
        self._arguments: dict[str, _Value] = {}
        if mesh is None:
            return
        for inside in whole.computations.values():
            for one in inside.instructions:
                if (value := _value(one, mesh)) is None:
                    continue
                if one.opcode == "parameter":
                    if inside.name == whole.entry:
                        self._arguments[one.arguments] = value
                elif one.op_name:
                    self._values[_origin(one, whole)].append(value)

    def around(
        self, one: Instruction, kind: Kind, inside: Computation, axes: Sequence[str], is_entry: bool
    ) -> Layouts:
        """Return the layouts of what a collective over these axes takes and makes."""
        if self._mesh is None or not axes:
            return UNKNOWN
        if kind in (Kind.ALL_REDUCE, Kind.REDUCE_SCATTER):
            return self._of_sum(one, inside, axes, kind is Kind.REDUCE_SCATTER)
        path = [one]
        value = None
        while value is None:
            at = next((inside.by_name.get(name) for name, _ in path[0].operands), None)
            if at is None:
                return UNKNOWN
            value = None if at.opcode in _SENDS else self._value_of(at, is_entry)
            if value is None:
                if at.opcode not in _MOVES:
                    return UNKNOWN
                path.insert(0, at)
        while len(users := inside.users.get(path[-1].name, [])) == 1:
            asked = None if users[0].opcode in _SENDS else self._value_of(users[0], is_entry)
            if asked is not None and _takes_as_it_is(asked, value):
                return Layouts(value.spec, asked.spec)
            if asked is not None or users[0].opcode not in _MOVES:
                break
            path.append(users[0])
        return Layouts(value.spec, self._gathered(value.spec, path))

    def _of_sum(self, one: Instruction, inside: Computation, axes: Sequence[str], is_split: bool) -> Layouts:
        """Return the layouts around a sum: each device has a part of the sum before it.

        Where each keeps a part of the result (``is_split``), that is what the operation itself, or what takes
        its result, is laid out as.
        """
        at, before, after = one, None, None
        while after is None:
            found = self._agreed(self._values.get(_origin(one, self._module), ()), at.shape)
            found = found or self._agreed(self._values.get(_origin(at, self._module), ()), at.shape)
            if found is not None:
                kept = tuple(_without(entry, axes) for entry in found.spec.entries)
                before = before or Spec(kept, unreduced=frozenset(axes))
                after = found.spec if not is_split or kept != found.spec.entries else None
            users = inside.users.get(at.name, [])
            if len(users) != 1 or users[0].opcode not in _SLICES:
                break
            at = users[0]
        return Layouts(before, after)

    def _value_of(self, one: Instruction, is_entry: bool) -> _Value | None:
        """Return the whole value of which an instruction makes a device's part."""
        if one.opcode == "parameter":
            found = self._arguments.get(one.arguments) if is_entry else None
            return found if found is not None and self._is_part(found, one.shape) else None
        return self._agreed(self._values.get(_origin(one, self._module), ()), one.shape)

    def _agreed(self, values: Iterable[_Value], shape: str) -> _Value | None:
        fitting = [value for value in values if self._is_part(value, shape)]
        layouts = {(value.dims, value.spec) for value in fitting}
        return fitting[0] if len(layouts) == 1 else None

    def _is_part(self, value: _Value, shape: str) -> bool:
        """Return whether a local shape is that of a device's part of a value."""
        assert self._mesh is not None
        sizes = dict(zip(self._mesh.names, self._mesh.sizes, strict=True))
        ways = [math.prod(sizes[a] for a in _names(entry)) for entry in _padded(value)]
        local = [sizes for _, sizes in arrays_of(shape)]
        return local == [tuple(-(-n // each) for n, each in zip(value.dims, ways, strict=True))]

    def _gathered(self, spec: Spec, path: Sequence[Instruction]) -> Spec | None:
        """Return the layout behind gathers; None where something else is on the way."""
        assert self._mesh is not None
        entries = list(spec.entries)
        for one in path:
            if one.opcode in _SAME:
                continue
            if one.opcode not in _GATHERS:
                return None
            along = re.search(r"\bdimensions=\{(\d+)\}", one.attributes)
            if along is None or int(along[1]) >= len(entries):
                return None
            axes = self._mesh.axes_between(groups_of(one.attributes, len(self._mesh.devices)))
            entry = entries[int(along[1])]
            if not set(axes) <= set(_names(entry)):
                return None
            entries[int(along[1])] = _without(entry, axes)
        return replace(spec, entries=tuple(entries))


def _origin(one: Instruction, module: Module) -> _Origin:
    return one.op_name, tuple(module.stack(one.frame)[-2:])


def _takes_as_it_is(asked: _Value, value: _Value) -> bool:
    """Return whether a value is an elementwise function of another one."""
    return value.name in asked.operands and asked.opcode in _ELEMENTWISE and asked.dims == value.dims


def _value(one: Instruction, mesh: DeviceMesh) -> _Value | None:
    start = _SHARDING.search(one.attributes)
    arrays = list(arrays_of(one.shape))
    if len(arrays) != 1:
        return None
    # What has no sharding is whole on each device.
    written = "replicated" if start is None else _braced(one.attributes, start.end())
    spec = spec_of(written, len(arrays[0][1]), mesh)
    if spec is None:
        return None
    return _Value(one.name, one.opcode, arrays[0][1], spec, tuple(name for name, _ in one.operands))


def _braced(text: str, start: int) -> str:
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at]
    return ""


def spec_of(written: str, rank: int, mesh: DeviceMesh) -> Spec | None:
    """Return the spec that a sharding of XLA's stands for on a mesh; None where none does.

    XLA writes tiles (``devices=[2,1,4]<=[8] last_tile_dim_replicate``) or, since JAX 0.11, axes
    (``mesh['x'=2,'y'=4], [{'x'}, {}]``).
    """
    if written == "replicated":
        return Spec((None,) * rank)
    if (named := _ENTRIES.match(written)) is not None:
        entries = [_NAMES.findall(entry) for entry in _ENTRY.findall(named[1])]
        known = all(name in mesh.names for entry in entries for name in entry)
        plain = ":" not in named[1] and named[1].count("{") == rank
        return Spec(tuple(map(_entry, entries))) if known and plain else None
    tiles = _TILES.match(written)
    if tiles is None:
        return None
    sizes = [int(n) for n in tiles[1].split(",")]
    order = device_order(tiles[2], math.prod(sizes))
    if len(sizes) not in (rank, rank + 1) or sorted(order) != sorted(mesh.devices):
        return None
    if len(sizes) > rank and not written.endswith("last_tile_dim_replicate"):
        return None
    places = dict(zip(order, itertools.product(*map(range, sizes)), strict=True))
    grid = dict(zip(mesh.devices, itertools.product(*map(range, mesh.sizes)), strict=True))
    found: list[Entry] = []
    for dim in range(rank):
        axes = _axes_along({grid[device]: place[dim] for device, place in places.items()}, mesh)
        if axes is None:
            return None
        found.append(_entry(axes))
    return Spec(tuple(found))


def _axes_along(tile: dict[tuple[int, ...], int], mesh: DeviceMesh) -> list[str] | None:
    """Return the axes, major first, whose places tell which tile of a dimension a device has."""
    origin = (0,) * len(mesh.sizes)
    if tile[origin] != 0:
        return None
    steps = {}
    for axis, size in enumerate(mesh.sizes):
        if size > 1 and (step := tile[(*origin[:axis], 1, *origin[axis + 1 :])]):
            steps[axis] = step
    if any(number != sum(at[axis] * step for axis, step in steps.items()) for at, number in tile.items()):
        return None
    return [mesh.names[axis] for axis in sorted(steps, key=lambda axis: -steps[axis])]


_NAMES = re.compile(r"'([^']*)'")


def _entry(axes: Sequence[str]) -> Entry:
    return None if not axes else axes[0] if len(axes) == 1 else tuple(axes)


def _names(entry: Entry) -> list[str]:
    return [axis for axis in entry_axes(entry) if isinstance(axis, str)]


def _without(entry: Entry, axes: Sequence[str]) -> Entry:
    return _entry([axis for axis in _names(entry) if axis not in axes])


def _padded(value: _Value) -> list[Entry]:
    return [*value.spec.entries, *[None] * (len(value.dims) - len(value.spec.entries))]
