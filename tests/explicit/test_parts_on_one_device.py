"""Arrays on Explicit axes of one device, which JAX takes for whole arrays since 0.12.0."""

from __future__ import annotations

import pytest
from support.checking import check

from shardlint.model.findings import Severity

PROGRAM = """import jax, jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P
jax.set_mesh(jax.make_mesh({sizes}, ("data", "model"), axis_types=(AxisType.Explicit,) * 2))
x = jax.device_put(jnp.ones((16, 8)), P("data"))
{statement}
"""
#: Statements, all of which JAX refuses where "data" has several devices.
STATEMENTS = ("x[0]", "x[-1]", "x[2:5]", "x[0, 1]", "x[jnp.array([0, 1])]")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_part_is_taken(statement: str) -> None:
    # Measured on JAX 0.10.2 and 0.12.0.1; `NDIndexer.is_sharded` of 0.11.2 is that of 0.10.2.
    array_of_indices = "array" in statement
    for release, sizes, refused in (
        ("0.10.2", (1, 8), True), ("0.11.2", (1, 8), True), ("0.12.0", (1, 8), array_of_indices),
        ("0.10.2", (2, 4), True), ("0.12.0", (2, 4), True),
    ):  # fmt: skip
        found = check(PROGRAM.format(sizes=sizes, statement=statement), target=release)
        assert any(finding.severity is Severity.ERROR for finding in found) == refused, (release, sizes)
