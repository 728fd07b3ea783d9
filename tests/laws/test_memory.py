"""Bytes on each device against real arrays on fake devices, and how numbers of bytes are written."""

from __future__ import annotations

import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from real_jax import real_mesh, real_spec

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.placement.array_bytes import array_bytes, best_split, device_bytes, text_of_bytes
from shardlint.laws.placement.shard_shapes import replication

MESHES = [
    Mesh(names, sizes, (AxisType.AUTO,) * len(names))
    for names, sizes in [
        (("x",), (8,)),
        (("x", "y"), (4, 2)),
        (("x", "y", "z"), (2, 2, 2)),
        (("x", "y"), (1, 6)),
    ]
]
DTYPES = ["bool", "int8", "uint16", "float16", "bfloat16", "int32", "float32", "complex64", "float8_e4m3fn"]


def test_device_bytes_agree_with_what_devices_hold() -> None:
    draw = random.Random(4)
    for _ in range(200):
        mesh = draw.choice(MESHES)
        free = draw.sample(mesh.names, len(mesh.names))
        entries, shape = [], []
        for _ in range(draw.randint(0, 3)):
            taken = [free.pop() for _ in range(min(len(free), draw.choice((0, 0, 1, 1, 2))))]
            entries.append(taken[0] if len(taken) == 1 else tuple(taken) or None)
            split = math.prod(int(str(mesh.size_of(name))) for name in taken)
            shape.append(split * draw.randint(1, 5))
        spec, dtype = Spec(tuple(entries[: draw.randint(0, 3)])), draw.choice(DTYPES)
        sharding = NamedSharding(real_mesh(mesh), real_spec(spec))
        array = jax.device_put(np.zeros(shape, jnp.dtype(dtype)), sharding)
        shards = array.addressable_shards
        assert {s.data.nbytes for s in shards} == {device_bytes(mesh, spec, tuple(shape), dtype)}
        assert array.nbytes == array_bytes(tuple(shape), dtype)
        assert [s.index for s in shards].count(shards[0].index) == replication(mesh, spec)


def test_unknown_parts_have_no_bytes() -> None:
    mesh = Mesh(("x",), (4,), (AxisType.AUTO,))
    assert array_bytes((8, symbol("d")), "float32") is None
    assert array_bytes((8, 8), None) is None
    assert device_bytes(mesh, Spec((None, "x")), (symbol("n"), 8), "float32") is None
    with pytest.raises(ValueError):
        device_bytes(mesh, Spec(("y",)), (8,), "float32")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"), (1, "1 byte"), (7, "7 bytes"), (999, "999 bytes"), (1000, "1 kB"), (1500, "1.5 kB"),
        (9940, "9.9 kB"), (9960, "10 kB"), (16_777_216, "17 MB"), (134_217_728, "134 MB"),
        (999_499, "999 kB"), (999_600, "1 MB"), (4_294_967_296, "4.3 GB"), (17e12, "17 TB"),
        (2e21, "2000 EB"), (2e25, "20000000 EB"),
    ],
)  # fmt: skip
def test_bytes_in_words(count: int, text: str) -> None:
    assert text_of_bytes(count) == text


def test_the_best_split_is_one_that_jax_takes() -> None:
    """No split over one axis, tried with the real JAX, leaves less on each device."""
    draw = random.Random(11)
    found = 0
    for _ in range(300):
        mesh = draw.choice(MESHES)
        shape = tuple(draw.choice((1, 3, 4, 6, 8, 10, 16)) for _ in range(draw.randint(0, 3)))
        held = {}
        for axis in mesh.names:
            for dimension in range(len(shape)):
                sharding = NamedSharding(real_mesh(mesh), real_spec(Spec((None,) * dimension + (axis,))))
                try:
                    held[dimension, axis] = math.prod(sharding.shard_shape(shape))
                except ValueError:
                    continue
        split = best_split(mesh, shape)
        least = min(held.values(), default=math.prod(shape))
        if split is None:
            assert least == math.prod(shape)
            continue
        found += 1
        assert held[split.dimension, split.axis] == least == math.prod(shape) // split.ways
    assert found > 100
