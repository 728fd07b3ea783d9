"""Undecided tests that pick among a loop's items, and unseen functions that may set a mesh: no claims."""

from __future__ import annotations

import pytest
from support.checking import check, severities

HEADER = """
import jax, jax.numpy as jnp
from elsewhere import matches, setup_mesh, other
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
def put(size):
    return jax.device_put(jnp.zeros((size,)), NamedSharding(mesh, P("data")))
"""
LOOPS = {
    "picked": ("for n in (8, 7):\n        if matches(n):\n            put(n)", []),
    "left out": ("for n in (8, 7):\n        if matches(n):\n            continue\n        put(n)", []),
    "the first that matches": ("for n in (8, 7):\n        if matches(n):\n            return put(n)", []),
    "by what is made of it": (
        "for n in (8, 7):\n        m = n + 1\n        if matches(m):\n            put(n)",
        [],
    ),
    "none would do": ("for n in (9, 7):\n        if matches(n):\n            put(n)", ["warning"]),
    "not picked by the test": ("for n in (8, 7):\n        if flag:\n            put(n)", ["error"]),
    "after both branches": (
        "for n in (8, 7):\n        if matches(n):\n            pass\n        put(n)",
        ["error"],
    ),
    "in two loops": (
        "for n in (8, 7):\n        for m in (8, 4):\n            if matches(n, m):\n                put(n)",
        [],
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    body, expected = LOOPS[name]
    assert severities(check(f"{HEADER}\ndef run(flag):\n    {body}\n")) == expected


@pytest.mark.parametrize(
    "call, expected",
    [("other()", ["error"]), ("setup_mesh()", []), ("other(mesh)", []), ("other.use_mesh(1)", [])],
)
def test_what_is_not_seen_may_set_a_mesh(call: str, expected: list[str]) -> None:
    step = "jax.lax.with_sharding_constraint(jnp.zeros((8,)), P('data'))"
    assert severities(check(f"{HEADER}\ndef case_it():\n    {call}\n    {step}\n")) == expected
