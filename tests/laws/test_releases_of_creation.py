"""`jnp.zeros(out_sharding=)` since JAX 0.11.0: without a mesh in the context the sharding is dropped."""

from __future__ import annotations

import pytest

from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Undecided
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.versions import Release
from shardlint.laws.versions.era import assuming

MESH = Mesh(("x",), (8,), (AxisType.EXPLICIT,))


@pytest.mark.parametrize("api", [Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT])
@pytest.mark.parametrize("shape", [(8,), (7,)])
def test_what_is_not_asked_is_not_refused(api: Api, shape: tuple[int, ...]) -> None:
    with assuming(Release(0, 12, 0)):
        alone = judge_placement(api, MESH, Spec(("x",)), shape, context=None)
        assert isinstance(alone, Accepted) and alone.dropped
        assert isinstance(judge_placement(api, MESH, Spec(("x",)), shape, context=Unknown("?")), Undecided)
        under = judge_placement(api, MESH, Spec(("x",)), shape, context=MESH)
        assert isinstance(under, Accepted if shape == (8,) else Rejected)
    with assuming(Release(0, 10, 2)):
        before = judge_placement(api, MESH, Spec(("x",)), shape, context=None)
        assert not isinstance(before, Accepted)


@pytest.mark.parametrize("api", [Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT])
@pytest.mark.parametrize("release", [Release(0, 10, 2), Release(0, 11, 0), Release(0, 12, 0)])
def test_a_scalar_is_not_broadcast(api: Api, release: Release) -> None:
    with assuming(release):
        for context in (None, MESH):
            assert isinstance(judge_placement(api, MESH, Spec(("x",)), (), context=context), Rejected)
        alone = judge_placement(api, MESH, Spec(), (), context=None)
        assert isinstance(alone, Rejected if api is Api.CREATE_OUT else Undecided)
