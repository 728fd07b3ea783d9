"""Tests that a class has from another module, and fixtures that are asked for by name, beside pytest."""

from __future__ import annotations

from pathlib import Path

from reports import found_by_shardlint, reported_by_pytest

BASES = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import unittest
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

class Meshes:
    shape, rows = (4, 2), 8

    def put(self, *sizes):
        jax.device_put(jnp.ones(sizes), NamedSharding(self.mesh, P("x", "y")))

    def test_1_rows(self):
        self.put(self.rows, 8)

    def test_2_columns(self):
        self.put(8, 7)

    def test_3_overridden(self):
        self.put(6, 8)

class Base(Meshes, unittest.TestCase):
    def setUp(self):
        self.mesh = jax.make_mesh(self.shape, ("x", "y"), axis_types=(AxisType.Auto,) * 2)

    def test_4_even(self):
        self.put(8, 8)
"""
EVEN = """
import bases

class Tall(bases.Base):
    shape = (8, 1)

    def test_3_overridden(self):
        self.put(16, 6)

    def test_2_columns(self):
        self.put(8, 7)
"""
UNEVEN = """
import pytest
from bases import *
from bases import Meshes as Others

@pytest.fixture
def wide():
    return jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

@pytest.fixture
def known(request):
    return request.getfixturevalue("wide")

class TestWide(Others):
    rows = 7

    @pytest.fixture(autouse=True)
    def prepare(self, known):
        self.mesh = known

def test_5_asked(known):
    jax.device_put(jnp.ones((6, 6)), NamedSharding(known, P(None, "y")))

def test_6_request(request):
    jax.device_put(jnp.ones((6, 6)), NamedSharding(request.getfixturevalue("known"), P("x")))

def test_7_request(request):
    jax.device_put(jnp.ones((5, 6)), NamedSharding(request.getfixturevalue("known"), P("x")))
"""


def test_tests_of_another_module(tmp_path: Path) -> None:
    found = {}
    for name, text in {"even": EVEN, "uneven": UNEVEN}.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bases.py").write_text(BASES)
        (folder / f"test_{name}.py").write_text(text)
        path = folder / f"test_{name}.py"
        failed, ran = reported_by_pytest(path)
        found[name] = found_by_shardlint(path)
        assert found[name] == failed, name
        assert len(ran) >= 4
    assert not found["even"]
    assert found["uneven"] == {
        "test_1_rows",
        "test_2_columns",
        "test_3_overridden",
        "test_5_asked",
        "test_7_request",
    }
