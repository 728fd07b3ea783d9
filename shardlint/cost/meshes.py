"""The meshes of a compiled program, and the groups of devices between which its collectives run.

XLA numbers the devices of a program in the order of its mesh. Groups come in four forms:
``{{0,1},{2,3}}``, ``[2,2]<=[4]`` (rows of a reshaped and transposed count), ``mesh['x'=2,'y'=2] {'x'}`` (by
axes of a mesh that need not be the program's), and pairs of source and target.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

from shardlint.support.lazy_dataclass import dataclass

Groups = tuple[tuple[int, ...], ...]

_SHARDY = re.compile(r"#sdy\.mesh<\[([^\]]*)\](?:, *device_ids=\[([\d, ]*)\])?")
_NAMED = re.compile(r"\bmesh\[([^\]]*)\](?:, *device_ids=\(([^{}]*?)\)(?=[ ,]))?")
_AXIS = re.compile(r"""["']([^"']*)["']=(\d+)""")
_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_ORDER = re.compile(r"\[([\d,]+)\](?:T\(([\d,]+)\))?")
_USED = re.compile(r"'([^']*)'(?::\((\d+)\)(\d+))?")


@dataclass(frozen=True, slots=True)
class DeviceMesh:
    """A mesh's axes in order, and the devices along them, the last axis the fastest."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    devices: tuple[int, ...]

    def axes_between(self, groups: Groups) -> tuple[str, ...]:
        """Return the axes along which members of one group differ."""
        places = dict(zip(self.devices, itertools.product(*map(range, self.sizes)), strict=True))
        apart: set[int] = set()
        for group in groups:
            along = zip(*(places[device] for device in group if device in places), strict=True)
            apart.update(axis for axis, at in enumerate(along) if len(set(at)) > 1)
        return tuple(name for axis, name in enumerate(self.names) if axis in apart)


def meshes_of(text: str) -> list[DeviceMesh]:
    """Return the meshes that a module names before it is partitioned, each once; most axes first."""
    written = [*_SHARDY.findall(text), *_NAMED.findall(text)]
    found = {mesh for axes, devices in dict.fromkeys(written) if (mesh := _mesh(axes, devices)) is not None}
    return sorted(found, key=lambda mesh: (-len(mesh.names), mesh.names, mesh.devices))


def _mesh(axes: str, devices: str | None) -> DeviceMesh | None:
    named = _AXIS.findall(axes)
    if not named:
        return None
    sizes = tuple(int(size) for _, size in named)
    order = device_order(devices or "", math.prod(sizes))
    return DeviceMesh(tuple(name for name, _ in named), sizes, order)


def device_order(written: str, count: int) -> tuple[int, ...]:
    """Return the order of a mesh's devices: listed, a transposed count, or 0, 1, …"""
    if (order := _ORDER.fullmatch(written.strip())) is not None:
        return tuple(_iota(_numbers(order[1]), _numbers(order[2])))
    listed = _numbers(written)
    return tuple(listed) if len(listed) == count else tuple(range(count))


def _numbers(written: str | None) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", written or "")]


def _iota(sizes: Sequence[int], order: Sequence[int]) -> Iterator[int]:
    """Yield 0, 1, … reshaped to ``sizes`` and transposed by ``order``, row by row."""
    order = order or range(len(sizes))
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    for at in itertools.product(*(range(sizes[axis]) for axis in order)):
        yield sum(index * strides[axis] for index, axis in zip(at, order, strict=True))


def groups_of(attributes: str, partitions: int) -> Groups:
    """Return the groups of devices in an instruction's attributes; all devices are one where none are
    written.
    """
    whole = (tuple(range(partitions)),)
    if (start := re.search(r"\bsource_target_pairs=(\{\{.*?\}\})", attributes)) is not None:
        return _listed(start[1])
    found = re.search(r"\breplica_groups=", attributes)
    if found is None:
        return whole
    rest = attributes[found.end() :]
    if rest.startswith("{"):
        return _listed(rest[: rest.index("}}") + 2]) if rest.startswith("{{") else whole
    if (iota := _IOTA.match(rest)) is not None:
        shape = _numbers(iota[1])
        order = list(_iota(_numbers(iota[2]), _numbers(iota[3])))
        return tuple(tuple(order[i : i + shape[-1]]) for i in range(0, len(order), shape[-1]))
    if (named := _NAMED.match(rest)) is not None and (mesh := _mesh(named[1], named[2])) is not None:
        used = re.match(r"\s*\{(.*?)\}", rest[named.end() :])
        return _along(mesh, used[1] if used else "")
    return whole


def _listed(written: str) -> Groups:
    return tuple(tuple(_numbers(group)) for group in re.findall(r"\{([\d, ]+)\}", written))


def _along(mesh: DeviceMesh, used: str) -> Groups:
    """Return the groups of devices that differ along the axes, or parts of axes, that are named."""
    sizes: list[int] = []
    moving: list[int] = []
    parts = {name: (int(before or 1), int(size or 0)) for name, before, size in _USED.findall(used)}
    for name, size in zip(mesh.names, mesh.sizes, strict=True):
        before, part = parts.get(name, (1, 1))
        part = part or size
        if name in parts:
            moving.append(len(sizes) + 1)
        sizes += [before, part, size // (before * part)]
    resting = [axis for axis in range(len(sizes)) if axis not in moving]
    order = list(_iota(sizes, [*resting, *moving]))
    length = math.prod(sizes[axis] for axis in moving)
    return tuple(
        tuple(mesh.devices[place] for place in order[i : i + length]) for i in range(0, len(order), length)
    )
