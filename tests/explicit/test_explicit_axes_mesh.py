"""`explicit_axes` and `auto_axes` need a mesh with their axes; `explicit_axes` takes it from the context."""

from __future__ import annotations

import jax
import pytest
from explicit_probes import evaluate
from support.jax_answers import asks_jax

from shardlint.laws.core.verdicts import Cause, Rejected

HEAD = """
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
explicit = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Explicit,))
def body(x): return x * 2
plain = jax.sharding.explicit_axes(body, in_sharding=P("x"))
bound = jax.sharding.explicit_axes(body, in_sharding=NamedSharding(explicit, P("x")))
x = jnp.ones(8)
"""
CALLS = (
    "plain(x)", "bound(x)", "jax.jit(plain)(x)", "jax.jit(bound)(x)",
    "jax.sharding.explicit_axes(body)(x, in_sharding=P('x'))", "jax.vmap(plain)(jnp.ones((2, 8)))",
)  # fmt: skip


@asks_jax("explicit")
def raised(text: str) -> tuple[str, bool]:
    """Return the class that a program raises, or ``""``, and whether that is for want of a mesh."""
    try:
        exec(text, {})
    except Exception as error:
        return type(error).__name__, "mesh cannot be empty" in str(error)
    finally:
        jax.clear_caches()
    return "", False


@pytest.mark.parametrize("context", ["", "jax.set_mesh(explicit)", "jax.set_mesh(mesh)"])
@pytest.mark.parametrize("call", CALLS)
def test_a_mesh_is_wanted_in_the_context(call: str, context: str) -> None:
    text = f"with {context}:\n    {call}\n" if context else call
    _, uses = evaluate(HEAD + text)
    found = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
    error, wants_mesh = raised(HEAD + text)
    if error:
        known = [one for one in found if one.cause is Cause.NO_MESH]
        assert bool(known) is wants_mesh, error
        assert all(one.exception == error for one in known)
    else:
        assert not found


@pytest.mark.parametrize("axes", ['"x"', '"y"', '("x", "y")', '("y", "x")', "()", "None"])
@pytest.mark.parametrize("outside", ["explicit", "mesh"])
@pytest.mark.parametrize(
    "wrapped",
    [
        "explicit_axes(body, axes={axes}, in_sharding=P())",
        "explicit_axes(axes={axes}, in_sharding=P())(body)",
        "auto_axes(body, axes={axes}, out_sharding=P())",
        "auto_axes(axes={axes}, out_sharding=P())(body)",
    ],
)
def test_its_axes_are_axes_of_the_mesh(wrapped: str, outside: str, axes: str) -> None:
    text = f"with jax.set_mesh({outside}):\n    jax.sharding.{wrapped.format(axes=axes)}(x)\n"
    _, uses = evaluate(HEAD + text)
    found = [use.verdict.exception for use in uses if isinstance(use.verdict, Rejected)]
    error, _ = raised(HEAD + text)
    assert found == ([error] if error else [])
