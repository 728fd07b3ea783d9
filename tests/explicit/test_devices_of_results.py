"""Operations outside of jit: JAX refuses operands on different devices, and results lie where operands do."""

from __future__ import annotations

import random

import pytest
from support.checking import check
from support.jax_answers import asks_jax
from support.sizes import size

START = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices())
all_, half = Mesh(devices, ("a",)), Mesh(devices[:4], ("a",))
other = Mesh(devices[4:], ("a",))
back = Mesh(np.array([jax.devices()[i] for i in range(7, -1, -1)]), ("a",))
square = jax.make_mesh((8,), ("a",), axis_types=(AxisType.Auto,))
"""
#: Where an operand is put; "" for nowhere.
HOMES = (
    "", "", "NamedSharding(all_, P('a'))", "NamedSharding(all_, P())", "NamedSharding(half, P('a'))",
    "NamedSharding(other, P())", "NamedSharding(back, P('a'))", "jax.devices()[0]", "jax.devices()[7]",
)  # fmt: skip
#: Operations on floats ``x`` and ``y`` of shape (8, 8), integers ``i`` and a key ``k``.
OPERATIONS = (
    "x + y", "x @ y", "x * 2.0", "-x", "x > y", "x ** y", "x[i]", "x[0]", "x[:, None]", "x[x > y]",
    "x.at[i].set(0.0)", "x.at[0].add(y[0])", "x.sum(axis=0)", "x.T", "x.reshape(-1)",
    "x.astype(jnp.bfloat16)", "x.astype(x.dtype)", "jnp.where(x > 0, x, y)", "jnp.where(x > y, 1.0, 0.0)",
    "jnp.concatenate([x, y])", "jnp.stack([x, y])", "jnp.einsum('ij,jk->ik', x, y)", "jnp.dot(x, y)",
    "jnp.maximum(x, y)", "jnp.clip(x, 0, y)", "jnp.take(x, i, axis=0)",
    "jnp.take_along_axis(x, i[:, None], axis=1)", "jnp.sum(x)", "jnp.mean(x, axis=1)",
    "jnp.zeros_like(x)", "jnp.ones_like(x)", "jnp.full_like(x, 3.0)", "jnp.full((8,), x[0, 0])",
    "jnp.asarray(x)", "jnp.array(x)", "jnp.broadcast_to(x, (2, 8, 8))", "jnp.tile(x, 2)",
    "jnp.repeat(x, 2, axis=0)", "jnp.split(x, 2)", "jnp.sort(x)", "jnp.argsort(x)", "jnp.argmax(x)",
    "jnp.cumsum(x)", "jnp.linalg.norm(x)", "jnp.outer(x[0], y[0])", "jnp.pad(x, 1)", "jnp.allclose(x, y)",
    "jnp.array_equal(x, y)", "jnp.isnan(x)", "jnp.exp(x)", "jnp.flip(x)", "jnp.roll(x, 1)",
    "jnp.expand_dims(x, 0)", "jnp.squeeze(x[None])", "jnp.moveaxis(x, 0, 1)", "jnp.triu(x)",
    "jnp.diag(x)", "jnp.tensordot(x, y, 1)", "jnp.searchsorted(x[0], y[0])",
    "jnp.interp(x[0], y[0], y[1])", "jnp.meshgrid(x[0], y[0])", "jnp.broadcast_arrays(x, y)",
    "jnp.vstack([x, y])", "jnp.bincount(i, length=8)", "jnp.select([x > 0], [y], 0.0)",
    "jnp.piecewise(x, [x > 0], [1.0, 2.0])", "jnp.average(x, weights=y)", "jnp.var(x)",
    "jnp.histogram(x)", "jnp.arange(8) + i", "jnp.linspace(x[0, 0], y[0, 0], 4)", "jnp.atleast_2d(x)",
    "jnp.nan_to_num(x)", "jnp.sign(x)", "jax.nn.relu(x)", "jax.nn.softmax(x)", "jax.nn.one_hot(i, 8)",
    "jax.nn.gelu(x)", "jax.nn.log_softmax(x + y)", "jax.lax.add(x, y)", "jax.lax.dot(x, y)",
    "jax.lax.select(x > 0, x, y)", "jax.lax.top_k(x, 2)", "jax.lax.dynamic_slice(x, (i[0], 0), (2, 2))",
    "jax.lax.dynamic_update_slice(x, y[:2], (0, 0))", "jax.lax.stop_gradient(x)", "jax.lax.rsqrt(x)",
    "jax.lax.fori_loop(0, 2, lambda n, c: c + 1, x)", "jax.random.split(k)",
    "jax.random.normal(k, (8, 8))", "jax.random.fold_in(k, 3)", "jax.random.fold_in(k, i[0])",
    "jax.random.uniform(k, (8,), minval=x[0], maxval=y[0])", "jax.random.permutation(k, x)",
    "jax.random.choice(k, x[0])", "jax.random.bernoulli(k, x)", "jax.random.categorical(k, x)",
    "jax.random.randint(k, (8,), 0, i)", "x[i, 0]", "x[(x > 0)[0]]", "x.at[x > y].set(0.0)",
)  # fmt: skip


def placed(name: str, value: str, home: str) -> str:
    """Return the statement that makes an operand."""
    return f"{name} = jax.device_put({value}, {home})\n" if home else f"{name} = {value}\n"


def program(operation: str, rng: random.Random) -> str:
    """Return an operation on operands put anywhere, and one on its result and an array on one device."""
    operands = (
        ("x", "jnp.ones((8, 8))"),
        ("y", "jnp.ones((8, 8))"),
        ("i", "jnp.arange(8)"),
        ("k", "jax.random.key(0)"),
    )
    # Keys have no dimension that could be split.
    lines = [
        placed(n, v, rng.choice(HOMES[:-2] if n != "k" else ("", HOMES[3], *HOMES[-2:]))) for n, v in operands
    ]
    around = "with jax.set_mesh(square):\n    " if rng.random() < 0.2 else ""
    lines.append(f"{around}r = {operation}\nr = jax.tree.leaves(r)[0]\n")
    return START + "".join(lines) + "one = jax.device_put(jnp.ones(()), jax.devices()[3])\nr == one\n"


@asks_jax("explicit")
def raised(text: str) -> int | None:
    """Return the line at which JAX refuses the devices, 0 if it refuses something else, None if it runs."""
    try:
        exec(compile(text, "program.py", "exec"), {})
    except Exception as error:
        frames, line = error.__traceback__, 0
        while frames is not None:
            line = frames.tb_lineno if frames.tb_frame.f_code.co_filename == "program.py" else line
            frames = frames.tb_next
        return line if "incompatible devices" in str(error) else 0
    return None


@pytest.mark.parametrize("seed", range(size("SHARDLINT_DEVICE_LISTS", 1, 6)))
def test_operands_and_results_lie_where_jax_says(seed: int) -> None:
    rng = random.Random(seed)
    missed = met = 0
    for operation in rng.sample(OPERATIONS, 60):
        text = program(operation, rng)
        line = raised(text)
        found = check(text)
        ours = {f.span.line for f in found if f.code == "SHL708"}
        if line == 0:
            continue
        assert not ours or min(ours) == line, f"{operation}: {ours} for {line}\n{text}"
        met += line is not None
        missed += line is not None and not ours
    assert met > 10
    assert missed <= met * 0.2, (missed, met)
