"""Rules of the configuration against Flax, where the caller sets them, and tables of a project's own."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.checking import rejected as rejecting
from support.checking import uses
from support.jax_answers import asks_jax

from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.uses import LogicalAxesUse, Use

Rules = tuple[tuple[str, str | tuple[str, ...] | None], ...]

MESH = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
OURS = Mesh(("x", "y"), (4, 2), (AxisType.AUTO, AxisType.AUTO))
HEADER = """
import flax.linen as nn
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding, PartitionSpec as P
"""
NAMES = ("batch", "embed", "mlp", "time", None)
AXES = ("x", "y", "x", "y", None, ("x", "y"), "model")


def uses_of(text: str, rules: Rules | None = None, mesh: Mesh | None = OURS) -> list[Use]:
    return uses(text, mesh=mesh, logical_rules=rules)


def mistakes(text: str, rules: Rules | None = None) -> list[tuple[Mistake, str, bool]]:
    """What is wrong with names: the mistake, the name, and whether that is an error."""
    return [
        (use.mistake, use.text, isinstance(use.verdict, Rejected))
        for use in uses_of(text, rules)
        if isinstance(use, LogicalAxesUse)
    ]


@asks_jax("flax")
def raised(text: str, rules: Rules) -> set[str]:
    """The exceptions that ``step`` raises under the rules and the mesh: outside jit and inside."""
    names: dict[str, Any] = {}
    exec(text, names)
    found, x = set(), jnp.ones(4)
    with jax.set_mesh(MESH), nn.logical_axis_rules(rules):
        for step in (names["step"], jax.jit(names["step"])):
            try:
                step(x)
                found.add("")
            except Exception as error:
                found.add(type(error).__name__)
    return found


@asks_jax("flax")
def raised_at_once(text: str) -> str:
    """The exception that a program ends with, or ``""``."""
    try:
        exec(text, {})
    except Exception as error:
        return type(error).__name__
    return ""


def _rules(draw: random.Random) -> Rules:
    return tuple(
        (draw.choice(("batch", "embed", "mlp")), draw.choice(AXES)) for _ in range(draw.randint(1, 4))
    )


def _step(draw: random.Random) -> str:
    names = tuple(draw.choice(NAMES) for _ in range(draw.choice((1, 2, 2, 2, 2, 3))))
    call = draw.choice(
        (
            f"nn.with_logical_constraint(y, {names!r})",
            f"nn.with_logical_constraint(y, {names!r}, fallback=nn.spmd.RulesFallback.RAISE_ERROR)",
            f"nn.logical_to_mesh_axes({names!r})",
            f"nnx.Param(y, out_sharding={names!r})",
        )
    )
    return (
        f"{HEADER}def step(x):\n    y = jnp.zeros((8, {draw.choice((8, 8, 6))}))\n    {call}\n    return x\n"
    )


def test_what_is_an_error_under_configured_rules_raises_under_them() -> None:
    draw, seen = random.Random("configured"), Counter[str]()
    for _ in range(150):
        text, rules = _step(draw), _rules(draw)
        claimed = {use.verdict.exception for use in uses_of(text, rules) if isinstance(use.verdict, Rejected)}
        real = raised(text, rules)
        if claimed:
            assert "" not in real, (text, rules)
            assert claimed & real, (text, rules)
        seen["claimed" if claimed else "accepted" if "" in real else "undecided"] += 1
    assert min(seen["claimed"], seen["accepted"]) >= 20, seen


RULES: Rules = (("batch", "x"), ("embed", "y"), ("mlp", "y"), ("stack", "model"))
MODEL = """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        init = nn.with_logical_partitioning(nn.initializers.ones, NAMES)
        return nn.Dense(8, kernel_init=init, use_bias=False)(x)
"""


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ('("embed", None)', []),
        ('("embed", "mlp")', [(Mistake.ONE_MESH_AXIS, "mlp", False)]),
        ('("embed", "time")', [(Mistake.UNKNOWN_NAME, "time", False)]),
        ('("stack", "embed")', [(Mistake.UNKNOWN_MESH_AXIS, "stack", False)]),
        ('("embed", "embed")', [(Mistake.REPEATED_NAME, "embed", False)]),
    ],
)
def test_names_of_a_model_that_nothing_here_initializes(names: str, expected: list[Any]) -> None:
    text = HEADER + MODEL.replace("NAMES", names)
    assert mistakes(text, RULES) == expected
    # One name for two dimensions is refused by any rules.
    assert mistakes(text) == [found for found in expected if found[0] is Mistake.REPEATED_NAME]
    # linen resolves these names as it unboxes them, and raises where the mistake says so.
    kernel = nn.with_logical_partitioning(nn.initializers.ones, eval(names))
    layer = nn.Dense(8, kernel_init=kernel, use_bias=False)
    outcome = None
    try:
        with jax.set_mesh(MESH), nn.logical_axis_rules(RULES):
            jax.jit(layer.init)(jax.random.key(0), jnp.ones((8, 8)))
    except ValueError as error:
        outcome = type(error).__name__
    refused = {Mistake.UNKNOWN_MESH_AXIS, Mistake.REPEATED_NAME}
    assert (outcome == "ValueError") is any(mistake in refused for mistake, _, _ in expected)


CONSTRAINT = 'nn.with_logical_constraint(jnp.zeros((8, 8)), ("embed", "stack"){})'
REFUSED = [(Mistake.UNKNOWN_MESH_AXIS, "stack", True)]
NEARER = 'with nn.logical_axis_rules((("embed", "x"), ("stack", None))):\n        '


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (CONSTRAINT.format(""), REFUSED),
        (CONSTRAINT.format(", rules=cfg.rules"), REFUSED),
        (f"with nn.logical_axis_rules(cfg.rules):\n        {CONSTRAINT.format('')}", REFUSED),
        (f"with cfg.mesh:\n        {CONSTRAINT.format('')}", []),  # the mesh is not known there
        (NEARER + CONSTRAINT.format(""), []),
        (NEARER + CONSTRAINT.format(", rules=cfg.rules"), []),
        (f"{NEARER}with cfg.mesh:\n            {CONSTRAINT.format('')}", []),
        (CONSTRAINT.format(', rules=(("stack", "x"), ("embed", "y"))'), []),
    ],
)
def test_nearer_rules_go_before_those_of_the_configuration(body: str, expected: list[Any]) -> None:
    assert mistakes(f"{HEADER}def step(cfg):\n    {body}\n", RULES) == expected


@pytest.mark.parametrize("rules", [(), RULES])
@pytest.mark.parametrize(
    ("call", "needs_rules"),
    [
        ('nn.with_logical_constraint(y, ("embed", "embed"))', True),
        ('nn.logical_to_mesh_axes(("embed", "embed"))', False),
        ('nn.LogicallyPartitioned(y, ("embed", "embed"), mesh=MESH).unbox()', True),
    ],
)
def test_a_name_twice_is_an_error_where_there_are_rules_for_sure(
    call: str, needs_rules: bool, rules: Rules
) -> None:
    text = f"{HEADER}import jax\nMESH = jax.make_mesh((4, 2), ('x', 'y'))\n"
    text += f"def step(x):\n    y = jnp.zeros((8, 8))\n    {call}\n    return x\n"
    assert mistakes(text) == [(Mistake.REPEATED_NAME, "embed", not needs_rules)]
    assert mistakes(text, RULES) == [(Mistake.REPEATED_NAME, "embed", True)]
    assert raised(text, rules) == ({""} if needs_rules and not rules else {"ValueError"})


def test_a_program_that_sets_no_rules_has_none() -> None:
    assert mistakes(f"{HEADER}{CONSTRAINT.format('')}\n", RULES) == []


TABLES = (
    "RULES = {table!r}\ndef at(name):\n    return RULES[name]\n",
    "RULES = {table!r}\ndef at(name):\n    return RULES.get(name)\n",
    "class Rules:\n    {fields}\ndef at(name):\n    return getattr(Rules(), name)\n",
)


def test_names_looked_up_in_a_table_of_the_project() -> None:
    """A name twice is seen whatever the table says, and is an error exactly where JAX raises."""
    draw, seen = random.Random("tables"), Counter[str]()
    for _ in range(60):
        table = {name: draw.choice(("x", "y", None)) for name in ("batch", "embed", "mlp")}
        fields = "; ".join(f"{name} = {axis!r}" for name, axis in table.items())
        names = [draw.choice(list(table)) for _ in range(2)]
        text = f"""{HEADER}import jax
import numpy as np
mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
{draw.choice(TABLES).format(table=table, fields=fields)}
def sharding(*names):
    return NamedSharding(mesh, P(*(at(name) if name is not None else None for name in names)))

sharding({names[0]!r}, None, {names[1]!r})
"""
        rejected = any(isinstance(use.verdict, Rejected) for use in uses_of(text))
        assert rejected is bool(raised_at_once(text)), text
        twice = any(mistake is Mistake.REPEATED_NAME for mistake, _, _ in mistakes(text))
        assert twice is (names[0] == names[1]), text
        seen[f"{twice} {rejected}"] += 1
    assert len(seen) == 4, seen


OWN_MESH = (
    HEADER
    + """
import jax
def place(x, names, mesh):
    return jax.device_put(x, NamedSharding(mesh, nn.logical_to_mesh_axes(names)))
def test_it():
    mesh = jax.make_mesh({sizes}, {names}, axis_types=(jax.sharding.AxisType.Auto,) * 2)
    place(jnp.ones((8, 7)), ("batch", "embed"), mesh)
"""
)


@pytest.mark.parametrize("sizes, names, rejected", [((4, 2), ("x", "y"), True), ((8, 1), ("x", "z"), False)])
def test_configured_rules_are_for_the_configured_meshes(
    sizes: tuple[int, int], names: tuple[str, str], rejected: bool
) -> None:
    text = OWN_MESH.format(sizes=sizes, names=names)
    scope: dict[str, Any] = {}
    exec(text, scope)
    scope["test_it"]()  # the program sets no rules, so that all is replicated
    rules: Rules = (("batch", "x"), ("embed", "y"))
    for meshes, expected in (((("both", OURS),), rejected), ((), True)):
        assert bool(rejecting(text, meshes=meshes, logical_rules=rules)) == expected
