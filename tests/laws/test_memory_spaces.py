"""Arrays in the memory of the host beside JAX: random programs, inside jit and outside.

JAX runs a program up to its first error. shardlint reports none before it, and finds four of five that mix
memories.
"""

from __future__ import annotations

import random
import traceback

import pytest
from support.checking import check
from support.sizes import size

HEADER = """\
import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
D = NamedSharding(mesh, P("x"))
H = D.with_memory_kind("pinned_host")
U = NamedSharding(mesh, P("x"), memory_kind="unpinned_host")
S = NamedSharding(mesh, P())
K = D.update(spec=P(), memory_kind="pinned_host")
n = np.ones((8, 8), np.float32)
s = jnp.float32(2)
"""
VALUES = (
    "jax.device_put(n, H)", "jax.device_put(n, D)", "jax.device_put(n, K)", "jax.device_put(n, U)", "n",
    "jnp.ones((8, 8))", "jax.device_put({x}, H)", "jax.device_put({x}, D)", "jax.device_put({x}, S)",
    "jax.random.normal(jax.random.key(0), (8, 8))", "jax.device_put({x}, jax.memory.Space.Host)",
    "jax.device_put({x}, jax.memory.Space.Device)", "jax.device_put({x})",
    "jax.device_put({x}, jax.devices()[0])",
)  # fmt: skip
OPERATIONS = (
    "{x} + {y}", "{x} * {y}", "{x} * 2", "s * {x}", "{x} @ {y}", "jnp.maximum({x}, {y})", "{x} > {y}", "-{x}",
    "jnp.sqrt({x})", "{x} ** 2", "{x}.sum() * {y}", "jnp.mean({x}) + {y}", "{x} + n[0]", "{x}.T + {y}",
    "jnp.dot({x}, {y})", "jnp.where({x} > 0, {y}, 0)", "jnp.zeros_like({x}) + {y}",
    "{x}.astype('bfloat16') + {y}",
    "jax.grad(lambda v: (v * v).sum())({x}) + {y}", "jax.jit(lambda v, w: v + w)({x}, {y})",
    "jax.jit(lambda v: v * 2, out_shardings=H)({x})", "jax.jit(lambda v: v * 2, out_shardings=D)({x}) + {y}",
    "jax.jit(lambda v: v * 2)({x}) + {y}", "jax.vmap(lambda v: v * 2)({x})", "jnp.tanh({x}) * {y}",
    "optax.apply_updates({x}, {y})",
)  # fmt: skip


def _program(rng: random.Random) -> str:
    lines, names = [], ["n"]
    for number in range(rng.randint(2, 4)):
        lines.append(f"v{number} = {rng.choice(VALUES).format(x=rng.choice(names))}")
        names.append(f"v{number}")
    later = []
    for number in range(rng.randint(1, 4)):
        x, y = rng.choice(names), rng.choice(names)
        later.append(f"w{number} = {rng.choice((*OPERATIONS, *VALUES)).format(x=x, y=y)}")
        names.append(f"w{number}")
    if rng.random() < 0.5:
        given = ", ".join(f"v{number}" for number in range(len(lines)))
        inside = [f"    {line}" for line in later]
        later = ["@jax.jit", f"def step({given}):", *inside, f"    return {later[-1].split()[0]}",
                 f"step({given})"]  # fmt: skip
    return HEADER + "\n".join([*lines, *later]) + "\n"


def _first_error(program: str) -> tuple[int, str] | None:
    """Return the innermost line at which JAX raises, and what it says."""
    try:
        exec(compile(program, "<random>", "exec"), {})
    except Exception as error:
        lines = [
            one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == "<random>"
        ]
        return lines[-1] or 0, str(error)
    return None


@pytest.mark.filterwarnings("ignore")
def test_memories_are_mixed_where_jax_says_so() -> None:
    rng = random.Random(8)
    found, missed = 0, []
    for _ in range(size("SHARDLINT_MEMORY_PROGRAMS", 200, 1000)):
        program = _program(rng)
        due = _first_error(program)
        lines = [one.span.line for one in check(program) if one.code == "SHL620"]
        assert all(due is not None and line >= due[0] for line in lines), (program, due, lines)
        if due is not None and "memory_space" in due[1]:
            found += due[0] in lines
            missed += [f"{program}# {due[0]}"] * (due[0] not in lines)
    assert found > 4 * len(missed), "\n\n".join(missed)
    assert found > 30


STATE = (
    HEADER
    + """
w = jax.device_put(n, D)
tx = optax.{optimizer}
state = jax.device_put(tx.init(w), K)
@jax.jit
def step(w, state):
    grads = jax.grad(lambda w: (w * w).sum())(w)
    return tx.update(grads, {state}, w)
step(w, state)
"""
)
OPTIMIZERS = (
    "adam(1e-3)", "adamw(1e-3)", "sgd(0.1)", "sgd(0.1, momentum=0.9)", "trace(0.9)", "ema(0.9)", "lion(1e-3)",
    "rmsprop(1e-3)", "adagrad(0.1)", "adamax(1e-3)", "amsgrad(1e-3)", "radam(1e-3)", "yogi(1e-3)",
    "lamb(1e-3)",
    "novograd(1e-3)", "adabelief(1e-3)", "adadelta(1e-3)", "adan(1e-3)", "rprop(1e-3)", "apply_every(2)",
    "zero_nans()", "clip_by_global_norm(1.0)", "scale_by_rms()", "scale_by_stddev()", "adafactor(1e-3)",
    "chain(optax.clip(1.0), optax.adam(1e-3))", "chain(optax.scale(2.0), optax.trace(0.9))",
    "scale_by_schedule(lambda count: 1.0)", "sgd(optax.constant_schedule(0.1))", "nadam(1e-3)",
    "masked(optax.adam(1e-3), True)", "multi_transform({'a': optax.adam(1e-3)}, 'a')",
    "MultiSteps(optax.sgd(0.1), 2).gradient_transformation()", "sm3(1e-3)", "noisy_sgd(0.1)", "fromage(0.1)",
)  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.filterwarnings("ignore")
def test_states_on_the_host(optimizer: str) -> None:
    for state in ("state", "jax.device_put(state, S)"):
        program = STATE.format(optimizer=optimizer, state=state)
        due = _first_error(program)
        assert "SHL620" not in {one.code for one in check(program)} or "memory_space" in (due or (0, ""))[1]
