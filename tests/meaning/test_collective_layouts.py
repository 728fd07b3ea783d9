"""The layouts of what collectives return in a body: results put together by them are as the data was."""

from __future__ import annotations

import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec

from shardlint.inference.domain.values import Array, MeshValue, SpecValue
from shardlint.inference.overlays.jax.shard_map.collective_layouts import layout_after
from shardlint.inference.overlays.jax.shard_map.split_dimensions import cut
from shardlint.laws.core.values import Spec, entry_axes

NAMES, SIZES = ("x", "y"), {"x": 2, "y": 4}
SHAPE = (16, 32, 8)
MESH = jax.make_mesh((2, 4), NAMES, axis_types=(jax.sharding.AxisType.Auto,) * 2)


def run(body: Any, before: Spec, after: Spec) -> np.ndarray:
    """Return what a body makes of numbered data, put together by a layout."""
    data = jnp.arange(float(np.prod(SHAPE))).reshape(SHAPE)
    mapped = jax.shard_map(
        body, mesh=MESH, in_specs=PartitionSpec(*before.entries), out_specs=PartitionSpec(*after.entries),
        check_vma=False,
    )  # fmt: skip
    return np.asarray(mapped(data))


def spec(rng: random.Random) -> Spec:
    axes = rng.sample(NAMES, rng.randint(0, 2))
    entries: list[tuple[str, ...]] = [() for _ in SHAPE]
    for axis in axes:
        at = rng.randrange(len(SHAPE))
        entries[at] = (*entries[at], axis)
    return Spec(tuple(e if len(e) > 1 else e[0] if e else None for e in entries))


@pytest.mark.parametrize("function", ["all_gather", "psum_scatter", "all_to_all"])
def test_they_put_the_data_together(function: str) -> None:
    rng = random.Random(function)
    known = 0
    for _ in range(120):
        before, axis = spec(rng), rng.choice(NAMES)
        tiled = function == "all_to_all" or rng.random() < 0.7
        local = tuple(
            n // int(np.prod([SIZES[axis] for axis in entry_axes(entry)]))
            for n, entry in zip(SHAPE, before.entries, strict=True)
        )
        named = {axis for entry in before.entries for axis in entry_axes(entry)}
        array = Array(local, "float32", laid=cut(NAMES, before, len(SHAPE)))
        one, other = rng.sample(range(len(SHAPE)), 2)
        options: dict[str, object] = {"tiled": tiled}
        if function == "all_gather":
            options["axis"] = one
        elif function == "psum_scatter":
            options["scatter_dimension"] = one
            if not tiled:
                continue
        else:
            options |= {"split_axis": one, "concat_axis": other}
        home = layout_after(function, array, (axis,), options, NAMES)
        if home is None:
            continue
        assert isinstance(home.spec, SpecValue) and isinstance(home.mesh, MeshValue)
        # Data that is gathered along another dimension than the one that is split is rearranged.
        if function == "all_gather" and axis in named and axis not in str(before.entries[one]):
            continue
        found = run(lambda z: getattr(lax, function)(z, axis, **options), before, home.spec.spec)  # noqa: B023
        data = np.arange(float(np.prod(SHAPE))).reshape(SHAPE)
        if function == "all_gather" and (axis not in named or not tiled):
            continue
        if function == "all_to_all" and axis not in named:
            continue
        times = SIZES[axis] if function == "psum_scatter" and axis not in named else 1
        assert found.shape == SHAPE
        np.testing.assert_allclose(found, data * times, err_msg=f"{before} {axis} {options} {home.spec}")
        known += 1
    assert known > 4, known


@pytest.mark.parametrize("function", ["psum", "pmean", "pmax", "pmin"])
def test_reductions_over_other_axes_leave_dimensions_split(function: str) -> None:
    rng = random.Random(function)
    answers = set()
    for _ in range(40):
        before, axis = spec(rng), rng.choice(NAMES)
        home = layout_after(function, Array(SHAPE, "float32", laid=cut(NAMES, before, 3)), (axis,), {}, NAMES)
        named = {axis for entry in before.entries for axis in entry_axes(entry)}
        answers.add(home is not None)
        assert (home is None) == (axis in named)
        if home is None:
            continue
        assert isinstance(home.spec, SpecValue)
        found = run(lambda z: getattr(lax, function)(z, axis), before, home.spec.spec)  # noqa: B023
        times = SIZES[axis] if function == "psum" else 1
        np.testing.assert_allclose(found, np.arange(float(np.prod(SHAPE))).reshape(SHAPE) * times)
    assert answers == {True, False}
