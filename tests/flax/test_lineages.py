"""The classes of which values of nnx are instances: beside Flax's own."""

from __future__ import annotations

import itertools

from flax import nnx

from shardlint.inference.overlays.flax.nnx.module import LINEAGES


def test_each_class_derives_from_those_listed_and_from_no_other() -> None:
    listed = sorted({*LINEAGES, *itertools.chain(*LINEAGES.values())})
    assert len(listed) > 30
    for kind, name in itertools.product(LINEAGES, listed):
        cls, other = (getattr(nnx, one.removeprefix("flax.nnx.")) for one in (kind, name))
        assert issubclass(cls, other) == (name in LINEAGES[kind]), (kind, name)
