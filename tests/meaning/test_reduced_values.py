"""Means of ratios, and gradients of sums without the check: reported where the numbers are others."""

from __future__ import annotations

import pytest
from consequences import found, of_pages, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
w, u = jnp.arange(1.0, 17.0), jnp.sin(jnp.arange(16.0))
def on(body, first, out, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=(P(*first), P("y")), out_specs=P(*out), **options)(w, u)
def local(w, u):
    return jnp.sum((jnp.tile(w, 16 // w.size)[: u.size] * u) ** 2)
"""
#: Gradients by `w`, split over "y" or whole, and whether they come multiplied.
GRADIENTS: dict[str, bool] = {
    "on(lambda w, u: jax.grad(lambda w: lax.psum(jnp.sum(w * u), 'y'))(w), 'y', 'y', check_vma=False)": True,
    "on(lambda w, u: jax.grad(lambda w: lax.psum(jnp.sum(w * u), 'y') ** 2)(w), 'y', 'y', "
    "check_vma=False)": True,
    "on(lambda w, u: jax.value_and_grad(lambda w: jnp.sin(lax.psum(jnp.sum(w * u), 'y')))(w)[1], 'y', 'y', "
    "check_vma=False)": True,
    "on(lambda w, u: jax.grad(lambda w: lax.psum(jnp.sum(w * u), 'y'))(w), 'y', 'y')": False,
    "on(lambda w, u: jax.grad(lambda w: jnp.sum(w * u))(w), 'y', 'y', check_vma=False)": False,
    "on(lambda w, u: jax.grad(lambda w: lax.psum(jnp.sum(w * u), 'x'))(w), 'y', 'y', check_vma=False)": False,
    "on(lambda w, u: lax.psum(jax.grad(lambda w: lax.psum(local(w, u), 'y'))(w), 'y'), (), (), "
    "check_vma=False)": True,
    "on(lambda w, u: lax.pmean(jax.grad(lambda w: lax.psum(local(w, u), 'y'))(w), 'y'), (), (), "
    "check_vma=False)": False,
    "on(lambda w, u: lax.psum(jax.grad(lambda w: local(w, u))(w), 'y'), (), (), check_vma=False)": False,
    "on(lambda w, u: lax.pmean(jax.grad(lambda w, u: lax.psum(local(w, u), 'y'))(w, u), 'y'), (), (), "
    "check_vma=False)": False,
    "on(lambda w, u: jax.grad(lambda w, u: lax.psum(jnp.sum(w * u), 'y'), argnums=1)(w, u), 'y', 'y', "
    "check_vma=False)": True,
}  # fmt: skip
#: The same gradients on one device.
RIGHT = {
    "argnums=1": "w",
    "** 2": "jax.grad(lambda w: jnp.sum(w * u) ** 2)(w)",
    "sin(l": "jax.grad(lambda w: jnp.sin(jnp.sum(w * u)))(w)",
    "local": "jax.grad(lambda w: sum(local(w, part) for part in u.reshape(4, 4)))(w)",
    "": "u",
}


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients_that_come_multiplied(call: str) -> None:
    right = next(text for part, text in RIGHT.items() if part in call)
    program = f"{HEADER}y = {call}\n"
    factor = value(f"{program}z = {right}\n", "round(float(np.sum(y * z) / np.sum(z**2)), 3)")
    if "'x'))(w)" in call:
        factor /= 2  # the sum is of two equal parts, which SHL309 is about
    assert factor == pytest.approx(4 if GRADIENTS[call] else 1, rel=1e-3)
    assert bool(found(program, "SHL317")) == GRADIENTS[call]


#: Losses over parts with different weights, and whether they are means of ratios.
LOSSES: dict[str, bool] = {
    "lax.pmean((w * u).sum() / w.sum(), 'y')": True,
    "lax.pmean(jnp.divide((w * u).sum(), jnp.maximum(w.sum(), 1)) + 1 - 1, 'y')": True,
    "lax.psum((w * u).sum() / w.sum(), 'y') / 4": True,
    "lax.psum((w * u).sum(), 'y') / lax.psum(w.sum(), 'y')": False,
    "lax.psum((w * u).sum() / lax.psum(w.sum(), 'y'), 'y')": False,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_means_of_ratios(loss: str) -> None:
    program = f"{HEADER}y = on(lambda w, u: {loss}, 'y', ())\n"
    are_close = value(f"{program}z = (w * u).sum() / w.sum()\n", "bool(np.allclose(y, z, rtol=1e-3))")
    assert are_close != LOSSES[loss]
    assert bool(found(program, "SHL316")) == LOSSES[loss]


#: Variances of parts of different means, and whether each device takes its own part's.
VARIANCES: dict[str, bool] = {
    "lax.pmean(w.var(), 'y')": True,
    "lax.pmean(jnp.var(w) + 1.0 - 1.0, 'y')": True,
    "lax.pmean(((w - lax.pmean(w.mean(), 'y')) ** 2).mean(), 'y')": False,
    "lax.pmean((w**2).mean(), 'y') - lax.pmean(w.mean(), 'y') ** 2": False,
    "lax.psum(w.var() * w.size, 'y') / 16 + "
    "lax.pmean((w.mean() - lax.pmean(w.mean(), 'y')) ** 2, 'y')": False,
}


@pytest.mark.parametrize("variance", VARIANCES)
def test_variances_of_parts(variance: str) -> None:
    program = f"{HEADER}y = on(lambda w, u: {variance}, 'y', ())\n"
    are_close = value(f"{program}z = w.var()\n", "bool(np.allclose(y, z, rtol=1e-3))")
    assert are_close != VARIANCES[variance]
    assert bool(found(program, "SHL316")) == VARIANCES[variance]


@pytest.mark.parametrize("spread", ["part.var()", "jnp.std(part, axis=0)", "jnp.var(part, axis=1)"])
def test_variances_of_what_pmap_hands_out(spread: str) -> None:
    program = (
        f"{HEADER}y = jax.pmap(lambda part: lax.pmean({spread}, 'i'), axis_name='i')(u.reshape(8, 2, 1))\n"
    )
    whole = f"z = {spread.replace('part', 'u.reshape(-1, 1)')}\n"
    reported = bool(found(program, "SHL316"))
    assert reported
    if "axis=1" not in spread:
        assert not value(f"{program}{whole}", "bool(np.allclose(y[0], z, rtol=1e-3))")


def test_means_of_means_are_not_reported() -> None:
    for loss in ("lax.pmean((w * u).mean(), 'y')", "lax.pmean((w * u).sum() / w.size, 'y')"):
        assert not found(f"{HEADER}y = on(lambda w, u: {loss}, 'y', ())\n", "SHL316")


def test_both_pages_differ_from_what_is_meant() -> None:
    assert of_pages("SHL317", "bool(np.allclose(bad.y, 8 * good.y))")
    assert not of_pages("SHL316", "bool(np.allclose(bad.y, good.y, rtol=1e-3))")


#: What is done with the gradient of each part's mean, and whether it is clipped before it is averaged.
CLIPPED: dict[str, bool] = {
    "lax.pmean(clipped(optax.clip_by_global_norm(0.1), g), 'y')": True,
    "lax.pmean(clipped(optax.clip(0.05), g), 'y')": True,
    "lax.pmean(clipped(optax.chain(optax.clip_by_global_norm(0.1), optax.sgd(0.1)), g), 'y')": True,
    "clipped(optax.clip_by_global_norm(0.1), lax.pmean(g, 'y'))": False,
    "lax.pmean(clipped(optax.sgd(0.1), g), 'y')": False,
}


@pytest.mark.parametrize("step", CLIPPED)
def test_gradients_that_each_device_clips(step: str) -> None:
    header = (
        HEADER.replace("numpy as np", "numpy as np, optax")
        + """def clipped(tx, g):
    return tx.update(g, tx.init(g), g)[0]
def body(w, u):
    g = jax.grad(lambda w: jnp.mean((w[:4] * u) ** 2))(w)
    return STEP
"""
    )
    program = header.replace("STEP", step) + "y = on(body, (), (), check_vma=False)\n"
    one = step.replace("lax.pmean(g, 'y')", "g")
    one = one.removeprefix("lax.pmean(").removesuffix(", 'y')") if one == step else one
    right = f"g = jax.grad(lambda w: jnp.mean((w[:4] * u.reshape(4, 4)) ** 2))(w)\nz = {one}\n"
    are_close = value(f"{program}{right}", "bool(np.allclose(y, z, rtol=1e-3))")
    assert are_close != CLIPPED[step]
    assert bool(found(program, "SHL316")) == CLIPPED[step]
