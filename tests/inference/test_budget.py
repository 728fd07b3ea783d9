"""A call that takes too many steps ends, and what comes after it is judged all the same."""

from __future__ import annotations

import pytest

from shardlint.api import Linter, Settings, source_from_text

HEAD = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def step(rows, n):
    rows.append(n)
    return n + 1
def long(rows, n):
    for i in range(64):
        for j in range(64):
            for k in range(64):
                n = step(rows, n)
    return n
"""


def found(program: str) -> list[tuple[int, str]]:
    findings = Linter(Settings(devices=8)).check_source(source_from_text("program.py", HEAD + program))
    return [(f.span.line - HEAD.count("\n"), f.code) for f in findings]


@pytest.mark.parametrize("call", ["long([], 0)", "(lambda rows: long(rows, 0))([])"])
def test_what_comes_after_is_judged(call: str) -> None:
    placed = "jax.device_put(jnp.zeros((6, 8)), NamedSharding(mesh, P('model')))"
    program = f"def f():\n    {call}\n    return {placed}\n"
    assert found(program) == [(3, "SHL202")]


def test_what_it_may_change_is_not_known() -> None:
    program = (
        "def f():\n"
        "    rows = [6]\n"
        "    n = long(rows, 0)\n"
        "    jax.device_put(jnp.zeros((len(rows), 8)), NamedSharding(mesh, P('model')))\n"
        "    jax.device_put(jnp.zeros((n + 1, 8)), NamedSharding(mesh, P('model')))\n"
    )
    assert found(program) == []
