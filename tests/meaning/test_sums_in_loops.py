"""Sums over devices in each round of a loop: reported where one sum after the loop has the same numbers."""

from __future__ import annotations

import pytest
from consequences import found, of_pages, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, flax.linen as nn
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("b",))
w, x = jnp.arange(1.0, 5.0), jax.random.normal(jax.random.key(0), (8, 5, 3, 4))
net = nn.Dense(4)
params = {"params": {"kernel": jnp.eye(4), "bias": jnp.zeros(4)}}
def mean(tree):
    return jax.tree.map(lambda g: lax.pmean(g, "b"), tree)
def total(tree):
    return lax.psum(tree, "b")
def same(tree):
    return tree
def loss(w, x, offset=0.0):
    return jnp.mean((x @ w + offset) ** 2)
grad, zero = jax.grad(loss), jnp.zeros_like(w)
def collect(R, S, w, x, of=lambda R, w, x: R(grad(w, x))):
    return S(lax.scan(lambda c, x: (c + of(R, w, x), None), jnp.zeros_like(w), x)[0])
def looped(R, S, w, x):
    return S(lax.fori_loop(0, 5, lambda i, c: c + R(grad(w, x[i])), zero))
def while_less(R, S, w, x):
    def body(c):
        return c[0] + 1, c[1] + R(grad(w, x[c[0]]))
    return S(lax.while_loop(lambda c: c[0] < 5, body, (0, jnp.zeros_like(w)))[1])
def trees(R, S, w, x):
    def body(carry, x):
        losses, grads = carry
        value, new = jax.value_and_grad(lambda p: loss(p["w"], x @ p["v"]))({"w": w, "v": jnp.eye(4)})
        return (losses + value, jax.tree.map(jnp.add, grads, R(new))), None
    zeros = {"w": zero, "v": jnp.zeros((4, 4))}
    return S(lax.scan(body, (0.0, zeros), x)[0][1])
def with_flax(R, S, w, x):
    def of(R, w, x):
        return R(jax.grad(lambda w: (net.apply(params, x) @ w).mean())(w))
    return collect(R, S, w, x, of)
def nested(R, S, w, x):
    def outer(c, x):
        return lax.scan(lambda c, x: (c + R(grad(w, x[None])), None), c, x)[0], None
    return S(lax.scan(outer, jnp.zeros_like(w), x)[0])
def by_loss(R, S, w, x):
    return S(lax.scan(lambda c, x: (c + R(grad(w, x, c.sum())), None), jnp.zeros_like(w), x)[0])
def shared(R, S, w, x):
    def body(carry, x):
        c, most = carry
        g = R(grad(w, x))
        return (c + g, jnp.maximum(most, jnp.square(g).sum())), None
    c, most = lax.scan(body, (zero, 0.0), x)[0]
    return S(c), most
def used_again(R, S, w, x):
    def body(c, x):
        g = R(grad(w, x))
        return c + g, g * 2
    c, rows = lax.scan(body, zero, x)
    return S(c), rows
def of_sums(R, S, w, x):
    def body(carry, x):
        g = R(grad(w, x))
        return (carry[0] + g, carry[1] + R(jax.grad(lambda w: loss(w * g, x))(w))), None
    return S(lax.scan(body, (zero, zero), x)[0])
def descent(R, S, w, x):
    return S(lax.scan(lambda w, x: (w - 0.1 * R(grad(w, x)), None), w, x)[0])
def momentum(R, S, w, x):
    return S(lax.scan(lambda c, x: (0.9 * c + R(grad(w, x)), None), jnp.zeros_like(w), x)[0])
def logged(R, S, w, x):
    def body(c, x):
        c = c + R(grad(w, x))
        return c, jnp.square(c).sum()
    c, norms = lax.scan(body, jnp.zeros_like(w), x)
    return S(c), norms
def largest(R, S, w, x):
    def body(carry, x):
        c, most = carry
        c = c + R(grad(w, x))
        return (c, jnp.maximum(most, jnp.square(c).sum())), None
    c, most = lax.scan(body, (jnp.zeros_like(w), 0.0), x)[0]
    return S(c), most
def both(R, S, w, x):
    def body(carry, x):
        w, c = carry
        g = R(grad(w, x))
        return (w - 0.1 * g, c + g), None
    w, c = lax.scan(body, (w, zero), x)[0]
    return w, S(c)
def through_flax(R, S, w, x):
    def body(carry, x):
        kernel, c = carry
        made = {"params": {"kernel": kernel, "bias": jnp.zeros(4)}}
        g = R(jax.grad(lambda w: jnp.square(net.apply(made, x) @ w).mean())(w))
        return (kernel + jnp.outer(c, c), c + g), None
    return S(lax.scan(body, (jnp.eye(4), zero), x)[0][1])
def backwards(R, S, w, x):
    def body(c, x):
        value, back = jax.vjp(lambda w: loss(w, x), w)
        return c + R(back(1.0 + c.sum())[0]), None
    return S(lax.scan(body, jnp.zeros_like(w), x)[0])
def stale(R, S, w, x):
    def body(carry, x):
        stop, c = carry
        kept = lax.stop_gradient(c) * 0 + c
        return (stop + 1, c + R(grad(w, x)) * kept.sum()), None
    return S(lax.scan(body, (0, jnp.ones_like(w)), x)[0][1])
def swapped(R, S, w, x):
    a, b = lax.scan(lambda c, x: ((c[1] * 2, c[0] + R(grad(w, x))), None), (zero, zero), x)[0]
    return S((a, b))
def scalars(R, S, w, x):
    return S(lax.scan(lambda c, x: (c + R(loss(w, x)), None), 0.0, x)[0])
def mapped(body, R, S):
    return jax.pmap(lambda w, x: body(R, S, w, x), axis_name="b", in_axes=(None, 0))(w, x)
def on(body, R, S, **options):
    def part(w, x):
        return jax.tree.map(lambda leaf: leaf[None], body(R, S, w, x[0]))
    return jax.shard_map(part, mesh=mesh, in_specs=(P(), P("b")), out_specs=P("b"), **options)(w, x)
"""


def of(text: str) -> str:
    return f"lambda *a: collect(*a, of=lambda R, w, x: {text})"


#: Bodies that sum in each round, or after the loop, and whether they are reported.
BODIES: dict[str, bool] = {
    "collect": True,
    "looped": True,
    "trees": True,
    "with_flax": True,
    "nested": True,
    of("R(grad(w, x) / 5)"): True,
    of("R(grad(w, x)) / x.shape[0]"): True,
    of("0.5 * R(grad(w, x))"): True,
    of("jnp.multiply(R(grad(w, x)), 2)"): True,
    of("R(grad(w, x)).astype(jnp.float32)"): True,
    of("R(grad(w, x)) + R(x.mean(0))"): True,
    of("-R(grad(w, x))"): False,
    of("R(jnp.tanh(x.mean(0)))"): True,
    of("R(x.mean(0) * lax.axis_index('b'))"): True,
    of("jnp.clip(R(grad(w, x)), -1, 1)"): False,
    of("R(grad(w, x)) * x[0, 0]"): False,
    of("jnp.where(R(loss(w, x)) > 1, R(grad(w, x)), 0)"): False,
    "while_less": False,
    "shared": False,
    "used_again": False,
    "of_sums": False,
    "by_loss": False,
    "descent": False,
    "momentum": False,
    "logged": False,
    "largest": False,
    "both": False,
    "through_flax": False,
    "backwards": False,
    "stale": False,
    "swapped": False,
    "scalars": False,
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("run", ["mapped(({}), {}, {})", "on(({}), {}, {}, check_vma=False)"])
def test_one_sum_after_the_loop_has_the_same_numbers(run: str, body: str) -> None:
    for reduction in ("mean", "total"):
        program = f"{HEADER}one = {run.format(body, reduction, 'same')}\n"
        said = found(program, "SHL626")
        assert bool(said) == BODIES[body]
        if said:
            other = f"other = {run.format(body, 'same', reduction)}\n"
            pairs = "zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)"
            close = f"all(bool(np.allclose(a, b, rtol=1e-3, atol=1e-4)) for a, b in {pairs})"
            assert value(program + other, close)


def test_where_types_tell_what_varies() -> None:
    # There JAX sums gradients itself.
    program = f"{HEADER}one = on(lambda R, S, w, x: grad(w, x[0]), same, same)\n"
    assert not found(program, "SHL626")


def test_both_pages_end_alike() -> None:
    assert of_pages("SHL626", "bool(np.allclose(bad.y, good.y, rtol=1e-4))")


@pytest.mark.parametrize(("reductions", "inside"), [("mean, same", True), ("same, mean", False)])
def test_the_loop_has_an_all_reduce(reductions: str, inside: bool) -> None:
    body = f"lambda w, x: collect({reductions}, w, x)"
    mapped = f"jax.pmap({body}, axis_name='b', in_axes=(None, 0))"
    program = f"{HEADER}text = {mapped}.lower(w, x).compile().as_text()\n"
    assert value(program, "'all-reduce' in text")
    assert value(program, "'all-reduce' in text[:text.index('ENTRY')]") == inside
