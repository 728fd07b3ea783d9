"""What the rules leave alone: what is right, what is not known, what is meant."""

from __future__ import annotations

import pytest
from rule_uses import (
    BATCH,
    arity,
    at,
    collective,
    mesh,
    parameter,
    placement,
    reference,
    spec,
)

from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected
from shardlint.model.uses import (
    ApiReference,
    Environment,
    SpecUse,
    Use,
)
from shardlint.rules import RuleSettings, judge

SILENT: list[Use] = [
    spec("data", None),
    placement("data", shape=(16, 8)),
    placement("data", "model", shape=(BATCH, 4 * BATCH)),
    placement(None, "model", shape=Unknown("not inferred")),
    placement("data", shape=(8192, 8192), dtype="float32"),
    placement(shape=(8192, 8192)),
    placement(shape=(8192, BATCH), dtype="float32"),
    placement(shape=(8192, 1024), dtype="float32"),
    placement(shape=(8192, 8192), dtype="float32", api=Api.CONSTRAINT),
    placement(Unknown("a parameter"), shape=(8192, 8192), dtype="float32", verdict=Accepted()),
    placement(shape=(8192, 8192), dtype="float32", mesh=Mesh(("data",), (1,), (AxisType.AUTO,))),
    placement(shape=(8192, 8192), dtype="float32", mesh=Mesh(("data",), (BATCH,), (AxisType.AUTO,))),
    parameter("embedding", (8, 16), "model"),
    parameter("kernel", (8, 16), "model", None),
    parameter("kernel", (8, 16), None),
    parameter("kernel", Unknown("not inferred"), "data", "model", None),
    # Heads are outputs too; an equation says what the dimensions of a kernel are.
    parameter("kernel", (256, 8, 32), None, "model", owner="nnx.MultiHeadAttention.query"),
    parameter("kernel", (8, 64, 32), "model", owner="nn.Einsum"),
    parameter("kernel", (3, 3, 16, 8), None, None, "model", owner="nn.ConvTranspose"),
    parameter("embedding", (50257, 1600), dtype="bfloat16"),
    mesh("make_mesh", (2, 2), "data", "model"),
    mesh("make_mesh", (4, 4), "data", "model", devices=None),
    arity(Api.SHARD_MAP_IN, 2, 2),
    collective("psum", "data", bound=(("data", 2),)),
    reference("jax.sharding.NamedSharding", Accepted()),
    reference("jax.sharding.use_mesh", Accepted()),
]


@pytest.mark.parametrize("use", SILENT, ids=range(len(SILENT)))
def test_what_is_right_or_not_known_is_not_reported(use: Use) -> None:
    assert judge([use], RuleSettings()) == []


@pytest.mark.parametrize("caught", ["ImportError", "ModuleNotFoundError", "AttributeError", "BaseException"])
def test_a_removed_name_that_is_only_tried_is_not_reported(caught: str) -> None:
    tried = ApiReference(
        place=at(1),
        environment=Environment(caught=frozenset({caught})),
        verdict=Rejected(Cause.REMOVED, "AttributeError", "import"),
        name="jax.sharding.use_mesh",
    )
    assert judge([tried], RuleSettings()) == []


def test_an_empty_tuple_that_is_one_of_several_values_is_a_choice() -> None:
    chosen = SpecUse(
        place=at(1), environment=Environment(), verdict=Accepted(), spec=Spec(((),)), variant=0, variants=2
    )
    assert judge([chosen], RuleSettings()) == []


def test_the_size_of_what_may_be_replicated_can_be_set() -> None:
    use = placement(shape=(1024, 1024), dtype="float32")
    assert judge([use], RuleSettings()) == []
    (finding,) = judge([use], RuleSettings(replicated_bytes=4 * 2**20))
    assert finding.code == "SHL601"
