"""A mesh whose axis types are not known: what does not depend on them is judged, and nothing else."""

from __future__ import annotations

import pytest
from support.checking import check, codes, severities

from shardlint.laws.core.values import AxisType, Mesh

HEAD = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
def f(kinds, kind, choice):
"""
MESHES = {
    "types": "jax.make_mesh((2, 4), ('x', 'y'), axis_types=kinds)",
    "a tuple": "jax.make_mesh((2, 4), ('x', 'y'), axis_types=(kind, kind))",
    "one of them": "Mesh(np.reshape(jax.devices(), (2, 4)), ('x', 'y'), axis_types=(kind, AxisType.Auto))",
    "times": "jax.make_mesh((2, 4), ('x', 'y'), axis_types=(kind,) * 2)",
}
#: A line, and the code that it has whatever the types are.
LINES = [
    ("jax.device_put(jnp.zeros((4, 8)), NamedSharding(mesh, P(None, None, 'x')))", "SHL201"),
    ("jax.device_put(jnp.zeros((4, 7)), NamedSharding(mesh, P(None, 'x')))", "SHL202"),
    ("jax.device_put(jnp.zeros((4, 8)), NamedSharding(mesh, P('z')))", "SHL103"),
    ("jax.device_put(jnp.zeros((4, 8)), NamedSharding(mesh, P('x', 'y')))", None),
    ("jax.lax.with_sharding_constraint(jnp.zeros((4, 8)), NamedSharding(mesh, P('x')))", None),
    ("jax.sharding.reshard(jnp.zeros((4, 8)), NamedSharding(mesh, P('x')))", None),
    (
        "jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P('x')))"
        " + jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P('y')))",
        None,
    ),
    (
        "jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P('x')))[0:7].T"
        " @ -jax.device_put(jnp.ones((7, 8)), NamedSharding(mesh, P(None, 'x')))",
        None,
    ),
]


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)
@pytest.mark.parametrize(("line", "code"), LINES)
def test_only_what_holds_of_all_types_is_said(mesh: str, line: str, code: str | None) -> None:
    wanted = [] if code is None else [code]
    program = f"    mesh = {mesh}\n    {line}\n"
    assert codes(check(HEAD + program)) == wanted
    # The mesh that a project deploys on does not stand in for one of the program.
    deployed = Mesh(("a", "b"), (2, 4), (AxisType.AUTO,) * 2)
    assert codes(check(HEAD + program, mesh=deployed)) == wanted


def test_in_a_context() -> None:
    for setting in ("jax.set_mesh(mesh)\n    if True", "with jax.set_mesh(mesh)"):
        program = (
            f"    mesh = {MESHES['types']}\n    {setting}:\n"
            "        jax.lax.with_sharding_constraint(jnp.zeros((4, 8)), P('x'))\n"
            "        jax.sharding.reshard(jnp.zeros((4, 8)), P('x'))\n"
        )
        assert codes(check(HEAD + program)) == []


@pytest.mark.parametrize("operation", ["a + b", "(-a)[0] @ b", "a == b", "(a, b)[0] * b"])
def test_operators_meet_each_possible_value(operation: str) -> None:
    """What is wrong for one of the program's values is a warning: the other one runs."""
    program = (
        "    kinds = (AxisType.Auto, AxisType.Auto) if choice else (AxisType.Explicit, AxisType.Explicit)\n"
        "    mesh = jax.make_mesh((2, 4), ('x', 'y'), axis_types=kinds)\n"
        "    a = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P(None, 'x')))\n"
        "    b = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P('y', 'x')))\n"
        f"    {operation}\n"
    )
    assert "error" not in severities(check(HEAD + program))


def test_a_function_that_gives_one_is_called_again() -> None:
    """What a call gave is made anew, with what it supposes."""
    program = (
        "    def make():\n        return jax.make_mesh((2, 4), ('x', 'y'), axis_types=kinds)\n"
        "    for size in (8, 7):\n"
        "        jax.device_put(jnp.zeros((size, 8)), NamedSharding(make(), P('x')))\n"
    )
    assert codes(check(HEAD + program)) == ["SHL202"]
