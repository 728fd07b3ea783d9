"""What JAX refuses on Auto axes and on Explicit ones it refuses on a mixture of them.

So a mesh whose axis types are not known is taken for either, and what is refused of both is claimed. JAX is
asked of all three.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from judging import judge_case
from random_cases import Drawn, draw_cases
from stored_attempts import attempt

from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.core.verdicts import Accepted, Rejected

#: How many cases JAX is asked.
ASKED = 100


def test_no_mixture_is_accepted_that_is_refused_of_both() -> None:
    met: Counter[str] = Counter()
    for case in draw_cases(20_000, seed=5):
        mesh = case.mesh
        if not isinstance(mesh, Mesh) or len(set(mesh.types)) < 2 or AxisType.MANUAL in mesh.types:
            continue
        mixture = replace(case, held=None)
        uniform = [
            replace(mixture, mesh=mesh.with_types(dict.fromkeys(mesh.names, kind)))
            for kind in (AxisType.AUTO, AxisType.EXPLICIT)
        ]
        if all(isinstance(judge_case(one), Rejected) for one in uniform):
            assert not isinstance(judge_case(mixture), Accepted), case
            met["refused of both"] += 1
            if met["asked"] < ASKED:
                met["asked"] += 1
                assert not any(map(_runs, [*uniform, mixture])), case
        met["mixed"] += 1
    assert met["mixed"] > 1_000
    assert met["asked"] == ASKED


def _runs(case: Drawn) -> bool:
    """Whether JAX takes it."""
    return attempt(case.api, case.mesh, case.spec, case.shape, raw=case.raw, under=bool(case.under)).ok
