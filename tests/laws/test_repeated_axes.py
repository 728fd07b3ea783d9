"""Specs on meshes that repeat an axis name, beside JAX, which may die of them."""

from __future__ import annotations

import judging
import real_jax
from judging import judge_case
from repeated_axes_cases import draw_cases, outcomes
from support.jax_answers import asks_jax

from shardlint.laws.core.verdicts import Accepted, Cause, Rejected
from shardlint.laws.placement import repeated_axes


def test_what_is_rejected_fails() -> None:
    cases = draw_cases(72, seed=11)
    verdicts = [judge_case(case) for case in cases]
    causes = [verdict.cause for verdict in verdicts if isinstance(verdict, Rejected)]
    assert causes.count(Cause.REPEATED_AXIS) > 15 and causes.count(Cause.UNKNOWN_AXIS) > 3
    found = asks_jax("laws", real_jax, judging, repeated_axes)(outcomes)(72, seed=11)
    assert {"accepts", "raises"} <= set(found)
    for case, verdict, outcome in zip(cases, verdicts, found, strict=True):
        assert not isinstance(verdict, Accepted), case
        assert not isinstance(verdict, Rejected) or outcome != "accepts", case
