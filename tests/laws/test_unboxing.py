"""Unboxing Flax's parameters where the mesh is not known."""

from __future__ import annotations

import pytest

from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Undecided
from shardlint.laws.placement.judge import judge_placement


@pytest.mark.parametrize("api", [Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER])
def test_unboxing_may_do_nothing_where_the_mesh_is_not_known(api: Api) -> None:
    verdicts = [
        judge_placement(api, mesh, Spec(("x", "y")), (8,), raw=True)
        for mesh in (None, Unknown("the caller's"))
    ]
    assert [type(verdict) for verdict in verdicts] == [Accepted, Undecided]
