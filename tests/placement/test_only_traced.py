"""What is refused only as a program is lowered runs where it is only traced."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from support.checking import errors
from support.jax_answers import answers

HEADER = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
twice = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "x"))
x = jnp.ones((8, 8))
"""
#: Functions of x.
BODIES = (
    "lax.with_sharding_constraint(x, NamedSharding(twice, P('x')))",
    "jax.device_put(x, NamedSharding(twice, P('x')))",
    "jax.jit(lambda v: v, out_shardings=NamedSharding(twice, P('x')))(x)",
    "jax.jit(lambda v: v, in_shardings=NamedSharding(mesh, P('x')))(x[:3])",
    "jax.jit(lambda v: v, out_shardings=NamedSharding(mesh, P('x')))(x[:3])",
    "jax.device_put(x[:3], NamedSharding(mesh, P('x')))",
    "lax.with_sharding_constraint(x, NamedSharding(mesh, P('x', 'y', None)))",
    "lax.with_sharding_constraint(x, NamedSharding(mesh, P('z')))",
    "lax.with_sharding_constraint(x[:3], NamedSharding(mesh, P('x')))",
)
TRACED = (
    "jax.eval_shape(f, x)",
    "jax.eval_shape(jax.jit(f), x)",
    "jax.jit(f).eval_shape(x)",
    "jax.jit(f).trace(x)",
)
COMPILED = ("jax.jit(f)(x)", "jax.jit(f).lower(x).compile()")


def test_errors_are_of_what_is_done() -> None:
    met = dict.fromkeys((*TRACED, *COMPILED), 0)
    programs = {
        (body, call): f"{HEADER}\ndef f(x):\n    return {body}\n\n{call}\n"
        for body in BODIES
        for call in (*TRACED, *COMPILED)
    }
    # XLA ends the process of some programs that repeat an axis, since JAX 0.12.
    repeating = {
        text: text for (body, call), text in programs.items() if "twice" in body and call in COMPILED
    }
    ended = answers(repeating, _fails, "a process each")
    for (_, call), program in programs.items():
        found = errors(program)
        if ended[program] if program in repeating else _raises(program):
            met[call] += bool(found)
        else:
            assert not found, (program, found)
    assert all(met.values())
    assert min(met[call] for call in COMPILED) > max(met[call] for call in TRACED), met


def _raises(program: str) -> bool:
    try:
        exec(program, {})
    except Exception:
        return True
    return False


def _fails(programs: Mapping[str, str]) -> dict[str, bool]:
    """Return whether each program fails in a process of its own."""
    return {
        name: subprocess.run([sys.executable, "-c", text], capture_output=True).returncode != 0
        for name, text in programs.items()
    }
