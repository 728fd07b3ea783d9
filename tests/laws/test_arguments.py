"""What jit asks of committed arguments, against the real JAX on random meshes and specs."""

from __future__ import annotations

import math
import random
from collections import Counter

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding
from real_jax import real_spec

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided
from shardlint.laws.placement.jit_arguments import (
    DeviceOrder,
    Layout,
    judge_committed,
    judge_devices,
    judge_shards,
)

SHAPE = (8, 8, 8)


def _mesh(rng: random.Random) -> Mesh:
    sizes = rng.choice([(8,), (4, 2), (2, 4), (2, 2, 2), (1, 8), (8, 1), (4, 1, 2), (2, 2), (4,), (1,)])
    names = tuple(rng.sample(("x", "y", "z"), len(sizes)))
    kind = rng.choice((AxisType.AUTO, AxisType.AUTO, AxisType.EXPLICIT))
    return Mesh(names, sizes, (kind,) * len(sizes))


def _spec(rng: random.Random, mesh: Mesh) -> Spec:
    free = list(mesh.names)
    rng.shuffle(free)
    entries: list[Entry] = []
    for _ in range(rng.randint(0, 3)):
        axes, free = tuple(free[: (count := rng.choice((0, 0, 1, 1, 2)))]), free[count:]
        entries.append(axes[0] if len(axes) == 1 else axes or None)
    return Spec(tuple(entries))


def _real(mesh: Mesh, devices: list[jax.Device]) -> jax.sharding.Mesh:
    types = tuple(jax.sharding.AxisType[kind.value] for kind in mesh.types)
    count = math.prod(int(str(size)) for size in mesh.sizes)
    return jax.sharding.Mesh(np.array(devices[:count]).reshape(mesh.sizes), mesh.names, axis_types=types)


def test_layouts_are_compared_as_jit_compares_them() -> None:
    rng = random.Random(5)
    seen: Counter[str] = Counter()
    for _ in range(500):
        mesh, other = _mesh(rng), _mesh(rng)
        if rng.random() < 0.5:
            other = mesh
        wanted, held = _spec(rng, mesh), _spec(rng, other)
        where = NamedSharding(_real(other, jax.devices()), real_spec(held))
        array = jax.device_put(np.ones(SHAPE, np.float32), where)
        function = jax.jit(
            lambda x: x, in_shardings=NamedSharding(_real(mesh, jax.devices()), real_spec(wanted))
        )
        verdict = judge_committed(Layout(mesh, wanted), Layout(other, held), len(SHAPE))
        try:
            function.lower(array)
        except ValueError as error:
            # Types of one mesh on the devices of another are refused later, for another reason.
            typed = mesh != other and AxisType.EXPLICIT in other.types and isinstance(verdict, Accepted)
            assert typed or isinstance(verdict, Rejected), (mesh, wanted, other, held, error)
            assert typed or "does not match" in str(error)
        else:
            assert isinstance(verdict, Accepted), (mesh, wanted, other, held)
        seen[type(verdict).__name__] += 1
    assert min(seen.values()) > 100


@pytest.mark.parametrize(("spec", "accepted"), [(Spec(), True), (Spec(("x",)), False), (Spec((None,)), True)])
def test_one_device_is_a_layout_of_whole_arrays(spec: Spec, accepted: bool) -> None:
    mesh = Mesh(("x",), (8,), (AxisType.AUTO,))
    verdict = judge_committed(Layout(mesh, spec), Layout(None), 3)
    assert isinstance(verdict, Accepted if accepted else Rejected)
    sharding = NamedSharding(_real(mesh, jax.devices()), real_spec(spec))
    array = jax.device_put(np.ones(SHAPE, np.float32), jax.devices()[3])
    if accepted:
        jax.jit(lambda x: x, in_shardings=sharding)(array)
    else:
        with pytest.raises(ValueError, match="does not match"):
            jax.jit(lambda x: x, in_shardings=sharding)(array)


def test_devices_are_compared_in_order() -> None:
    rng = random.Random(6)
    seen: Counter[str] = Counter()
    for _ in range(80):
        orders, arrays = [], []
        for _ in range(2):
            ids = list(range(8))
            if rng.random() < 0.4:
                ids = rng.choice((ids[::-1], ids[:4], ids[4:], ids[:1]))
            devices = [jax.devices()[i] for i in ids]
            mesh = Mesh(("x",), (len(ids),), (AxisType.AUTO,))
            spec = real_spec(Spec(("x",)) if rng.random() < 0.7 else Spec())
            arrays.append(jax.device_put(np.ones(8, np.float32), NamedSharding(_real(mesh, devices), spec)))
            orders.append(DeviceOrder(len(ids), tuple(ids)))
        verdict = judge_devices(orders)
        try:
            jax.jit(lambda a, b: a + b).lower(*arrays)
        except ValueError:
            assert isinstance(verdict, Rejected), orders
        else:
            assert isinstance(verdict, Accepted), orders
        seen[type(verdict).__name__] += 1
    assert min(seen.values()) > 20


def test_what_is_not_known_is_left_open() -> None:
    open_mesh = Mesh(("x",), (symbol("n"),), (AxisType.AUTO,))
    mesh = Mesh(("x",), (8,), (AxisType.AUTO,))
    verdict = judge_committed(Layout(open_mesh, Spec(("x",))), Layout(mesh, Spec(("x",))), 1)
    assert isinstance(verdict, Undecided)
    same = Layout(open_mesh, Spec(("x",)))
    assert isinstance(judge_committed(same, same, 1), Accepted)
    assert isinstance(judge_devices([DeviceOrder(8), DeviceOrder(8, tuple(range(8)))]), Undecided)
    assert isinstance(judge_devices([DeviceOrder(8), DeviceOrder(4)]), Rejected)


def test_shards_are_counted_and_measured() -> None:
    rng = random.Random(7)
    seen: Counter[str] = Counter()
    for _ in range(150):
        mesh = _mesh(rng)
        spec, whole = _spec(rng, mesh), SHAPE[: rng.choice((2, 3, 3))]
        ways = [math.prod(_ways(mesh, entry)) for entry in spec.entries]
        shard = [size // by for size, by in zip(whole, (*ways, 1, 1, 1), strict=False)]
        if rng.random() < 0.3:
            shard[rng.randrange(len(shard))] *= 2
        count = mesh.device_count
        assert isinstance(count, int)
        count = max(1, count - (rng.random() < 0.2))
        verdict = judge_shards(Layout(mesh, spec), whole, [tuple(shard)] * count)
        arrays = [jax.device_put(np.ones(shard, np.float32), device) for device in jax.devices()[:count]]
        sharding = NamedSharding(_real(mesh, jax.devices()), real_spec(spec))
        try:
            jax.make_array_from_single_device_arrays(whole, sharding, arrays)
        except Exception as error:
            assert not isinstance(verdict, Accepted), (mesh, spec, whole, shard)
            if isinstance(verdict, Rejected):
                assert verdict.exception == type(error).__name__
        else:
            assert isinstance(verdict, Accepted), (mesh, spec, whole, shard)
        seen[type(verdict).__name__] += 1
    assert min(seen["Accepted"], seen["Rejected"]) > 30


def _ways(mesh: Mesh, entry: Entry) -> list[int]:
    axes = entry if isinstance(entry, tuple) else (entry,)
    return [int(str(mesh.size_of(axis))) for axis in axes if isinstance(axis, str)]
