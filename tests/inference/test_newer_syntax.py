"""Programs in the syntax of a newer Python than the one that runs shardlint."""

from __future__ import annotations

import pytest
from support.checking import check, codes

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

SIZE = 3
mesh = Mesh(np.array(jax.devices()), ("x",))
{outside}


def named(wide):
    tree_map = {inside}
    return tree_map


jax.device_put(jnp.ones(SIZE), NamedSharding(mesh, P("x")))
"""
#: Python 3.12 reads quotes, comments and lines in the fields of f-strings.
FORMATTED = ('f"{".wide" if SIZE else ""}"', 'f"{\n    SIZE  # a comment\n}"')


@pytest.mark.parametrize("text", FORMATTED)
@pytest.mark.parametrize("where", ["outside", "inside"])
def test_what_only_a_newer_python_reads_stops_nothing(text: str, where: str) -> None:
    program = PROGRAM.format(**{"outside": "", "inside": "None", where: text})
    found = set(codes(check(program)))
    assert "SHL202" in found and not found & {"SHL001", "SHL009"}
