"""Functions that code which is not followed may call: what their module binds anew later is left open."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import pytest

from shardlint.files.sources import source_from_text
from shardlint.inference import InferenceSettings, analyze
from shardlint.laws.verdicts import Rejected

PROGRAM = """\
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from somewhere import unseen
auto = dict(axis_types=(AxisType.Auto,) * 2)
first, second = jax.make_mesh((4, 2), ("x", "y"), **auto), jax.make_mesh((4, 2), ("a", "b"), **auto)
mesh = {before}
{function}
{after}
"""
DECORATED = """\
@unseen
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = f(jnp.zeros(8))"""
GIVEN = """\
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = unseen(f)(jnp.zeros(8))"""
WRAPPED = """\
@unseen
@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = f(jnp.zeros(8))"""
STORED = """\
def later(f):
    return lambda x: unseen(lambda y: f(y))(x)
@later
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = f(jnp.zeros(8))"""
KEPT = """\
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))"""


def runs(text: str) -> bool:
    """Whether the program runs, with an `unseen` that calls what it got where it is called itself."""
    try:
        exec(text.replace("from somewhere import unseen", ""), {"unseen": lambda f: lambda *a: f(*a)})
    except ValueError:
        return False
    return True


def errors(text: str) -> int:
    uses = analyze([source_from_text("program.py", text)], InferenceSettings(devices=8))
    return sum(isinstance(getattr(use, "verdict", None), Rejected) for use in uses)


@pytest.mark.parametrize(
    "function", [DECORATED, GIVEN, WRAPPED, STORED], ids=["decorated", "given", "wrapped", "stored"]
)
@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("first", "mesh = second", False),
        ("second", "mesh = first", False),
        ("second", "", True),
        ("second", "mesh = second", True),
        ("first\nmesh = second", "", True),
        ("first", "", False),
    ],
)
def test_only_what_is_bound_for_good_is_known(function: str, before: str, after: str, found: bool) -> None:
    text = PROGRAM.format(before=before, function=function, after=after)
    assert errors(text) == int(found)
    assert not (found and runs(text))


def test_a_function_that_nobody_else_has_sees_what_is_bound_last() -> None:
    assert errors(PROGRAM.format(before="first", function=KEPT, after="mesh = second")) == 1
