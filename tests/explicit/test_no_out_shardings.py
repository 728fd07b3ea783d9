"""What is neither a spec nor a sharding is refused as ``out_sharding=``, by whatever function takes one."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from support.checking import codes, errors
from support.jax_answers import asks_jax

CALLS = [
    "jnp.einsum('ij,jk->ik', a, a, out_sharding={0})", "jnp.dot(a, a, out_sharding={0})",
    "jnp.matmul(a, a, out_sharding={0})", "jnp.tensordot(a, a, 1, out_sharding={0})",
    "lax.dot_general(a, a, (((1,), (0,)), ((), ())), out_sharding={0})",
    "jnp.reshape(a, (64,), out_sharding={0})", "lax.reshape(a, (64,), out_sharding={0})",
    "jnp.ravel(a, out_sharding={0})", "jnp.broadcast_to(a, (2, 8, 8), out_sharding={0})",
    "lax.broadcast(a, (2,), out_sharding={0})",
    "lax.broadcast_in_dim(a, (2, 8, 8), (1, 2), out_sharding={0})",
    "jnp.repeat(a, 2, out_sharding={0})",
]  # fmt: skip
WRONG = ["('x', None)", "(None, None)", "()", "'x'", "3", "(P('x'),)"]
RIGHT = ["None", "P()", "P(None)", "NamedSharding(mesh, P())"]
HEADER = """\
import jax, jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.{0},) * 2)
a = jnp.ones((8, 8))
"""


@asks_jax("explicit")
def raised(call: str, types: str, within: bool) -> str:
    """Return the class that a call raises, within a context of the mesh or outside of it, or ``""``."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType[types],) * 2)
    scope: dict[str, Any] = {"jnp": jnp, "lax": lax, "P": P, "NamedSharding": NamedSharding, "mesh": mesh}
    scope["a"] = jnp.ones((8, 8))
    try:
        with jax.set_mesh(mesh) if within else nullcontext():
            eval(call, scope)
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("types", ["Explicit", "Auto"])
def test_only_specs_and_shardings_are_taken(call: str, types: str) -> None:
    for out in [*WRONG, *RIGHT]:
        for context in ("", "with jax.set_mesh(mesh):\n    "):
            written = call.format(out)
            said = codes(errors(f"{HEADER.format(types)}{context}{written}\n"))
            error = raised(written, types, bool(context))
            if error == "TypeError":
                assert out in WRONG and said == ["SHL104"], (written, said)
            elif error:  # the mesh does not fit
                assert out in RIGHT and "SHL104" not in said
            else:
                assert out in RIGHT and not said, (written, said)
