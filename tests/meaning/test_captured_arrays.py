"""Arrays that a jitted function takes from outside, beside the constants of the program that JAX compiles."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import functools, jax, jax.numpy as jnp, numpy as np, re
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
on = NamedSharding(mesh, P("x"))
w = jax.device_put(jnp.arange(2048.0).reshape(64, 32), NamedSharding(mesh, {spec}))
x = jax.device_put(jnp.ones((16, 64)), on)
def op(x, w):
    return {operation}
class Layer:
    def __init__(self, w):
        self.w = w
    def __call__(self, x):
        return op(x, self.w)
    @functools.partial(jax.jit, static_argnums=0)
    def run(self, x):
        return op(x, self.w)
def make(w):
    def f(x):
        return op(x, w)
    return f
"""
#: Whether the program of ``f``, called with ``args``, has a constant of all of ``w``.
CONSTANT = (
    "any(re.search(r'= (?:f32|bf16)\\[(64,32|32,64|2048)\\]\\S* constant\\(', line)"
    " for line in f.lower(*args).compile().as_text().splitlines())"
)
SPECS = ('P("x")', 'P(None, ("x", "y"))', "P()")
#: Jitted functions, whether they take ``w`` from outside, and their arguments.
FUNCTIONS: dict[str, tuple[bool, str]] = {
    "jax.jit(lambda x: op(x, w))": (True, "(x,)"),
    "jax.jit(make(w))": (True, "(x,)"),
    "jax.jit(functools.partial(op, w=w))": (True, "(x,)"),
    "jax.jit(Layer(w))": (True, "(x,)"),
    "jax.jit(lambda x: jax.jit(make(2 * w))(x))": (True, "(x,)"),
    "jax.jit(lambda x: jax.checkpoint(make(w))(x))": (True, "(x,)"),
    "jax.jit(lambda x: jax.value_and_grad(lambda x: op(x, w).sum())(x))": (True, "(x,)"),
    "jax.jit(lambda x: jax.lax.scan(lambda c, _: (c + op(x, w).sum(), None), 0.0, length=3)[0])": (
        True,
        "(x,)",
    ),
    "jax.jit(op)": (False, "(x, w)"),
    "jax.jit(lambda t: make(t[0])(t[1]))": (False, "((w, x),)"),
    "jax.jit(lambda x, w: Layer(w)(x))": (False, "(x, w)"),
}
#: Operations, and whether they need all of ``w`` beside something of ``x``.
OPERATIONS: dict[str, bool] = {
    "x @ w": True,
    "jnp.dot(x, w)": True,
    "jnp.einsum('bi,ij->bj', x, w)": True,
    "x.sum() * w": True,
    "jnp.where(x.T > 0, w[:, :16], 0.0) + w.astype(jnp.float32)[:, 1:17]": False,
    "x[:, :32] + w[3]": False,
    "x + w[3, 4]": False,
    "w[x[:, 0].astype(int)]": True,
    "jnp.take(w, x[:, 0].astype(int), axis=0)": True,
    "x.sum() + w.sum()": False,
    "x.sum() + jnp.zeros_like(w)": False,
    "x.sum() + w.shape[0]": False,
    "(x, x @ w)[0]": False,
    "jnp.tanh(x) @ (0.5 * w)": True,
    "x @ -w.astype(jnp.bfloat16)": True,
}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_constants_of_the_compiled_program(function: str, spec: str) -> None:
    taken, arguments = FUNCTIONS[function]
    for operation, whole in OPERATIONS.items():
        if operation.startswith("(") and ".sum()" in function:
            continue
        program = HEADER.format(spec=spec, operation=operation) + f"f = {function}\nargs = {arguments}\n"
        constant = value(program, CONSTANT)
        findings = found(f"{program}f(*args)\n", "SHL616")
        assert bool(findings) <= constant, operation
        if taken and whole:
            assert constant, operation
            assert bool(findings) == (spec != "P()"), operation


#: Jitted functions that return arrays, their arguments, and whether one of them is a numpy array to be split.
RETURNING: dict[str, tuple[str, bool]] = {
    "jax.jit(lambda: host, out_shardings=on)": ("()", True),
    "jax.jit(lambda x: {'x': 2 * x, 'h': (host,)}, out_shardings=on)": ("(x,)", True),
    "jax.jit(lambda x: (x, host), out_shardings=(None, NamedSharding(mesh, P(None, 'y'))))": ("(x,)", True),
    "jax.jit(lambda x: (x, host), out_shardings=(on, NamedSharding(mesh, P())))": ("(x,)", False),
    "jax.jit(lambda h: h, out_shardings=on)": ("(host,)", False),
    "jax.jit(lambda h: 2 * h, out_shardings=on)": ("(host,)", False),
}


@pytest.mark.parametrize("function", RETURNING)
def test_numpy_arrays_that_are_returned(function: str) -> None:
    arguments, told = RETURNING[function]
    host = "host = np.arange(2048.0, dtype=np.float32).reshape(64, 32)\n"
    program = f"{HEADER.format(spec=SPECS[0], operation='x @ w')}{host}f = {function}\nargs = {arguments}\n"
    assert value(program, CONSTANT) or not told
    assert bool(found(f"{program}f(*args)\n", "SHL616")) == told


BIG = "big = jax.device_put(jnp.ones(({})), NamedSharding(mesh, {}))\n"
NNX = """from flax import nnx
m = nnx.Linear(64, 32, rngs=nnx.Rngs(0))
nnx.update(m, jax.device_put(nnx.state(m), on))
"""
LINEN = """import flax.linen as nn
d = nn.Dense(32)
p = jax.device_put(d.init(jax.random.key(0), x), on)
"""
EQUINOX = """import equinox as eqx
class M(eqx.Module):
    w: jax.Array
    @eqx.filter_jit
    def run(self, x):
        return x @ self.w
"""
#: Programs with large arrays, or of libraries, and whether SHL616 is said.
PROGRAMS: dict[str, bool] = {
    f"{BIG.format('4096, 4096', 'P()')}jax.jit(lambda x: x.sum() * big)(x)": True,
    f"{BIG.format('4096, 4095', 'P()')}jax.jit(lambda x: x.sum() * big)(x)": False,
    "big = jnp.ones((4096, 4096))\njax.jit(lambda x: x.sum() * big)(x)": False,
    "Layer(w).run(x)": True,
    "jax.eval_shape(lambda x: x @ w, x)": False,
    "jax.jit(lambda x: x @ w).lower(x)": True,
    "jax.jit(lambda x: x @ w).eval_shape(x)": False,
    "jax.shard_map(lambda x: x @ w, mesh=mesh, in_specs=P('x'), out_specs=P('x'))(x)": False,
    "import os\nos.environ['JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS'] = '1'\njax.jit(lambda x: x @ w)(x)": False,
    f"{NNX}jax.jit(lambda x: m(x))(x)": True,
    f"{NNX}nnx.jit(lambda m, x: m(x))(m, x)": False,
    f"{LINEN}jax.jit(lambda x: d.apply(p, x))(x)": True,
    f"{LINEN}jax.jit(d.apply)(p, x)": False,
    f"{EQUINOX}M(w).run(x)": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: str) -> None:
    text = f"{HEADER.format(spec=SPECS[0], operation='x @ w')}{program}\n"
    assert bool(found(text, "SHL616")) == PROGRAMS[program]
    value(text)
