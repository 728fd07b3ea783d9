"""From a program on Explicit axes to what JAX says of it: reshard, and calls that only assert."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.checking import check
from support.stored_answers import stored_confirmer

from shardlint.api import Linter, Settings, read_source
from shardlint.confirm.confirmer import Confirmer
from shardlint.laws.versions.era import since
from shardlint.model.findings import Confirmation

pytestmark = pytest.mark.usefixtures("forked_workers")

#: What JAX raises where a spec is longer than an array on Explicit axes.
TOO_LONG = "ValueError" if since("0.11.1") else "AssertionError"
MOVING_APIS = Path(__file__).parents[2] / "fixtures" / "moving_apis.py"
HEAD = """\
import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P, reshard

explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
auto = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
mixed = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Auto))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(explicit, P("data")))
y = jnp.ones((6, 10))
"""


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with stored_confirmer() as confirmer:
        yield confirmer
        assert confirmer.notes == []


def said(confirmer: Confirmer, program: str) -> tuple[str, Confirmation, str]:
    """The code of a program's one finding, its confirmation, and the exception that JAX raised."""
    [finding] = confirmer.confirm(check(HEAD + program, "train.py", devices=None))
    return finding.code, finding.confirmation, (finding.confirmed_by or "").rpartition(" ")[2]


@pytest.mark.parametrize(
    ("call", "code", "exception"),
    [
        ("reshard(x, NamedSharding(auto, P('data')))", "SHL701", "ValueError"),
        ("reshard(x, NamedSharding(mixed, P('data', 'model')))", "SHL701", "ValueError"),
        ("reshard(y, NamedSharding(explicit, P('model')))", "SHL202", "ValueError"),
        ("reshard(y, NamedSharding(explicit, P('data', None, 'model')))", "SHL201", TOO_LONG),
        ("reshard(y, P('data'))", "SHL206", "ValueError"),
        ("reshard(y, None)", "SHL104", "ValueError"),
        ("jax.jit(lambda a: reshard(a, NamedSharding(auto, P('data'))))(y)", "SHL701", "ValueError"),
        ("jax.jit(lambda a: reshard(a, NamedSharding(explicit, P('model'))))(y)", "SHL202", "ValueError"),
    ],
)
def test_reshard(confirmer: Confirmer, call: str, code: str, exception: str) -> None:
    assert said(confirmer, call) == (code, Confirmation.CONFIRMED, exception)


@pytest.mark.parametrize(
    ("call", "code", "exception"),
    [
        ("reshard(y, P('data', 'model'))", "SHL202", "ValueError"),
        ("with_sharding_constraint(x, P('model'))", "SHL702", "AssertionError"),
        ("with_sharding_constraint(x, NamedSharding(explicit, P('model')))", "SHL702", "AssertionError"),
        ("jax.jit(lambda a: with_sharding_constraint(a, P('model')))(x)", "SHL702", "AssertionError"),
        ("with_sharding_constraint(y, P('model'))", "SHL702", "AssertionError"),
        ("with_sharding_constraint(x, P('data', 'modl'))", "SHL103", "ValueError"),
        ("with_sharding_constraint(x, P('data', None, None))", "SHL201", "ValueError"),
        ("jax.shard_map(jnp.sin, in_specs=(P('model'),), out_specs=P('model'))(x)", "SHL702", "ValueError"),
    ],
)
def test_under_a_mesh_of_explicit_axes(confirmer: Confirmer, call: str, code: str, exception: str) -> None:
    program = f"with jax.set_mesh(explicit):\n    {call}\n"
    assert said(confirmer, program) == (code, Confirmation.CONFIRMED, exception)


def test_without_that_mesh_around_it_a_constraint_does_not_assert(confirmer: Confirmer) -> None:
    call = "with_sharding_constraint(x, NamedSharding(explicit, P('data')))"
    assert said(confirmer, call) == ("SHL701", Confirmation.CONFIRMED, "ValueError")


@pytest.mark.parametrize(
    ("call", "exception"),
    [
        # Since 0.11.0 the array is made on one device, in silence.
        (
            "jnp.zeros((8, 16), out_sharding=NamedSharding(explicit, P('data')))",
            "devices" if since("0.11.0") else "ValueError",
        ),
        ("jnp.empty((8, 16), out_sharding=NamedSharding(explicit, P('data')))", "ValueError"),
        ("jax.device_put(y, NamedSharding(explicit.abstract_mesh, P('data')))", "ValueError"),
    ],
)
def test_a_mesh_that_has_no_devices_or_is_not_set(confirmer: Confirmer, call: str, exception: str) -> None:
    assert said(confirmer, call) == ("SHL709", Confirmation.CONFIRMED, exception)


def test_a_request_has_one_mesh_and_cannot_show_that_another_is_set(confirmer: Confirmer) -> None:
    program = """
other = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
with jax.set_mesh(explicit):
    jnp.zeros((8, 16), out_sharding=NamedSharding(other, P("data")))
"""
    assert said(confirmer, program) == ("SHL709", Confirmation.NOT_RUNNABLE, "")


def test_the_fixture_of_an_assertion_is_confirmed(confirmer: Confirmer) -> None:
    findings = Linter(Settings()).check_source(read_source(str(MOVING_APIS)))
    [marked] = confirmer.confirm([f for f in findings if f.code == "SHL702"])
    assert marked.confirmation is Confirmation.CONFIRMED
    assert (marked.confirmed_by or "").endswith(": AssertionError")
