"""Random meshes, arrays and shapes for programs of one primitive."""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import math
import random
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

#: How programs are drawn and run.
MODES = ("plain", "sets", "inside")
SIZES = (1, 2, 4, 4, 8, 8, 12, 16, 3, 6)
_KINDS = ("explicit", "explicit", "explicit", "explicit", "mixed", "mixed", "manual", "auto", "none")


def draw_mesh(rng: random.Random, kind: str | None = None) -> AbstractMesh | None:
    """A mesh of 1 to 3 axes of 1, 2 or 4 devices: all of one type, mixed, or none at all."""
    kind = kind or rng.choice(_KINDS)
    if kind == "none":
        return None
    count = rng.choice((1, 2, 2, 2, 3))
    types = {
        "explicit": (AxisType.Explicit,),
        "mixed": (AxisType.Explicit, AxisType.Auto),
        "manual": (AxisType.Explicit, AxisType.Explicit, AxisType.Manual),
        "auto": (AxisType.Auto,),
    }[kind]
    sizes = tuple(rng.choice((1, 2, 2, 2, 4, 4)) for _ in range(count))
    return AbstractMesh(sizes, ("x", "y", "z")[:count], tuple(rng.choice(types) for _ in range(count)))


@dataclass
class Draw:
    """The choices of one program: its meshes, and operands drawn as they are asked for.

    ``mode`` is one of `MODES`: "sets" draws unreduced and reduced axes too, "inside" runs the program in
    shard_map over the ``manual`` axes, on arguments that are replicated over them.
    """

    rng: random.Random
    mode: str = "plain"
    manual: frozenset[str] = frozenset()
    context: AbstractMesh | None = None
    mesh: AbstractMesh | None = None
    operands: list[jax.ShapeDtypeStruct] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.mode == "plain":
            self.mesh = draw_mesh(self.rng)
        else:
            self.mesh = draw_mesh(self.rng, self.rng.choice(("explicit", "explicit", "mixed")))
        if self.mode == "inside" and self.mesh is not None:
            self.context = self.mesh
            names = self.mesh.axis_names
            self.manual = frozenset(self.rng.sample(names, self.rng.randint(1, len(names))))
            return
        other = self.rng.random()
        self.context = self.mesh if other < 0.85 else None if other < 0.95 else draw_mesh(self.rng)

    def rank(self, low: int = 0, high: int = 4) -> int:
        """A rank, mostly 1 to 3."""
        return min(high, max(low, self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))))

    def shape(self, low: int = 0, high: int = 4, *, empty: bool = True) -> tuple[int, ...]:
        """A shape of mostly even sizes, now and then an empty one."""
        sizes = (*SIZES * 9, 0) if empty else SIZES
        return tuple(self.rng.choice(sizes) for _ in range(self.rank(low, high)))

    def array(self, shape: tuple[int, ...], like: int | None = None, dtype: Any = np.float32) -> int:
        """One more operand, by its index: mostly sharded like operand ``like``, where that one is."""
        sharding = None
        mesh = self.mesh
        if not self.manual and self.rng.random() < 0.03:
            mesh = draw_mesh(self.rng)
        if mesh is not None and self.rng.random() < 0.93:
            sharding = NamedSharding(mesh, self._alike(mesh, shape, like) or self.spec(mesh, shape))
        self.operands.append(jax.ShapeDtypeStruct(shape, dtype, sharding=sharding))
        return len(self.operands) - 1

    def spec(self, mesh: AbstractMesh, shape: tuple[int, ...]) -> PartitionSpec:
        """A spec that the shape can have, on any axes of the mesh but Manual ones."""
        types = dict(zip(mesh.axis_names, mesh.axis_types, strict=True))
        free = [n for n, t in types.items() if t != AxisType.Manual and n not in self.manual]
        self.rng.shuffle(free)
        entries: list[Any] = []
        for size in shape:
            taken: list[str] = []
            while free and self.rng.random() < (0.5 if not taken else 0.25):
                if size % math.prod(mesh.shape[n] for n in (*taken, free[-1])):
                    break
                taken.append(free.pop())
            entries.append(tuple(taken) or None)
        while entries and entries[-1] is None and self.rng.random() < 0.3:
            entries.pop()
        if self.mode != "sets":
            return PartitionSpec(*entries)
        left = [n for n in free if types[n] == AxisType.Explicit]
        unreduced = {n for n in left if self.rng.random() < 0.25}
        reduced = {n for n in left if n not in unreduced and self.rng.random() < 0.3}
        return PartitionSpec(*entries, unreduced=unreduced, reduced=reduced)

    def out_sharding(self, shape: tuple[int, ...]) -> Any:
        """Mostly None; else a spec or a sharding, now and then one that is wrong."""
        if self.rng.random() < 0.6:
            return None
        mesh = self.context or self.mesh
        if mesh is not None and self.manual:
            mesh = mesh.update_axis_types(dict.fromkeys(self.manual, AxisType.Manual))
        if mesh is None or self.rng.random() < 0.05:
            return PartitionSpec("x") if self.rng.random() < 0.5 else PartitionSpec()
        if self.rng.random() < 0.1:
            mesh = draw_mesh(self.rng, "explicit") or mesh
        longer = (*shape, 8) if self.rng.random() < 0.07 else shape
        spec = self.spec(mesh, longer)
        if self.rng.random() < 0.1:
            spec = PartitionSpec(self.rng.choice((*mesh.axis_names, "q", ("x", "x"))), *spec.partitions[1:])
        if self.rng.random() < 0.05:
            spec = PartitionSpec(PartitionSpec.UNCONSTRAINED, *spec.partitions[1:])
        if self.rng.random() < 0.6:
            return spec
        try:
            return NamedSharding(mesh, spec)
        except Exception:
            return spec

    def _alike(self, mesh: AbstractMesh, shape: tuple[int, ...], like: int | None) -> PartitionSpec | None:
        if like is None or self.rng.random() < 0.3:
            return None
        model = self.operands[like].sharding
        if model is None or model.mesh != mesh:
            return None
        spec, entries = model.spec, []
        for size, entry in zip(shape, (*spec.partitions, *(None,) * 9), strict=False):
            axes = entry if isinstance(entry, tuple) else () if entry is None else (entry,)
            keep = self.rng.random() < 0.93 and size % math.prod(mesh.shape[a] for a in axes) == 0
            entries.append(entry if keep else None)
        return PartitionSpec(*entries, unreduced=spec.unreduced, reduced=spec.reduced)
