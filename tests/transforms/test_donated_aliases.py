"""Random programs that donate arrays under several names and through helpers, beside what JAX deletes."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
from support.checking import check
from support.sizes import size

from shardlint.model.findings import Severity

HEAD = """
import copy, functools
import jax, jax.numpy as jnp

@functools.partial(jax.jit, donate_argnums=0)
def step(p, q):
    return p - q

def train(p, q):
    return step(p, q)

def renamed(p, *, q):
    same = p
    return train(same, q)

def fresh(p, q):
    p = p * 1
    return step(p, q)

def passed(*args, **kwargs):
    return train(*args, **kwargs)

def keeps(p):
    return p

class Trainer:
    def __init__(self, p):
        self.p = p

    def run(self, q):
        self.p = step(self.p, q)
        return self.p

def make():
    return jnp.ones((4, 4))

g = jnp.ones((4, 4))
a, b, c, d = make(), make(), make(), make()
"""
NAMES = "abcd"
STATEMENTS = (
    "{x} = {y}", "{x} = {y}", "{x} = {y}", "{x} = make()", "{x} = {y} + 1", "{x} = copy.copy({y})",
    "{x} = jnp.copy({y})", "{x} = step({y}, g)", "{x} = train({y}, g)", "{x} = renamed({y}, q=g)",
    "{x} = fresh({y}, g)", "{x} = passed({y}, g)", "{x} = passed({y}, q=g)", "{x}, {z} = {y}, {x}",
    "{x} = keeps({y})", "for {x} in [{y}, {z}]:\n    pass", "{x} = Trainer({y}).run(g)",
    "if len(jax.devices()) > 0:\n    {x} = {y}", "{x} = [{y}, {z}][0]",
)  # fmt: skip


def outcome(text: str) -> int | None:
    """Run a program; return the line that uses a deleted array, None if there is none."""
    try:
        exec(compile(text, "program.py", "exec", dont_inherit=True), {"__name__": "__main__"})
    except (RuntimeError, ValueError) as error:
        trace, line = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "program.py":
                line = line or (trace.tb_lineno if trace.tb_frame.f_code.co_name == "<module>" else None)
            trace = trace.tb_next
        assert line is not None and ("deleted" in str(error) or "donated" in str(error)), (text, error)
        return line
    return None


def test_what_is_deleted_is_what_jax_deletes() -> None:
    rng, deleted, found, ran = random.Random(613), 0, 0, 0
    assert jax.default_backend() == "cpu" and jnp.ones(1).devices()
    for _ in range(size("SHARDLINT_DONATED", 120, 1500)):
        text = HEAD
        for _ in range(rng.randint(2, 6)):
            x, y, z = rng.sample(NAMES, 3)
            text += rng.choice(STATEMENTS).format(x=x, y=y, z=z) + "\n"
        text += f"{rng.choice(NAMES)} + 1\n"
        line = outcome(text)
        said = [f for f in check(text) if f.code == "SHL613" and f.severity is Severity.ERROR]
        if line is None:
            ran += 1
            assert not said, f"{said[0].message} {said[0].span.line}\n{text[len(HEAD) :]}"
        else:
            deleted += 1
            found += bool(said)
            first = min((f.span.line for f in said), default=line)
            assert first >= line or first < HEAD.count("\n"), f"{said[0].message}\n{text[len(HEAD) :]}"
    assert ran > deleted / 3 and found > deleted / 3, (ran, deleted, found)
