"""Random bodies of shard_map, one statement a line: arithmetic, collectives, loops, branches, transforms."""

from __future__ import annotations

import random

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P
mesh = AbstractMesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
outside = np.ones((8, 8), np.float32)
def doubled(v):
    return v * 2
def both(c, v):
    return c + v, c
"""
SPECS = ("P()", "P('x')", "P('y')", "P(('x', 'y'))", "P(None, 'y')", "P('y', 'x')")
_AXES = ("'x'", "'y'", "('x', 'y')", "('y',)")

#: Each makes an array of one from arrays u and v of any shape; a is an axis or several.
PLAIN = (
    "-{u}", "{u} * 0", "{u} + 1", "jnp.tanh({u})", "doubled({u})", "jax.jit(doubled)({u})",
    "jnp.zeros_like({u})", "lax.stop_gradient({u})", "jnp.sum({u})", "{u}.mean(keepdims=True)",
    "{u}.astype(jnp.int32) * 1.0", "jnp.where({u} > 0, 1.0, 2.0)", "jnp.zeros({u}.shape)",
    "jnp.ones({u}.shape) * 2", "jnp.full((4, 8), 3.0)", "jnp.arange(8.0)", "outside + 1",
    "jnp.asarray(outside)", "np.ones((4, 4), np.float32)", "jnp.stack([{u}, {u}])", "{u}.T", "jnp.ravel({u})",
    "{u}.reshape(-1)", "{u}.sum() + {v}", "{u}.mean() * {v}.mean()", "jnp.where({u}.sum() > 0, {v}, 0.0)",
    "({u}.sum(), {v})[1]", "jnp.ravel({u}).at[0].set(jnp.sum({v}))", "jnp.ravel({u})[0]",
    "jnp.sort(jnp.ravel({u}))", "jax.random.normal(jax.random.key(0), (4, 8))",
    "jax.random.uniform(jax.random.fold_in(jax.random.key(1), 3), (8,))",
    "jax.random.normal(jax.random.fold_in(jax.random.key(0), lax.axis_index({a})), (4, 8))",
    "lax.axis_index({a}) + {u}", "lax.axis_size({a}) * {u}", "lax.psum(1, {a}) * {u}",
    "jnp.meshgrid(jnp.ravel({u})[:2], jnp.ravel({v})[:2])[0]",
    "jnp.ravel({u})[(jnp.sum({v}) > 0).astype(int)]", "jax.nn.relu({u})", "jnp.ravel({u}) @ jnp.ravel({u})",
    "jnp.broadcast_arrays(jnp.sum({u}), jnp.sum({v}))[0]", "list(jnp.ravel({u})[:2])[0]",
    "jnp.zeros({u}.shape, {u}.dtype)", "jnp.full({u}.shape, -jnp.inf)", "jnp.full((8,), -np.inf, {u}.dtype)",
    "jnp.full({u}.shape, jnp.finfo({u}.dtype).min)", "jnp.ones((4, 8), jnp.result_type({u}, jnp.bfloat16))",
)  # fmt: skip
COLLECTIVES = (
    "lax.psum({u}, {a})", "lax.psum({u}, {a})", "lax.pmean({u}, {a})", "lax.pmax({u}, {a})",
    "lax.pmin({u}, {a})", "lax.all_gather({u}, {a})", "lax.all_gather({u}, {a}, axis=1)",
    "lax.all_gather({u}, {a}, tiled=True)", "lax.all_gather({u}, {a}, axis=1, tiled=True)",
    "lax.all_gather({u}, {a}, to='invarying')", "lax.all_gather({u}, {a}, tiled=True, to='invarying')",
    "lax.psum_scatter({u}, {a}, tiled=True)", "lax.psum_scatter({u}, {a})",
    "lax.psum_scatter({u}, {a}, scatter_dimension=1, tiled=True)",
    "lax.all_to_all({u}, {a}, 0, 0, tiled=True)", "lax.all_to_all({u}, {a}, 0, 1, tiled=True)",
    "lax.all_to_all({u}, {a}, 0, 1)", "lax.all_to_all({u}, {a}, 1, 0)", "lax.pswapaxes({u}, {a}, 0)",
    "lax.ppermute({u}, 'x', [(0, 1), (1, 0)])",
    "lax.ppermute({u}, 'y', [(i, (i + 1) % 4) for i in range(4)])", "lax.pshuffle({u}, 'x', [1, 0])",
    "lax.pshuffle({u}, 'x', [1, 1])", "lax.pcast({u}, {a}, to='varying')",
    "lax.pcast({u}, {a}, to='varying')", "lax.pbroadcast({u}, {a}, 0)", "lax.pcast(1.0, {a}, to='varying')",
    "lax.pmax({u}, {a}, axis_index_groups=[[0, 1]])",
    "lax.psum({u}, 'y', axis_index_groups=[[0, 1], [2, 3]])",
    "lax.psum({u}, 'y', axis_index_groups=[[0, 1], [1, 3]])",
    "lax.all_gather({u}, 'y', axis_index_groups=[[0, 1], [2, 3]], tiled=True)",
    "lax.psum_scatter({u}, 'y', axis_index_groups=[[0, 1], [2, 3]], tiled=True)",
    "lax.all_to_all({u}, 'y', 0, 0, axis_index_groups=[[0, 2], [1, 3]], tiled=True)",
    "lax.pcast({u}, {a}, to='reduced')", "lax.pcast({u}, {a}, to='unreduced')",
    "lax.pcast({u}, {a}, to='invarying')", "lax.all_gather({u}, {a}, to='reduced')",
    "jax.vmap(lambda v: lax.psum(v, 'i'), axis_name='i')({u})",
    "jax.vmap(lambda v: lax.all_gather(v, 'i'), axis_name='i')({u})",
    "jax.vmap(lambda v: lax.psum(v, {a}), axis_name='i')({u})",
    "jax.vmap(lambda v: lax.psum(1, 'i') * v, axis_name='i')({u})",
    "jax.vmap(lambda v: v + lax.axis_index('i'), axis_name='i')({u})",
    "jax.vmap(lambda v: lax.pmax(v, 'i'), axis_name='i')({u})",
)  # fmt: skip
LOOPS = (
    "lax.scan(lambda c, _: (c + {u}, None), {v}, None, length=2)[0]",
    "lax.scan(lambda c, _: (c * 2, c), {u}, None, length=2)[1]",
    "lax.scan(both, jnp.zeros(()), jnp.ravel({u}))[0]", "lax.scan(both, 0.0, jnp.ravel({u}))[1]",
    "lax.scan(lambda c, w: (c, w + jnp.sum({v})), 0.0, jnp.ravel({u}))[1]",
    "lax.scan(both, jnp.sum({v}), jnp.ravel({u}))[0]",
    "lax.scan(lambda c, w: (dict(s=c['s'] + w, n=c['n'] + 1), c['n']), dict(s=jnp.sum({v}), n=0), "
    "jnp.ravel({u}))[0]['s']",
    "lax.scan(lambda c, w: ((c[0] + w, c[1]), c[1]), (jnp.sum({u}), jnp.sum({v})), jnp.ravel({u}))[1]",
    "lax.scan(lambda c, _: (lax.psum(c, {a}), None), {u}, None, length=2)[0]",
    "lax.scan(lambda c, _: (lax.pmean(c, {a}) + {v} * 0, None), {u}, None, length=2)[0]",
    "lax.fori_loop(0, 3, lambda i, c: c + {v}, {u})", "lax.fori_loop(0, 3, lambda i, c: c + i, {u})",
    "lax.fori_loop(0, 3, lambda i, c: c * 1.0, jnp.zeros({u}.shape))",
    "lax.fori_loop(0, 2, lambda i, c: lax.ppermute(c, 'x', [(0, 1), (1, 0)]), {u})",
    "lax.while_loop(lambda c: jnp.sum(c) < 3, lambda c: c + {v}, {u})",
    "lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + jnp.sum({u})), (0, jnp.sum({v})))[1]",
    "lax.cond(True, lambda p: p, lambda p: p * 2, {u})",
    "lax.cond(jnp.sum({v}) > 0, lambda p: p, lambda p: p * 2, {u})",
    "lax.cond(True, lambda p: jnp.zeros_like(p), lambda p: p, {u})",
    "lax.cond(True, lambda: {u}, lambda: {v})",
    "lax.cond(True, lambda p: jnp.zeros(p.shape), lambda p: p, {u})",
    "lax.cond(True, lambda: jnp.sum({u}), lambda: jnp.sum({v}))",
    "lax.switch(0, [lambda p: p, lambda p: p * 2, lambda p: p + jnp.sum({v})], {u})",
    "lax.switch(1, [lambda: jnp.sum({u}), lambda: jnp.sum({v})])",
    "lax.map(lambda w: w * jnp.sum({v}), jnp.ravel({u}))", "lax.map(lambda w: w * 2, jnp.ravel({u}))",
    "lax.associative_scan(jnp.add, jnp.ravel({u}))",
    "lax.associative_scan(lambda p, q: p + q + jnp.sum({v}), jnp.ravel({u}))",
)  # fmt: skip
TRANSFORMS = (
    "jax.vmap(doubled)({u})", "jax.vmap(lambda w: w + jnp.sum({v}))({u})",
    "jax.vmap(lambda w: jnp.ones(3))({u})", "jax.vmap(lambda w, z: z, in_axes=(0, None))({u}, {v})",
    "jax.vmap(lambda w, z: z, in_axes=(0, None), out_axes=None)({u}, {v})", "jax.checkpoint(doubled)({u})",
    "jax.checkpoint(lambda w: w + {v})({u})", "jax.jit(lambda w: jnp.ones(3))({u})",
    "jax.jit(lambda w: w + {v})({u})", "jax.grad(lambda w: jnp.sum(w * jnp.sum({v})))({u})",
    "jax.grad(lambda w: lax.psum(jnp.sum(w * jnp.sum({v})), {a}))({u})",
    "jax.value_and_grad(lambda w: jnp.sum(w * jnp.sum({v})))({u})[0]",
    "jax.value_and_grad(lambda w: jnp.sum(w * jnp.sum({v})))({u})[1]",
    "jax.grad(lambda w: jnp.sum(w) * 2)(jnp.sum({u}))", "jax.vjp(lambda w: w * jnp.sum({v}), {u})[0]",
    "jax.vjp(lambda w: w * 2, {u})[1]({u})[0]", "jax.jvp(lambda w: w * jnp.sum({v}), ({u},), ({u},))[1]",
    "jax.jacobian(lambda w: w * jnp.sum({v}))(jnp.sum({u}))",
    "jax.jacfwd(lambda w: w * jnp.sum({v}))(jnp.sum({u}))",
    "jax.hessian(lambda w: w * w * jnp.sum({v}))(jnp.sum({u}))",
    "jax.linearize(lambda w: w * jnp.sum({v}), {u})[0]", "jax.linearize(jnp.sin, {v})[1]({v})",
    "jax.linearize(lambda w: w * jnp.sum({v}), {u})[1]({u})", "jax.jvp(jnp.sin, ({v},), ({v} * 2,))[1]",
    "jax.jvp(jax.grad(lambda w: jnp.sum(w ** 3)), ({v},), ({v},))[1]",
    "jax.tree.map(lambda w: w * jnp.sum({v}), dict(p={u}, q=0.0))['q']",
    "jax.tree.map(lambda w: lax.psum(w, {a}), [{u}, {v}])[1]",
)  # fmt: skip


def random_body(rng: random.Random) -> list[str]:
    """Statements that compute from the shards ``a``, ``b`` and ``w``, each with a probe of its value."""
    lines, names = [], ["a", "b", "w"]
    for i in range(rng.randint(2, 7)):
        kind = rng.choices((PLAIN, COLLECTIVES, LOOPS, TRANSFORMS), (4, 4, 3, 2))[0]
        # What was made last is looked at more often than what is there from the start.
        u, v = (rng.choice(names[-3:] if rng.random() < 0.6 else names) for _ in range(2))
        lines.append(f"v{i} = {rng.choice(kind).format(u=u, v=v, a=rng.choice(_AXES))}; probe({i}, v{i})")
        names.append(f"v{i}")
    return lines


def random_program(rng: random.Random, check_vma: bool = True) -> str:
    """A program that ends in a call of a shard_map over a random body."""
    body = "\n    ".join(random_body(rng))
    first, second = (rng.choice(SPECS) for _ in range(2))
    return (
        f"{HEADER}def body(a, b, w):\n    {body}\n    return a\n"
        f"f = jax.shard_map(body, mesh=mesh, in_specs=({first}, {second}, P()), out_specs={first}"
        f", check_vma={check_vma})\n"
    )
