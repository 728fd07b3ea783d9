"""Witnesses of calls as data: whole calls, operations on Explicit axes, and what loops carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import confirm_cases as cases
import pytest
from support.stored_answers import stored_confirmer

from shardlint.confirm.confirmer import Confirmer
from shardlint.confirm.witnesses.builder import witness_of
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause
from shardlint.model.findings import Confirmation, Finding, Severity
from shardlint.model.uses import CallUse, CarryUse, Environment, OperationUse

pytestmark = pytest.mark.usefixtures("forked_workers")

MANUAL = replace(cases.MESH, types=(AxisType.MANUAL,) * 2)
SMALL = replace(cases.EXPLICIT, sizes=(2, 2))
LARGE = replace(cases.EXPLICIT, sizes=(64, 64))
BOUND = (("data", 2), ("model", 4))
READ = "jax.sharding.get_abstract_mesh()"


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with stored_confirmer() as confirmer:
        yield confirmer


def call(text: str | None, repaired: str | None, exception: str | None, **environment: Any) -> Finding:
    verdict = Accepted() if exception is None else cases.rejected(Cause.MISUSE, exception)
    severity = Severity.WARNING if exception is None else Severity.ERROR
    around = Environment(**environment)
    function = (text or "").partition("(")[0]
    use = CallUse(
        place=cases.HERE,
        environment=around,
        verdict=verdict,
        function=function,
        call=None if text is None else cases.data(text),
        repaired=None if repaired is None else cases.data(repaired),
    )
    return cases.finding(use, severity)


def array(*entries: Any, shape: Any = (8, 8), mesh: Mesh | None = cases.EXPLICIT) -> ArrayType:
    return ArrayType(shape, "float32", TypeSharding(mesh, Spec(entries)))


def operation(text: str, exception: str, *operands: ArrayType, **fields: Any) -> Finding:
    verdict = cases.rejected(Cause.CONFLICT, exception)
    around = Environment(context_mesh=fields.pop("context", cases.EXPLICIT), in_jit=True)
    given = {"place": cases.HERE, "environment": around, "verdict": verdict, **fields}
    return cases.finding(OperationUse(function=text, operands=operands, call=cases.data(text), **given))


def carry(function: str, before: ArrayType, after: ArrayType, mesh: Mesh) -> Finding:
    verdict, around = cases.rejected(Cause.CARRY, "TypeError"), Environment(context_mesh=mesh, in_jit=True)
    given: dict[str, Any] = {"place": cases.HERE, "environment": around, "verdict": verdict}
    return cases.finding(CarryUse(function=function, path="", before=before, after=after, **given))


@pytest.mark.parametrize(
    "finding",
    [
        call("jax.set_mesh((4, 2))", "jax.set_mesh(None)", "ValueError"),
        call("jax.sharding.get_mesh()", "jax.sharding.get_abstract_mesh()", "ValueError", in_jit=True),
        call(
            "lax.ppermute(jnp.ones(1), 'data', [(0, 1), (1, 1)])",
            "lax.ppermute(jnp.ones(1), 'data', [(0, 1), (1, 0)])",
            "ValueError",
            context_mesh=MANUAL,
            bound_axes=BOUND,
        ),
        # What holds wherever it is called holds where nothing is set.
        call(
            "jax.set_mesh(8)",
            "jax.sharding.get_abstract_mesh()",
            "ValueError",
            in_jit=None,
            context_mesh=Unknown("?"),
        ),
        call(
            "jax.set_mesh(8)",
            "jax.sharding.get_abstract_mesh()",
            "ValueError",
            bound_axes=Unknown("the caller's"),
        ),
        call(
            "jax.sharding.reshard(jnp.ones((8, 8)), P('data', 'data'))",
            "jax.sharding.reshard(jnp.ones((8, 8)), P('data'))",
            "DuplicateSpecError",
            context_mesh=cases.EXPLICIT,
        ),
        operation("x0 + x1", "ShardingTypeError", array("data"), array("model")),
        operation(
            "x0 + x1",
            "ShardingTypeError",
            array("data", shape=(64, 64), mesh=LARGE),
            array("model", shape=(64, 64), mesh=LARGE),
            context=LARGE,
        ),
        operation("x0 * x1", "ValueError", array("data"), array("data", shape=(8, 8), mesh=SMALL)),
        operation(
            "x0 @ x1",
            "ShardingTypeError",
            array("data", "model", shape=(symbol("batch"), symbol("d"))),
            array("model", shape=(symbol("d"), 512)),
        ),
        operation(
            "jnp.einsum('ij,jk->ik', x0, x1, out_sharding=P('row'))",
            "ValueError",
            array(),
            array(),
            out_sharding=Spec(("row",)),
        ),
        carry("lax.scan", array("data"), array("model"), cases.EXPLICIT),
        carry("lax.while_loop", array("data"), array(), cases.EXPLICIT),
        carry(
            "lax.scan",
            ArrayType((), "float32", varying=frozenset()),
            ArrayType((), "float32", varying=frozenset({"data"})),
            MANUAL,
        ),
        carry(
            "lax.fori_loop",
            ArrayType((4,), "float32", varying=frozenset({"model"})),
            ArrayType((4,), "float32", varying=frozenset({"data", "model"})),
            MANUAL,
        ),
    ],
)
def test_true_errors_are_confirmed(confirmer: Confirmer, finding: Finding) -> None:
    [marked] = confirmer.confirm([finding])
    assert marked.confirmation is Confirmation.CONFIRMED, (marked.confirmed_by, witness_of(finding))


@pytest.mark.parametrize(
    "finding",
    [
        call("jax.sharding.get_abstract_mesh()", "jax.sharding.get_abstract_mesh()", "ValueError"),
        operation("x0 + x1", "ShardingTypeError", array("data"), array("data")),
        carry("lax.scan", array("data"), array("data"), cases.EXPLICIT),
    ],
)
def test_what_jax_accepts_refutes_an_error(confirmer: Confirmer, finding: Finding) -> None:
    [marked] = confirmer.confirm([finding])
    assert (marked.confirmation, marked.severity) == (Confirmation.REFUTED, Severity.INFO)


def test_what_is_silent_is_confirmed_by_running(confirmer: Confirmer) -> None:
    given = "lax.psum(jnp.ones(2), 'data')"
    [marked] = confirmer.confirm([call(given, given, None, context_mesh=MANUAL, bound_axes=BOUND)])
    assert marked.confirmation is Confirmation.CONFIRMED


@pytest.mark.parametrize(
    "finding",
    [
        call(None, None, "ValueError"),
        call("jax.sharding.get_abstract_mesh()", None, "ValueError"),
        operation("x0 + x0", "ValueError", array(shape=None)),
        carry("lax.map", array("data"), array("model"), cases.EXPLICIT),
        carry("lax.scan", ArrayType((4,)), ArrayType((4,)), MANUAL),
    ],
)
def test_nothing_runs_without_what_is_unknown(finding: Finding) -> None:
    assert witness_of(finding) is None
