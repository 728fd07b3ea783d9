"""What jit returns of an unevenly constrained array, on random meshes of up to eight devices: beside JAX."""

from __future__ import annotations

import math
import random
from collections import Counter

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from support.jax_answers import asks_jax

from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Returned
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.versions.era import since

CASES = 100
MESHES = ((8,), (6,), (4, 2), (2, 4), (2, 4), (2, 3), (1, 2, 4), (2, 1, 4), (2, 4, 1), (2, 2, 2), (4, 1, 2))


def drawn(seed: int) -> tuple[Mesh, Spec, tuple[int, ...]]:
    """A mesh, a spec without repeated axes, and a shape of small sizes."""
    rng = random.Random(seed)
    sizes = rng.choice(MESHES)
    names = ("x", "y", "z")[: len(sizes)]
    mesh = Mesh(names, sizes, (AxisType.AUTO,) * len(sizes))
    left = rng.sample(names, len(names))
    entries: list[Entry] = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        taken = tuple(left.pop() for _ in range(min(len(left), rng.choice((0, 1, 1, 2)))))
        entries.append(taken if len(taken) > 1 else taken[0] if taken else None)
    return mesh, Spec(tuple(entries)), tuple(rng.choice((2, 3, 4, 5, 6, 9, 10, 12)) for _ in entries)


def _written(made: object) -> object:
    return made.name if isinstance(made, Returned) else made


def _read(written: object) -> object:
    return Returned[written] if isinstance(written, str) else written


def _built(mesh: Mesh) -> jax.sharding.Mesh:
    types = (jax.sharding.AxisType.Auto,) * len(mesh.names)
    sizes = tuple(int(str(size)) for size in mesh.sizes)
    return jax.make_mesh(sizes, mesh.names, axis_types=types, devices=jax.devices()[: math.prod(sizes)])


@asks_jax("laws", encode=_written, decode=_read)
def returned(mesh: Mesh, spec: Spec, shape: tuple[int, ...]) -> object:
    """What jit returns: a spec, or what becomes of an array that has none."""
    target = NamedSharding(_built(mesh), PartitionSpec(*spec.entries))
    try:
        constrained = jax.jit(lambda v: jax.lax.with_sharding_constraint(v, target))(np.ones(shape))
    except ValueError:
        return Returned.REFUSED
    found = constrained.sharding
    if not isinstance(found, NamedSharding):
        return Returned.NAMELESS
    alone = {name for name, size in zip(mesh.names, mesh.sizes, strict=True) if size == 1}
    return [tuple(part for part in _parts(entry) if part not in alone) for entry in found.spec]


@asks_jax("laws")
def raised(mesh: Mesh, spec: Spec, shape: tuple[int, ...]) -> str | None:
    """What a jit without arguments raises for a bare spec under `jax.set_mesh`."""
    bare = PartitionSpec(*spec.entries)
    with jax.set_mesh(_built(mesh)):
        try:
            jax.jit(lambda: jax.lax.with_sharding_constraint(np.ones(shape), bare))()
        except Exception as error:
            return type(error).__name__
    return None


def _parts(entry: Entry) -> tuple[object, ...]:
    return entry if isinstance(entry, tuple) else () if entry is None else (entry,)


_RAISED = {Returned.REFUSED: "IndivisibleError", Returned.NAMELESS: "KeyError"}


def test_uneven_outputs_are_as_in_jax() -> None:
    counts: Counter[object] = Counter()
    for number in range(CASES):
        mesh, spec, shape = drawn(number)
        verdict = judge_placement(Api.CONSTRAINT, mesh, spec, shape)
        assert isinstance(verdict, Accepted) and verdict.spec is not None
        real = returned(mesh, spec, shape)
        told = (mesh, spec, shape, verdict, real)
        counts[verdict.returned] += 1
        if verdict.returned is not None:
            assert real is verdict.returned, told
            assert raised(mesh, spec, shape) == _RAISED[verdict.returned], told
            assert any(isinstance(entry, Unknown) for entry in verdict.spec.entries), told
            continue
        said = [_parts(entry) for entry in verdict.spec.entries]
        assert isinstance(real, list) and said[: len(real)] == real, told
        assert not any(said[len(real) :]), told
    cut = counts[Returned.REFUSED], counts[Returned.NAMELESS]
    assert all(cut) if since("0.11.2") else not any(cut), counts
