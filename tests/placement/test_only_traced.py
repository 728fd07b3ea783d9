"""What is refused only as a program is lowered runs where it is only traced."""

from __future__ import annotations

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Severity

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
    for body in BODIES:
        for call in (*TRACED, *COMPILED):
            program = f"{HEADER}\ndef f(x):\n    return {body}\n\n{call}\n"
            found = Linter(Settings(devices=8)).check_source(source_from_text("program.py", program))
            errors = [finding.message for finding in found if finding.severity is Severity.ERROR]
            try:
                exec(program, {})
            except Exception:
                met[call] += bool(errors)
            else:
                assert not errors, (program, errors)
    assert all(met.values())
    assert min(met[call] for call in COMPILED) > max(met[call] for call in TRACED), met
