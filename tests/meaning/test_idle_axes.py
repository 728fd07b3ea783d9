"""Axes that split nothing in a training step: beside the operations that XLA counts for each device."""

from __future__ import annotations

import math

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
def loss(w, v):
    return jnp.mean((v @ w) ** 2)
w, v = jnp.ones((64, 64)), jnp.ones((64, 64))
step = lambda w, v: w - jax.grad(loss)(w, v)
def mapped(body, spec=P()):
    mean = lambda w, v: jax.lax.pmean(body(w, v), ("x", "y"))
    return jax.jit(jax.shard_map(mean, mesh=mesh, in_specs=(P(), spec), out_specs=P(), check_vma=False))
"""
#: Programs that define ``f``, ``w`` and ``v``, and the axes that split nothing.
PROGRAMS = {
    "f, w, v = jax.jit(step), jax.device_put(w, on()), jax.device_put(v, on('x'))": "y",
    "f, w, v = jax.jit(step), jax.device_put(w, on(None, 'y')), jax.device_put(v, on())": "x",
    "f, w = jax.jit(step), jax.device_put(w, on())": "xy",
    "f, w, v = jax.jit(step), jax.device_put(w, on(None, 'y')), jax.device_put(v, on('x'))": "",
    "f, w, v = jax.jit(step), jax.device_put(w, on('y')), jax.device_put(v, on('x'))": "",
    "f, w, v = jax.jit(step), jax.device_put(w, on()), jax.device_put(v, on(('x', 'y')))": "",
    "f = jax.jit(step, in_shardings=(on(), on('x')))": "y",
    "f = jax.jit(step, in_shardings=(on(), on('x')), out_shardings=on(None, 'y'))": "",
    "f = jax.jit(lambda w, v: step(w, jax.lax.with_sharding_constraint(v, on(('x', 'y')))))\n"
    "w, v = jax.device_put(w, on()), jax.device_put(v, on('x'))": "",
    # Arrays from outside are constants, which every device has whole.
    "batch = jax.device_put(v, on('x'))\n"
    "f, w = jax.jit(lambda w, v: step(w, batch)), jax.device_put(w, on())": "xy",
    "batch = jax.device_put(v, on(('x', 'y')))\n"
    "f, w = jax.jit(lambda w, v, b=batch: step(w, b)), jax.device_put(w, on())": "xy",
    "per_device = jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs=P('y'), out_specs=P('y'))\n"
    "f, w = jax.jit(lambda w, v: step(w, per_device(v))), jax.device_put(w, on())": "x",
    "f, w = mapped(step), jax.device_put(w, on())": "xy",
    "f, w = mapped(step, P('x')), jax.device_put(w, on())": "y",
    "f, w = mapped(step, P(('x', 'y'))), jax.device_put(w, on())": "",
    "f, w = mapped(lambda w, v: step(w, 2 * jax.lax.pmax(v, 'x'))), jax.device_put(w, on())": "xy",
    "own = lambda v: jax.lax.dynamic_slice_in_dim(v, 32 * jax.lax.axis_index('x'), 32)\n"
    "f, w = mapped(lambda w, v: step(w, own(v))), jax.device_put(w, on())": "y",
    "own = lambda v: jax.lax.psum_scatter(v, 'y', tiled=True)\n"
    "f, w = mapped(lambda w, v: step(w, own(v))), jax.device_put(w, on())": "x",
}


def idle_axes(program: str) -> list[str]:
    """Return the axes that are reported to split nothing."""
    reported = found(program, "SHL614")
    return [axis for axis in "xy" if any(f'"{axis}"' in one.message for one in reported)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_more_devices_compute_the_same(program: str) -> None:
    text = f"{HEADER}{program}\n"
    named = idle_axes(f"{text}f(w, v)\n")
    assert named == list(PROGRAMS[program])
    whole = f"{HEADER}f = jax.jit(step)\n"
    flops = "round(f.lower(w, v).compile().cost_analysis()['flops'])"
    ways = value(whole, flops) / value(text, flops)
    # Each device computes one part in so many; what a pmean adds is little.
    parts = math.prod(size for axis, size in (("x", 2), ("y", 4)) if axis not in named)
    assert ways == pytest.approx(parts, rel=0.2)


#: What runs while a mesh is set, with the axes that split nothing.
UNDER_A_MESH = {
    "f = jax.jit(step)": "xy",
    "f, w, v = jax.jit(step), jnp.ones((64, 64)), jnp.asarray(np.ones((64, 64), np.float32))": "xy",
    "f, v = jax.jit(step), jax.device_put(v, on('x'))": "y",
    "f = jax.jit(lambda w, v: step(w, jax.lax.with_sharding_constraint(v, P(('x', 'y')))))": "",
    "f = jax.jit(step, in_shardings=(None, P(('x', 'y'))))": "",
    "f = jax.jit(step)\n    w = f(w, v)": "xy",
}


@pytest.mark.parametrize("program", UNDER_A_MESH)
def test_the_mesh_that_is_set(program: str) -> None:
    text = f"{HEADER}with jax.set_mesh(mesh):\n    {program}\n    f(w, v)\n"
    assert idle_axes(text) == list(UNDER_A_MESH[program])
    flops = ".compile().cost_analysis()['flops']"
    whole = f"u = jnp.ones((64, 64))\n    whole = jax.jit(step).lower(u, u){flops}"
    ways = value(f"{text}    {whole}\n    part = f.lower(w, v){flops}\n", "whole / part")
    parts = math.prod(size for axis, size in (("x", 2), ("y", 4)) if axis not in UNDER_A_MESH[program])
    assert ways == pytest.approx(parts, rel=0.2)


def test_rounds_of_unknown_number_while_a_mesh_is_set() -> None:
    loop = "import sys\nwith jax.set_mesh(mesh):\n    w, f = jnp.ones((64, 64)), jax.jit(step)\n"
    loop += "    for _ in range(int(sys.argv[1])):\n        w = f(w, jnp.asarray(np.ones((64, 64))))\n"
    assert idle_axes(HEADER + loop) == ["x", "y"]


def test_a_step_of_equinox() -> None:
    program = """import equinox as eqx
model = eqx.filter_shard(eqx.nn.MLP(64, 64, 64, 1, key=jax.random.key(0)), on())
@eqx.filter_jit
def update(model, v):
    grads = eqx.filter_grad(lambda m: jnp.mean(jax.vmap(m)(v) ** 2))(model)
    return eqx.apply_updates(model, grads)
"""
    assert idle_axes(f"{HEADER}{program}update(model, jax.device_put(v, on()))\n") == ["x", "y"]
    assert not idle_axes(f"{HEADER}{program}update(model, jax.device_put(v, on(('x', 'y'))))\n")


def test_not_where_no_gradient_is_computed() -> None:
    assert not found(f"{HEADER}jax.jit(loss)(jax.device_put(w, on()), v)\n", "SHL614")


#: What evaluates gets, beside a batch of 32 rows that is split over "x" elsewhere: reported for these axes.
EVALUATED = {
    "jax.jit(loss)(jax.device_put(u, on()), jnp.ones((64, 64)))": "x",
    "jax.jit(loss)(jax.device_put(u, on(None, 'y')), np.ones((64, 64), np.float32))": "x",
    "jax.jit(loss)(jax.device_put(u, on(None, 'x')), jnp.ones((64, 64)))": "",
    "jax.jit(loss)(jax.device_put(u, on()), jax.device_put(jnp.ones((64, 64)), on('x')))": "",
    "jax.jit(loss)(jax.device_put(u, on()), jnp.ones((7, 64)))": "",
    "jax.jit(loss)(jax.device_put(w, on()), jnp.ones((64, 64)))": "",
    "jax.jit(loss)(jax.device_put(u, on()), jnp.ones((64,)))": "",
    "jax.jit(loss)(u, jnp.ones((64, 64)))": "",
    # The layout of an argument that is the compiler's may split anything.
    "jax.jit(lambda o, w, v: o.sum() + loss(w, v))(jax.jit(lambda t: t.T @ t)(jax.device_put("
    "jnp.ones((8, 16)), on('x'))), jax.device_put(u, on()), jnp.ones((64, 64)))": "",
    "jax.jit(lambda w, v: loss(w, jax.lax.with_sharding_constraint(v, on('x'))))"
    "(jax.device_put(u, on()), jnp.ones((64, 64)))": "",
    "jax.jit(loss, in_shardings=(on(), on('x')))(jax.device_put(u, on()), np.ones((64, 64), np.float32))": "",
}


@pytest.mark.parametrize("call", EVALUATED)
def test_batches_for_evaluation(call: str) -> None:
    batch = "batch, u = jax.device_put(jnp.ones((32, 64)), on('x')), jnp.ones((64, 32))\n"
    named = idle_axes(f"{HEADER}{batch}{call}\n")
    assert bool(named) == bool(EVALUATED[call]), named
    if named:
        assert "x" in named
        function, _, arguments = call.partition(")(")
        whole = "jax.jit(loss).lower(u, jnp.ones((64, 64)))"
        flops = ".compile().cost_analysis()['flops']"
        # Of the rows each device computes all: what it saves is along the axis of the weights alone.
        ways = value(HEADER + batch, f"round({whole}{flops} / {function}).lower({arguments}{flops})")
        assert ways == (4 if "'y'" in call else 1)


def test_what_another_step_names_does_not_count() -> None:
    other = "jax.jit(lambda v: jax.lax.with_sharding_constraint(v, on(('x', 'y'))))(v)\n"
    reported = found(f"{HEADER}{other}jax.jit(step)(jax.device_put(w, on()), v)\n", "SHL614")
    assert '"x" (2 devices) and "y" (4 devices)' in reported[0].message


def test_a_constraint_that_two_steps_share() -> None:
    shared = """def shared(w, v):
    return loss(w, jax.lax.with_sharding_constraint(v, on(('x', 'y'))))
for f in (jax.jit(lambda w, v: jax.grad(shared)(w, v)), jax.jit(lambda w, v: w - jax.grad(shared)(w, v))):
    f(jax.device_put(w, on()), v)
"""
    assert not found(f"{HEADER}{shared}", "SHL614")


NNX = """import optax
from flax import nnx
model = nnx.Linear(64, 64, rngs=nnx.Rngs(0))
state = nnx.state(model)
optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
def loss_of(model, v):
    return jnp.mean(model(v) ** 2)
@nnx.jit
def f(model, optimizer, v):
    loss, grads = nnx.value_and_grad(loss_of)(model, v)
    optimizer.update(model, grads)
    return loss
"""
#: Programs that lay out what a step of nnx gets, and the axes that split nothing.
NNX_PROGRAMS = {
    "v = jax.device_put(v, on('x'))": "y",
    "v = jax.device_put(v, on(None))": "xy",
    "v = jax.device_put(v, on(('x', 'y')))": "",
    "v = jax.device_put(v, on('x'))\nnnx.update(model, jax.device_put(state, on('y')))": "",
    "nnx.update(model, jax.device_put(state, on('y')))": "x",
    "nnx.update(model, jax.device_put(state, on()))": "xy",
}


@pytest.mark.parametrize("program", NNX_PROGRAMS)
def test_steps_of_nnx(program: str) -> None:
    text = f"{HEADER}{NNX}{program}\n"
    named = idle_axes(f"{text}f(model, optimizer, v)\n")
    assert named == list(NNX_PROGRAMS[program])
    flops = "round(f.lower(model, optimizer, v).compile().cost_analysis()['flops'])"
    ways = round(value(f"{HEADER}{NNX}", flops) / value(text, flops))
    assert (ways == 1) == (named == ["x", "y"])


def test_the_axes_that_a_step_of_nnx_constrains() -> None:
    inside = """def loss_of(model, v):
    return model(jax.lax.with_sharding_constraint(v, on(('x', 'y')))).sum()
"""
    assert not found(f"{HEADER}{NNX}{inside}f(model, optimizer, jax.device_put(v, on('x')))\n", "SHL614")
