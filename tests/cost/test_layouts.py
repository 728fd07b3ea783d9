"""The layouts around collectives: beside the shardings that JAX writes, and on the known programs."""

from __future__ import annotations

import random
from itertools import pairwise

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from shardlint.cost.layouts import spec_of
from shardlint.cost.meshes import DeviceMesh
from shardlint.laws.core.values import Entry, Spec

SIZES = {"a": 2, "b": 2, "c": 2}


def random_entries(choose: random.Random) -> list[tuple[str, ...]]:
    """Return the axes of each of three dimensions, none twice."""
    axes = choose.sample(list(SIZES), choose.randint(0, len(SIZES)))
    cuts = sorted(choose.choices(range(len(axes) + 1), k=2))
    return [tuple(axes[i:j]) for i, j in pairwise([0, *cuts, len(axes)])]


def entry(axes: tuple[str, ...]) -> Entry:
    return None if not axes else axes[0] if len(axes) == 1 else axes


def test_specs_are_read_from_the_shardings_of_xla() -> None:
    choose = random.Random(0)
    devices = np.array(jax.devices()).reshape(2, 2, 2)
    mesh = jax.sharding.Mesh(devices, tuple(SIZES), axis_types=(AxisType.Auto,) * 3)
    for _ in range(150):
        entries = random_entries(choose)
        written = str(NamedSharding(mesh, PartitionSpec(*map(entry, entries)))._to_xla_hlo_sharding(3))
        ours = DeviceMesh(tuple(SIZES), tuple(SIZES.values()), tuple(range(8)))
        assert spec_of(written.removeprefix("{").removesuffix("}"), 3, ours) == Spec(
            tuple(map(entry, entries))
        ), written


def test_specs_are_read_from_named_shardings() -> None:
    mesh = DeviceMesh(("data", "model"), (2, 4), tuple(range(8)))
    written = "mesh['data'=2,'model'=4], [{'data', 'model'}, {}]"
    assert spec_of(written, 2, mesh) == Spec((("data", "model"), None))
    reordered = "mesh['data'=2,'model'=4], device_ids=([4,2]T(1,0)), [{'data'}, {'model'}]"
    assert spec_of(reordered, 2, mesh) == Spec(("data", "model"))


def test_what_no_spec_says_is_not_told() -> None:
    mesh = DeviceMesh(("data", "model"), (2, 4), tuple(range(8)))
    parts = ("mesh['data'=2,'model'=4], [{'model':(1)2}, {}]", "devices=[2,1,4]<=[4,2]T(1,0)", "manual")
    assert [spec_of(one, 2, mesh) for one in (*parts, "maximal device=0", "")] == [None] * 5
