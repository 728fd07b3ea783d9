"""Gradients of sums over devices, and what is done with them in the body: reported are those that are as many
times what JAX computes of the whole program as there are devices."""

from __future__ import annotations

import itertools
import re

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
w, u, rate = jnp.arange(1.0, 17.0), jnp.sin(jnp.arange(16.0)), jnp.ones(())
v = jnp.arange(1.0, 5.0)
n = 4
def on(body, first, *given, **options):
    specs = dict(in_specs=(P(*first), P("y"), P()), out_specs=P(*first), check_vma=False)
    return jax.shard_map(body, mesh=mesh, **specs | options)(*given, rate)
def mapped(body):
    return jax.pmap(body, axis_name="y", in_axes=(None, 0))(v, u.reshape(4, 4))[0]
def local(v, u):
    return jnp.sum((v * u) ** 2)
def loss(v, u):
    return lax.psum(local(v, u), "y")
"""
#: What is done with a gradient, and what of it is then found in the result.
AFTER = {
    "g": 1,
    "g / n": 4,
    "g / lax.psum(1, 'y')": 4,
    "g / lax.axis_size('y')": 4,
    "g / mesh.shape['y']": 4,
    "g * (1 / n)": 4,
    "jnp.divide(g, n)": 4,
    "g / lax.psum(jnp.ones(()), 'y')": 4,
    "jnp.multiply(g, 0.25)": 4,
    "(g + g) / 8": 4,
    "0.5 * g * 2": 1,
    "g.astype(jnp.float32) / 1.5 * 1.5": 1,
    "jnp.ravel(g) - 0 * u[0]": 1,
    "rate * g": 1,
    "jax.tree.map(lambda g: g / n, {'g': g})['g']": 4,
}
#: How the gradient is taken: by a part of the weights, or by all and then added up; and on one device.
TAKEN = {
    "jax.grad(loss)(v, u)": ("y", "w", "jax.grad(local)(w, u)"),
    "lax.psum(jax.grad(loss)(v, u), 'y')": (
        "", "v", "jax.grad(lambda v: sum(local(v, part) for part in u.reshape(4, 4)))(v)"
    ),
}  # fmt: skip
FACTOR = "round(float(np.sum(y * z) / np.sum(z**2)), 3)"


@pytest.mark.parametrize(("after", "taken"), [*itertools.product(AFTER, TAKEN)])
def test_gradients_that_are_not_divided(after: str, taken: str) -> None:
    first, given, right = TAKEN[taken]
    spec = f"({first!r},)" if first else "()"
    body = f"def body(v, u, rate):\n    g = {taken}\n    return {after}\n"
    program = f"{HEADER}{body}y = on(body, {spec}, {given}, u)\nz = {right}\n"
    factor = value(program, FACTOR)
    assert factor == pytest.approx(4 / AFTER[after], rel=1e-3)
    # What is given may be the number of devices, for all that is known.
    assert bool(found(program, "SHL317")) == (factor != 1 and "rate" not in after), program


#: Losses that are means: their gradients by all weights, added up, are those of the sum.
@pytest.mark.parametrize("mean", ["loss(v, u) / n", "lax.pmean(local(v, u), 'y')", "loss(v, u) * 0.25"])
def test_a_loss_that_is_divided_by_the_devices(mean: str) -> None:
    body = f"def body(v, u, rate):\n    return lax.psum(jax.grad(lambda v: {mean})(v), 'y')\n"
    right = "jax.grad(lambda v: sum(local(v, part) for part in u.reshape(4, 4)))(v)"
    program = f"{HEADER}{body}y = on(body, (), v, u)\nz = {right}\n"
    assert value(program, FACTOR) == 1
    assert not found(program, "SHL317")


def test_a_loss_that_is_divided_by_something_else() -> None:
    body = "def body(v, u, rate):\n    return lax.psum(jax.grad(lambda v: loss(v, u) / 16)(v), 'y')\n"
    right = "jax.grad(lambda v: sum(local(v, part) for part in u.reshape(4, 4)) / 16)(v)"
    program = f"{HEADER}{body}y = on(body, (), v, u)\nz = {right}\n"
    assert value(program, FACTOR) == 4
    assert found(program, "SHL317")


@pytest.mark.parametrize(
    "after", [after for after in AFTER if not {"rate", "mesh"} & {*re.split(r"\W", after)}]
)
def test_the_same_in_pmap(after: str) -> None:
    taken = "lax.psum(jax.grad(loss)(v, u), 'y')"
    body = f"def body(v, u):\n    g = {taken}\n    return {after}\n"
    program = f"{HEADER}{body}y = mapped(body)\nz = {TAKEN[taken][2]}\n"
    factor = value(program, FACTOR)
    assert factor == pytest.approx(4 / AFTER[after], rel=1e-3)
    findings = found(program, "SHL317")
    assert bool(findings) == (factor != 1), program
    assert not any("check_vma" in finding.message for finding in findings)


def test_optimizers_that_take_no_notice_of_the_scale() -> None:
    body = """def body(v, u, rate):
    g = lax.psum(jax.grad(loss)(v, u), 'y')
    optimizer = optax.adam(0.1)
    updates, _ = optimizer.update(g, optimizer.init(v))
    return updates
"""
    once = body.replace("g = lax.psum(", "g = lax.pmean(").replace("body", "other")
    program = f"{HEADER}{body}{once}y, z = on(body, (), v, u), on(other, (), v, u)\n"
    assert value(program, FACTOR) == 1
    assert not found(program, "SHL317")


#: Optimizers, and how much larger the step is that they make of a gradient that comes multiplied.
OPTIMIZERS = {
    "optax.sgd(0.1)": 4,
    "optax.sgd(0.1, momentum=0.9)": 4,
    "optax.chain(optax.trace(0.9), optax.scale(-0.1))": 4,
    "optax.chain(optax.scale(1 / n), optax.sgd(0.1))": 1,
    "optax.chain(optax.scale_by_adam(), optax.scale(-0.1))": 1,
    "optax.adamw(0.1)": 1,
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_steps_of_optimizers(optimizer: str) -> None:
    body = f"""def body(v, u):
    g = lax.psum(jax.grad(loss)(v, u), 'y')
    updates, _ = {optimizer}.update(g, {optimizer}.init(v), v)
    return optax.apply_updates(v, updates)
"""
    right = body.replace("body", "other").replace("loss", "local").replace("scale(1 / n)", "identity()")
    program = f"{HEADER}{body}{right}y, z = mapped(body) - v, mapped(other) - v\n"
    larger = OPTIMIZERS[optimizer]
    assert value(program, FACTOR) == pytest.approx(larger, rel=1e-2)
    assert bool(found(program, "SHL317")) == (larger != 1), program
