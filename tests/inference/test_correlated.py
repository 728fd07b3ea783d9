"""Values of one test's branches meet only their own; what fails for some of them is a warning."""

from __future__ import annotations

import pytest

from shardlint.api import Linter, Settings
from shardlint.files.sources import source_from_text

HEADER = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def put(shape, spec):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, spec))
"""
BRANCHES = """
def f(flat, other):
    if flat:
        shape, spec = (8,), P("model")
    else:
        shape, spec = (8, 8), P("data", "model")
"""
PROGRAMS = {
    "each branch's own": ("    put(shape, spec)", []),
    "the same test again": ("    if flat:\n        put((8,), spec)", []),
    "the opposite test": ("    if not flat:\n        put((8, 8), spec)\n    else:\n        put((8,), spec)", []),
    "a conditional expression": ("    put((8,) if flat else (8, 8), spec)", []),
    "another test": ("    put((8,) if other else (8, 8), spec)", ["warning"]),
    "the test's value has changed": (
        "    flat = other\n    put((8,) if flat else (8, 8), spec)", ["warning"],
    ),
    "a test that may answer differently": (
        "    put((8,) if other() else (8, 8), P('model') if other() else P('data', 'model'))", ["warning"],
    ),
    "fails for one": ("    put((8,), spec)", ["warning"]),
    "fails for both": ("    put((), spec)", ["error"]),
    "a wrapper of each": (
        "    sm = jax.shard_map(lambda x: x, mesh=mesh, in_specs=(spec,), out_specs=spec)\n    sm(jnp.zeros(shape))",
        [],
    ),
    "a wrapper that fails for one": (
        "    sm = jax.shard_map(lambda x: x, mesh=mesh, in_specs=(spec,), out_specs=spec)\n    sm(jnp.zeros((8,)))",
        ["warning"],
    ),
    "a test that part of it decides": ("    if other is not None and shape is None:\n        put((), spec)", []),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_branches(name: str) -> None:
    body, expected = PROGRAMS[name]
    source = source_from_text("program.py", f"{HEADER}{BRANCHES}{body}\n")
    found = Linter(Settings(devices=8)).check_source(source)
    assert [str(finding.severity) for finding in found] == expected, found
