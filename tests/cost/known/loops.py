"""Collectives in loops, which run as often as the loop turns: `COUNTS` has how often, by case."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

constrain = jax.lax.with_sharding_constraint
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
B, D = 16, 64

COUNTS = {
    "case_scan": [6],
    "case_scan_of_one": [1],
    "case_scan_backward": [6, 6],
    "case_rematerialised": [6, 6, 6],
    "case_unrolled": [3, 3],
    "case_nested": [15],
    "case_fori_loop": [7],
    "case_reverse": [6],
    "case_map": [5],
    "case_while": [None, None],
    "case_branches": [1],
    "case_two_loops": [2, 3],
}


def on(*spec):
    return NamedSharding(mesh, P(*spec))


def array(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=on(*spec))


def layer(x, w):
    w = constrain(w, on())  # expect-collective: all-gather data == 8192
    return jnp.tanh(x @ w), None  # expect-collective: reduce-scatter data == 8192


def loss(ws, x, body=layer):
    x, _ = jax.lax.scan(body, x, ws)
    return jnp.sum(x * x)


def backward(body):
    def step(ws, x):
        gradient = jax.grad(loss)(ws, x, body)
        return constrain(gradient, on(None, "data"))

    return step


WS, X = array((6, D, D), None, "data"), array((B, D), "data")


def case_scan():
    jax.jit(lambda ws, x: jax.lax.scan(layer, x, ws)[0]).lower(WS, X)


def case_scan_of_one():
    jax.jit(lambda ws, x: jax.lax.scan(layer, x, ws)[0]).lower(array((1, D, D), None, "data"), X)


def case_reverse():
    jax.jit(lambda ws, x: jax.lax.scan(layer, x, ws, reverse=True)[0]).lower(WS, X)


def case_unrolled():
    jax.jit(lambda ws, x: jax.lax.scan(layer, x, ws, unroll=2)[0]).lower(WS, X)


def case_nested():
    def block(x, ws):
        return jax.lax.scan(layer, x, ws)

    jax.jit(lambda ws, x: jax.lax.scan(block, x, ws)[0]).lower(array((3, 5, D, D), None, None, "data"), X)


def case_fori_loop():
    def turn(i, x):
        x = constrain(x, on(None, "model"))
        return constrain(jnp.sin(x), on())  # expect-collective: all-gather model == 3072

    jax.jit(lambda x: jax.lax.fori_loop(2, 9, turn, x)).lower(array((B, D)))


def case_map():
    def one(x):
        return jnp.sum(x)  # expect-collective: all-reduce model == 6

    jax.jit(lambda xs: jax.lax.map(one, xs)).lower(array((5, D), None, "model"))


def case_while():
    def loop(x):
        def going(x):
            return jnp.sum(x) < 100  # expect-collective: all-reduce model == 6

        def turn(x):
            return x + jnp.max(x)  # expect-collective: all-reduce model == 6

        return jax.lax.while_loop(going, turn, x)

    jax.jit(loop).lower(array((D,), "model"))


def case_branches():
    def branches(x, i):
        def summed(x):
            return jnp.sum(x)  # expect-collective: all-reduce model == 6

        return jax.lax.cond(i > 0, summed, lambda x: 0.0, x)

    jax.jit(branches).lower(array((D,), "model"), array((), dtype=jnp.int32))


def case_two_loops():
    def turn(x, _):
        x = constrain(x, on(None, "model"))
        return constrain(jnp.sin(x), on()), None  # expect-collective: all-gather model == 3072

    def loops(x):
        x, _ = jax.lax.scan(turn, x, length=2)
        return jax.lax.scan(turn, x, length=3)[0]

    jax.jit(loops).lower(array((B, D)))


def case_scan_backward():
    jax.jit(backward(layer)).lower(WS, X)


def case_rematerialised():
    jax.jit(backward(jax.checkpoint(layer))).lower(WS, X)
