"""Arrays on axes of one device: said of programs, not of tests."""

from __future__ import annotations

from support.checking import check

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def put():
    mesh = Mesh(np.array(jax.devices()).reshape(1, 8), ("data", "fsdp"))
    return jax.device_put(jnp.ones((32, 16)), NamedSharding(mesh, P("data")))
"""


def test_a_program_is_told() -> None:
    assert [finding.code for finding in check(PROGRAM + "\nput()\n")] == ["SHL608"]


def test_a_test_is_not() -> None:
    text = PROGRAM + "\ndef test_layout():\n    assert put().shape == (32, 16)\n"
    assert check(text, "test_layout.py") == []
