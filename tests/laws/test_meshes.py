"""The laws of mesh construction against JAX and numpy, on every small case."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import numpy as np
import pytest
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, AxisType
from real_jax import Outcome

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType as LawType
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.meshes.construction import LAWS, duplicate_names, judge_mesh

SHAPES = [(), (1,), (3,), (4,), (8,), (16,), (2, 2), (4, 2), (3, 3), (4, 4), (2, 2, 2), (2, 1, 4)]
NAMES = [(), ("x",), ("x", "y"), ("x", "x"), ("x", "y", "z")]
OPEN_SHAPES = [(-1,), (-1, 2), (-1, 3), (2, -1), (-1, -1), (2, -1, 2), (-1, 0), (0, -1), (0,), (2, 0)]
N = symbol("n", 1)


def build(function: str, shape: tuple[int, ...], names: tuple[str, ...], types: int | None) -> Outcome:
    """Build it in JAX with 8 devices; an AbstractMesh is also used once."""
    given = {} if types is None else {"axis_types": (AxisType.Auto,) * types}
    devices = np.array(jax.devices())
    stage = f"{function}()"
    try:
        if function == "Mesh":
            grid = np.resize(devices, shape)
            jax.sharding.Mesh(grid, names, **given)
        elif function == "make_mesh":
            jax.make_mesh(shape, names, **given)
        elif function == "create_device_mesh":
            mesh_utils.create_device_mesh(shape)
        elif function == "reshape":
            stage = "reshape"
            devices.reshape(shape)
        else:
            made = AbstractMesh(shape, names, **given)
            stage = "use"
            _ = made.shape
    except Exception as error:
        return Outcome(False, type(error).__name__, stage)
    return Outcome(True)


def assert_agrees(verdict: Any, outcome: Outcome) -> None:
    """A verdict that is not Undecided must be JAX's."""
    assert isinstance(verdict, Accepted | Rejected)
    assert isinstance(verdict, Accepted) == outcome.ok
    if isinstance(verdict, Rejected):
        assert (verdict.exception, verdict.stage) == (outcome.exception, outcome.stage)


@pytest.mark.parametrize("function", LAWS)
def test_laws_agree_with_jax(function: str) -> None:
    for shape, names, types in itertools.product(SHAPES, NAMES, (None, 1, 2, 3)):
        verdict = judge_mesh(
            function, shape, names, 8, types=None if types is None else (LawType.AUTO,) * types
        )
        assert_agrees(verdict, build(function, shape, names, types))


@pytest.mark.parametrize("shape", OPEN_SHAPES)
def test_reshape_with_an_open_size_agrees_with_numpy(shape: tuple[int, ...]) -> None:
    assert_agrees(judge_mesh("reshape", shape, None, 8), build("reshape", shape, (), None))


@pytest.mark.parametrize("function", ["make_mesh", "create_device_mesh"])
def test_sizes_that_are_not_positive_agree_with_jax(function: str) -> None:
    for shape in itertools.product((-9, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16), repeat=2):
        for sizes in (shape, shape[:1]):
            names = ("x", "y")[: len(sizes)]
            assert_agrees(judge_mesh(function, sizes, names, 8), build(function, sizes, names, None))


def test_a_negative_size_beside_an_unknown_number_of_devices_is_undecided() -> None:
    assert isinstance(judge_mesh("make_mesh", (-1, 2), ("x", "y"), None), Undecided)
    assert isinstance(judge_mesh("make_mesh", (-1, N), ("x", "y"), 8), Undecided)
    assert isinstance(judge_mesh("make_mesh", (0, N), ("x", "y"), 8), Rejected)


def test_a_repeated_name_is_accepted_and_reported_apart() -> None:
    for function in ("Mesh", "make_mesh", "AbstractMesh"):
        assert isinstance(judge_mesh(function, (4, 2), ("x", "x"), 8), Accepted)
    assert duplicate_names(("x", "y", "x", "z", "y")) == ("x", "y")
    assert duplicate_names(("x", "y")) == ()


@pytest.mark.parametrize(
    ("function", "shape", "devices", "cause"),
    [
        ("make_mesh", (2 * N, 2), 2, Cause.DEVICE_COUNT),
        ("make_mesh", (2, N), None, None),
        ("make_mesh", (2, N), 2 * N, Accepted),
        ("make_mesh", (4,), 4 * N, Accepted),
        ("make_mesh", (4, N), 8, None),
        ("create_device_mesh", (N, 2), 2 * N, Accepted),
        ("create_device_mesh", (N, 2), 2 * N + 1, Cause.DEVICE_COUNT),
        ("create_device_mesh", (N, 2), 8, None),
        ("reshape", (-1, 2), 2 * N, Accepted),
        ("reshape", (-1, 2), 2 * N + 1, Cause.DEVICE_COUNT),
        ("reshape", (-1, 2), N, None),
        ("reshape", (N // 2, 2), N, None),
    ],
)
def test_symbolic_device_counts(function: str, shape: Any, devices: Any, cause: Any) -> None:
    verdict = judge_mesh(function, shape, ("x", "y")[: len(shape)], devices)
    if cause is Accepted:
        assert isinstance(verdict, Accepted)
    elif cause is None:
        assert isinstance(verdict, Undecided)
    else:
        assert isinstance(verdict, Rejected) and verdict.cause is cause


def test_unknowns_are_undecided() -> None:
    assert isinstance(judge_mesh("Mesh", Unknown("?"), ("x",), 8), Undecided)
    assert isinstance(judge_mesh("Mesh", (8,), Unknown("?"), 8), Undecided)
    assert isinstance(judge_mesh("other", (8,), ("x",), 8), Undecided)
