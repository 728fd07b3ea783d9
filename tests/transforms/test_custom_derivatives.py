"""Rules of `jax.custom_vjp` in shard_map beside JAX, in random functions that are differentiated or not.

shardlint finds an error only where JAX raises one, and finds four of five.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from support.checking import check
from support.sizes import size

from shardlint.inference.overlays.jax.operations import OPERATIONS

HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
@jax.custom_vjp
def f(w, d):
    return jnp.round(w) * d
def forward(w, d):
    return f(w, d), (w, d)
def backward(saved, ct):
    w, d = saved
    return {w}, {d}
f.defvjp(forward, backward)
"""
#: Cotangents of w and of d.
OF_W = ("ct * d", "(ct * d).sum()", 'lax.psum((ct * d).sum(), "x")', 'lax.psum((ct * d).sum(), ("x", "y"))',
        "jnp.zeros_like(w)", "jnp.zeros(())", "None", "w * 2")  # fmt: skip
OF_D = (
    "ct * w",
    'lax.psum(ct * w, "x")',
    "jnp.zeros_like(d)",
    "None",
    "jnp.ones((2,))",
    'lax.pmean(ct, "y")',
)
#: What a body computes of a weight w and data d.
VALUES = (
    "f(w, d).sum()", "(f(w, d) ** 2).mean()", "(f(jnp.sin(w), d) @ d)", "jnp.tanh(f(w, d * 2)).sum()",
    "lax.stop_gradient(f(w, d)).sum() + w", "f(lax.stop_gradient(w), d).sum() + w",
    "jnp.round(f(w, d)).sum() + w", "(f(w, d) > 0).sum() * w", "jnp.where(f(w, d) > 0, w, 1.0).sum()",
    "jnp.where(d > 0, f(w, d), 1.0).sum()", "w * d.sum()", "(f(w, d), w * 2)[1]",
    "jnp.floor(w) * f(jnp.ones(()), d).sum() + w",
    "lax.scan(lambda c, v: (c + f(w, d).sum(), None), w * d[0], d)[0]",
    "f(w, d).astype(jnp.int32).sum() * w", "lax.cond(True, lambda: f(w, d).sum(), lambda: d.sum())",
    "jax.checkpoint(lambda v: f(v, d).sum())(w)", "jax.vmap(lambda v: f(w, v))(d).sum()",
    "d[jnp.argmax(f(w, d))] * w", "(f(w, d) // 1.0).sum() + w", "jnp.concatenate([f(w, d), d]).sum()",
    "f(f(w, d).sum(), d).sum()",
)  # fmt: skip
BODIES = (
    "jax.grad(value)(w, d)", "jax.value_and_grad(value)(w, d)[1]",
    "jax.grad(value, argnums=1)(w, d).sum() * w", "value(w, d)",
    "sum(map(jnp.sum, jax.grad(value, argnums=(0, 1))(w, d)))",
    "jax.jit(jax.grad(lambda w: value(w, d)))(w)",
)  # fmt: skip


def _program(rng: random.Random) -> str:
    lines = [HEADER.format(w=rng.choice(OF_W), d=rng.choice(OF_D)).rstrip()]
    lines += ["def value(w, d):", f"    return {rng.choice(VALUES)}"]
    lines += ["def body(w, d):", f"    return jnp.broadcast_to({rng.choice(BODIES)}, (1,))"]
    specs = rng.choice(("(P(), P('x'))", "(P(), P('x'))", "(P(), P(('x', 'y')))", "(P(), P())"))
    checked = rng.choice(("", "", "", ", check_vma=False"))
    if not checked:
        # What is returned may vary over all axes.
        lines[-1] = lines[-1].replace("return ", "found = ")
        lines += ["    rest = tuple(set('xy') - jax.typeof(found).mat.varying)"]
        lines += ["    return lax.psum(lax.pcast(found, rest, to='varying'), 'xy')"]
    call = f"jax.shard_map(body, mesh=mesh, in_specs={specs}, out_specs=P(){checked})"
    lines.append(f"{call}(jnp.ones(()), jnp.ones(16))")
    return "\n".join(lines) + "\n"


#: Gradients of a whole shard_map ``outer(w, d)``.
OUTSIDE = (
    "jax.grad(outer)({args})", "jax.value_and_grad(outer, argnums=(0, 1))({args})", "outer({args})",
    "jax.jit(jax.grad(lambda w, d: outer(w, d) * 2, argnums=1))({args})",
    "jax.grad(lambda w: outer(jnp.sin(w), jnp.ones(16)))(jnp.ones(()))",
    "jax.grad(lambda w, d: outer(w, d) + w)({args})",
)  # fmt: skip


def _program_outside(rng: random.Random) -> str:
    """A program that differentiates a shard_map, whose body calls the function."""
    lines = [HEADER.format(w=rng.choice(OF_W), d=rng.choice(OF_D)).rstrip()]
    specs, axes = rng.choice((("P()", "x"), ("P('x')", "x"), ("P('x')", "x"), ("P(('x', 'y'))", "xy")))
    found = f"jnp.sum({rng.choice(VALUES)})"
    summed = found if specs == "P()" else f"lax.psum({found} + d.sum(), {tuple(axes)})"
    lines += ["def body(w, d):", f"    return {summed}"]
    lines.append(f"outer = jax.shard_map(body, mesh=mesh, in_specs=(P(), {specs}), out_specs=P())")
    lines.append(rng.choice(OUTSIDE).format(args="jnp.ones(()), jnp.ones(16)"))
    return "\n".join(lines) + "\n"


def _refusal(program: str) -> str | None:
    """Return the message with which JAX refuses a rule of a custom derivative, or None."""
    try:
        exec(compile(program, "<random>", "exec"), {})
    except ValueError as error:
        return str(error) if "Custom VJP bwd rule" in str(error) else None
    except Exception:
        return None
    return None


def _differ_in_shape(message: str) -> bool:
    """Return whether types differ in more than what varies."""
    types = re.findall(r"of type (\w+\[[\d,]*\])", message)
    return types[0] != types[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("draw", "share"), [(_program, 1), (_program_outside, 1 / 3)])
def test_rules_are_refused_as_by_jax(draw: Callable[[random.Random], str], share: float) -> None:
    rng = random.Random(5)
    found, missed = 0, []
    for _ in range(round(share * size("SHARDLINT_CUSTOM_DERIVATIVES", 150, 800))):
        program = draw(rng)
        due = _refusal(program)
        said = any(one.code == "SHL308" and one.severity == "error" for one in check(program))
        assert due is not None or not said, program
        found += said
        missed += [program] * (due is not None and not said and not _differ_in_shape(due))
    assert found > 4 * len(missed), "\n\n".join(missed)
    assert found > 15 * share


def _runs(program: str) -> bool:
    try:
        exec(compile(program, "<random>", "exec"), {})
    except Exception:
        return False
    return True


FUNCTION = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
@jax.custom_vjp
def f(w):
    return w * 2
f.defvjp(lambda w: (f(w), None), lambda _, ct: (lax.pcast(ct, "x", to="varying"),))
def body(w):
    return jax.grad(lambda w: jnp.sum({function}))(w)
jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P("x"))(jnp.full((4, 4), 0.3))
"""


def _functions() -> list[str]:
    """Return calls of the library's functions of one array, and operators."""
    calls = [f"{name}(f(w))" for name in sorted(OPERATIONS) if not name.startswith("jax.random")]
    operators = [f"f(w) {symbol} w" for symbol in ("+", "-", "*", "/", "//", "%", "@", "**", "<", "==")]
    more = ["f(w) ** 2", "f(w) ** 0", "f(w) ** 0.5", "-f(w)", "abs(f(w))", "f(w).T", "f(w)[0]", "f(w)[w > 1]",
            "w.at[0].set(f(w)[0])", "f(w).at[0].set(0)", "f(w).sum()", "f(w).astype(int)", "f(w).round()",
            "f(w).argmax()", "w[f(w).astype(int)]", "f(w).shape[0] * w", "jnp.full(3, f(w)[0, 0])",
            "f(w).min()", "jnp.where(f(w) > 0, w, w)", "jnp.where(w > 0, f(w), w)", "jnp.maximum(w, f(w))",
            "divmod(f(w), 2)[0]", "jnp.linspace(0, f(w)[0, 0], 3)", "jnp.clip(w, 0, f(w))",
            "jnp.power(f(w), 0)"]  # fmt: skip
    return calls + operators + more


@pytest.mark.filterwarnings("ignore")
def test_derivatives_reach_what_jax_differentiates() -> None:
    found, wrong = 0, []
    for function in _functions():
        program = FUNCTION.format(function=function)
        if any(one.code == "SHL308" and one.severity == "error" for one in check(program)):
            found += 1
            wrong += [function] * _runs(program)
    assert not wrong
    assert found > 100
