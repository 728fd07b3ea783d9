"""Shardings on one mesh under the context of another, against the real JAX."""

from __future__ import annotations

import itertools

import pytest
from stored_attempts import attempt

from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected
from shardlint.laws.placement.judge import judge_placement

A, E = AxisType.AUTO, AxisType.EXPLICIT
MESHES = [
    Mesh(names, sizes, types)
    for names, sizes in (
        (("x", "y"), (4, 2)),
        (("x", "y"), (2, 4)),
        (("y", "x"), (4, 2)),
        (("x", "z"), (4, 2)),
    )
    for types in ((A, A), (E, E), (E, A))
]
APIS = [
    Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT,
    Api.RANDOM_OUT_IN_JIT,
]  # fmt: skip


@pytest.mark.parametrize("api", APIS)
def test_a_mesh_other_than_the_context(api: Api) -> None:
    decided = 0
    for mesh, context in itertools.product(MESHES, MESHES):
        for spec in (Spec(("x",)), Spec()):
            verdict = judge_placement(api, mesh, spec, (8, 8), context=context)
            real = attempt(api, mesh, spec, (8, 8), under=context)
            if isinstance(verdict, Rejected):
                assert (verdict.exception, verdict.stage) == (real.exception, real.stage), (
                    mesh,
                    context,
                    spec,
                )
                differ = (mesh.names, mesh.sizes, mesh.types) != (context.names, context.sizes, context.types)
                assert differ or verdict.cause is Cause.AXIS_TYPE
            elif isinstance(verdict, Accepted):
                assert real.ok, (mesh, context, spec, real)
            decided += isinstance(verdict, Rejected | Accepted)
    assert decided > 0.9 * 2 * len(MESHES) ** 2
