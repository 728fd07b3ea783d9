"""What JAX refuses on Auto axes and on Explicit ones it refuses on a mixture of them.

So a mesh whose axis types are not known is taken for either, and what is refused of both is claimed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from judging import judge_case
from random_cases import draw_cases

from shardlint.laws.values import AxisType, Mesh
from shardlint.laws.verdicts import Accepted, Rejected


def test_no_mixture_is_accepted_that_is_refused_of_both() -> None:
    met: Counter[str] = Counter()
    for case in draw_cases(20_000, seed=5):
        mesh = case.mesh
        if not isinstance(mesh, Mesh) or len(set(mesh.types)) < 2 or AxisType.MANUAL in mesh.types:
            continue
        uniform = [
            judge_case(replace(case, mesh=mesh.with_types(dict.fromkeys(mesh.names, kind)), held=None))
            for kind in (AxisType.AUTO, AxisType.EXPLICIT)
        ]
        verdict = judge_case(replace(case, held=None))
        if all(isinstance(one, Rejected) for one in uniform):
            assert not isinstance(verdict, Accepted), case
            met["refused of both"] += 1
        met["mixed"] += 1
    assert met["mixed"] > 1_000
    assert met["refused of both"] > 300
