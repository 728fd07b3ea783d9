"""What is said does not depend on the order in which Python happens to keep sets and dictionary keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shardlint.laws.core.python_source import constant_source, set_source
from shardlint.laws.core.values import Spec

#: Each mistake puts a set, or the difference of two sets of keys, into a message.
MISTAKES = """\
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
WORDS = {"alpha", "beta", "gamma", "delta", 1, None, ("x", "y")}
FROZEN = frozenset({"alpha", "beta", "gamma", "delta"})


def case_spec():
    P({"model", "x", "data"}, None)


def case_nested():
    P(("data", FROZEN), "model")
    NamedSharding(mesh, P((FROZEN, "data")))


def case_sharding():
    NamedSharding(mesh, WORDS)


def case_place():
    jax.device_put(jnp.zeros(8), {"model", "x", "data"})


def case_mesh_names():
    Mesh(np.array(jax.devices()).reshape(2, 4), {"rows", "columns"})


def case_mesh_shape():
    jax.make_mesh({2, 4}, ("data", "model"))


def case_mesh_types():
    jax.make_mesh((2, 4), ("data", "model"), axis_types={AxisType.Auto, "auto", "explicit"})


def case_prefix():
    tree = {"kernel": jnp.zeros(8), "bias": jnp.zeros(8), "scale": jnp.zeros(8), "extra": jnp.zeros(8)}
    specs = {"weight": P("data"), "offset": P("data"), "other": P("model"), "last": P()}
    jax.shard_map(lambda t: t, mesh=mesh, in_specs=(specs,), out_specs=specs)(tree)


def case_axis_names():
    jax.shard_map(
        lambda x: x, mesh=mesh, in_specs=P(), out_specs=P(), axis_names={"one", "two", "three", "data"}
    )(jnp.zeros(8))


def case_reductions():
    P("data", unreduced={"data", "model", "x"}, reduced={"x", "model"})


def case_keywords():
    P("data", first=1, second=2, third=3)


def case_metadata():
    nn.with_partitioning(nn.initializers.ones, ({"model", "x", "data"}, FROZEN))
    nn.Dense(8, kernel_init=nn.with_logical_partitioning(nn.initializers.ones, (FROZEN, {"a", "b", "c"})))


def case_rules():
    with nn.logical_axis_rules({"batch", "embed", "heads"}):
        nn.logical_to_mesh_axes(("batch", "embed", "heads"))
"""


def findings(folder: Path, seed: int, *arguments: str) -> str:
    start = "import sys; from shardlint.cli.commands import main; sys.exit(main())"
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", start, "check", "mistakes.py", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_the_hash_seed_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    texts = [findings(tmp_path, seed, "--output-format", "json") for seed in range(4)]
    for case in ('{"data", "model", "x"}', 'frozenset({"alpha", "beta", "delta", "gamma"})'):
        assert json.dumps(case)[1:-1] in texts[0]
    assert "no spec for 'kernel', 'bias', 'scale', 'extra'" in texts[0]
    assert texts == texts[:1] * 4


@pytest.mark.parametrize(
    "value",
    [
        set(), frozenset(), {1}, {"b", "a", None, 1, (2, "x")}, frozenset({(), (1,), ("a", "b")}),
        (1, {"a"}), "a'b", None, 1.5, (frozenset({frozenset({"x", "y"})}),), True, b"x",
    ],
)  # fmt: skip
def test_a_constant_as_source_is_the_constant(value: object) -> None:
    assert eval(constant_source(value)) == value
    assert type(eval(constant_source(value))) is type(value)


def test_members_stand_in_the_order_of_their_texts() -> None:
    assert set_source(frozenset({"b", "a", 1})) == '{"a", "b", 1}'
    assert set_source(()) == "set()"


def test_a_spec_in_a_set_is_written_as_a_program_writes_it() -> None:
    assert constant_source({Spec(("a", None)), "b"}) == '{"b", P("a", None)}'
