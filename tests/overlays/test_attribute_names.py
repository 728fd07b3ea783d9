"""`hasattr` of arrays, shardings and meshes, beside JAX, of each attribute that any of them has."""

from __future__ import annotations

from typing import Any

import pytest
from support.evaluation import evaluate_module

from shardlint.inference.domain.values import Const, Value
from shardlint.inference.overlays.python.builtins import attribute_names as names

HEAD = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
"""
KINDS = (
    "jnp.ones(8)",
    "jax.device_put(np.ones(8), NamedSharding(mesh, P('x')))",
    "np.ones(8)",
    "np.float32(1)",
    "np.asarray(jnp.ones(8))",
    "jax.random.key(0)",
    "jax.random.PRNGKey(0)",
    "jax.ShapeDtypeStruct((8,), 'float32')",
    "jax.ShapeDtypeStruct((8,), 'float32', sharding=NamedSharding(mesh, P('x')))",
    "jax.eval_shape(lambda x: x, jnp.ones(8))",
    "NamedSharding(mesh, P('x'))",
    "jax.sharding.SingleDeviceSharding(jax.devices()[0])",
    "mesh",
)
NAMES = sorted(
    {"lacking"}
    | names.OF_ARRAYS
    | names.ON_DEVICES
    | names.OF_STRUCTS
    | names.OF_MESHES
    | names.OF_SHARDINGS
    | names.OF_NAMED_SHARDINGS
)


def asked(program: str) -> dict[str, Any]:
    """The variables of a program at its end."""
    found: dict[str, Any] = {}
    exec(program, found)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_of(kind: str) -> None:
    lines = [f"a_{name} = hasattr(value, {name!r})\n" for name in NAMES]
    program = f"{HEAD}value = {kind}\n{''.join(lines)}"
    due, said = asked(program), evaluate_module(program).variables
    answers = {name: said[f"a_{name}"] for name in NAMES}
    known = {name: answer.value for name, answer in answers.items() if isinstance(answer, Const)}
    assert known == {name: due[f"a_{name}"] for name in known}
    assert len(known) >= 2, known


TRANSFORMS = (
    "jax.jit(f)(jnp.ones(8))",
    "jax.grad(lambda x: f(x).sum())(jnp.ones(8))",
    "jax.value_and_grad(lambda x: f(x).sum())(jnp.ones(8))",
    "jax.vmap(f)(jnp.ones((8, 8)))",
    "jax.checkpoint(f)(jnp.ones(8))",
    "jax.eval_shape(f, jnp.ones(8))",
    "jax.lax.map(f, jnp.ones(8))",
    "jax.shard_map(f, mesh=mesh, in_specs=P('x'), out_specs=P('x'))(jnp.ones(8))",
    "jax.pmap(f)(jnp.ones((8, 8)))",
    "jax.vjp(f, jnp.ones(8))",
    "jax.jvp(f, (jnp.ones(8),), (jnp.ones(8),))",
    "jax.linearize(f, jnp.ones(8))",
)


@pytest.mark.parametrize("call", TRANSFORMS)
def test_attributes_of_traced_arrays(call: str) -> None:
    program = f"""{HEAD}
def f(x):
    tell(hasattr(x, "sharding"), hasattr(x, "shape"))
    return x

{call}
"""
    due: list[tuple[bool, ...]] = []
    said: list[tuple[Value, ...]] = []
    exec(program, {"tell": lambda *answers: due.append(answers)})
    evaluate_module(program, {"tell": lambda call: said.append(tuple(call.args))})
    assert set(due) == {(False, True)}
    assert said
    for on_devices, of_all in said:
        assert not isinstance(on_devices, Const) and of_all == Const(True)
