"""What may be done with an array that was donated: errors are where JAX raises, in any operation that changes
nothing."""

from __future__ import annotations

from typing import Any

import pytest
from support.checking import check

from shardlint.model.findings import Severity

START = """import jax, jax.numpy as jnp
x = jnp.ones((4, 4))
jax.jit(lambda x: x + 1, donate_argnums=0)(x)
"""
#: Expressions of ``x`` with the shape and dtype that it has.
EXPRESSIONS = (
    "x + 1", "-x", "+x", "jnp.sin(x)", "jnp.atleast_1d(x)", "jnp.atleast_2d(x)", "jnp.conj(x)", "x.conj()",
    "jnp.copy(x)", "x.copy()", "jnp.flip(x, ())", "jnp.flip(x)", "jnp.matrix_transpose(x)",
    "jnp.moveaxis(x, 0, 0)", "jnp.swapaxes(x, 0, 0)", "jnp.rollaxis(x, 0, 0)", "jnp.positive(x)",
    "jnp.real(x)", "x.flatten()", "x.ravel()", "jnp.ravel(x)", "jax.lax.rev(x, ())",
    "jax.lax.broadcast_in_dim(x, (4, 4), (0, 1))", "jax.lax.expand_dims(x, ())",
    "x.reshape(4, 4)", "jnp.reshape(x, (-1, 4))", "jax.lax.reshape(x, (4, 4))", "x.astype(jnp.float32)",
    "x.astype(jnp.int32)", "jnp.asarray(x)", "jnp.broadcast_to(x, (4, 4))", "jax.lax.broadcast(x, ())",
    "jax.lax.convert_element_type(x, jnp.float32)", "jnp.permute_dims(x, (0, 1))", "jnp.transpose(x, (0, 1))",
    "jnp.transpose(x)", "x.T", "jax.lax.stop_gradient(x)", "jax.lax.squeeze(x, ())", "x.view(jnp.float32)",
    "jnp.zeros_like(x)", "x.shape", "x.sharding",
)  # fmt: skip
#: JAX raises, and nothing is said: other forms of them return the array.
SILENT = frozenset({"jnp.transpose(x)", "x.T"})


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_errors_are_where_jax_raises(expression: str) -> None:
    space: dict[str, Any] = {}
    exec(START, space)
    try:
        exec(expression, space)
        raises = False
    except RuntimeError as error:
        raises = "deleted" in str(error)
    findings = check(f"{START}{expression}\n")
    reported = [finding.code for finding in findings if finding.severity is Severity.ERROR]
    assert reported == (["SHL613"] if raises and expression not in SILENT else [])
