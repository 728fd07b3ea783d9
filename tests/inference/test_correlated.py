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
WRAPPER = """
    sm = jax.shard_map(lambda x: x, mesh=mesh, in_specs=(spec,), out_specs=spec)
"""
OPPOSITE = """
    if not flat:
        put((8, 8), spec)
    else:
        put((8,), spec)
"""
TWICE = """
    shape = (8,) if other() else (8, 8)
    put(shape, P("model") if other() else P("data", "model"))
"""
PART = """
    if other is not None and shape is None:
        put((), spec)
"""
INSIDE = """
    def inner(x):
        second = None
        if {test}:
            second = x + 1
        return x, second
    specs = (P("model"), P("model") if flat else None)
    return jax.shard_map(inner, mesh=mesh, in_specs=P("model"), out_specs=specs)(jnp.zeros((8,)))
"""
PROGRAMS = {
    "each branch's own": ("    put(shape, spec)", []),
    "the same test again": ("    if flat:\n        put((8,), spec)", []),
    "the opposite test": (OPPOSITE, []),
    "a conditional expression": ("    put((8,) if flat else (8, 8), spec)", []),
    "another test": ("    put((8,) if other else (8, 8), spec)", ["warning"]),
    "the test's value has changed": (
        "    flat = other\n    put((8,) if flat else (8, 8), spec)",
        ["warning"],
    ),
    "a test that may answer differently": (TWICE, ["warning"]),
    "fails for one": ("    put((8,), spec)", ["warning"]),
    "fails for both": ("    put((), spec)", ["error"]),
    "a wrapper of each": (WRAPPER + "    sm(jnp.zeros(shape))", []),
    "a wrapper that fails for one": (WRAPPER + "    sm(jnp.zeros((8,)))", ["warning"]),
    "a test that a part decides": (PART, []),
    "the same test in a function inside": (INSIDE.format(test="flat"), []),
    "another test in a function inside": (INSIDE.format(test="not flat"), ["warning"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_branches(name: str) -> None:
    body, expected = PROGRAMS[name]
    source = source_from_text("program.py", f"{HEADER}{BRANCHES}{body}\n")
    found = Linter(Settings(devices=8)).check_source(source)
    assert [str(finding.severity) for finding in found] == expected, found
