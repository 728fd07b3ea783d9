"""Meshes and specs for an older JAX, where they are made, and behave, in another way."""

from __future__ import annotations

import pytest
from support.checking import rejected, uses

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.versions.releases import NEWEST, Release
from shardlint.model.uses import ShardingUse

PROGRAMS = {
    # (program, the first release that rejects it, or None: all do; as measured on JAX's wheels)
    "AbstractMesh((('x', 4), ('y', 2)))": "0.5.3",
    "class Q(P):\n    pass": "0.10.0",
    "jax.make_mesh(8, ('x',))": None,
    "mesh_utils.create_device_mesh((-1, 8))": None,
    "AbstractMesh((4, 2), ('x', 'y')).devices": None,
}
SETUP = """\
import jax
import numpy as np
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec as P
"""


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("text", ["0.4.38", "0.5.0", "0.6.2", "0.8.3", "0.10.0", str(NEWEST)])
def test_a_program_is_rejected_from_the_release_on_that_does(program: str, text: str) -> None:
    since, release = PROGRAMS[program], Release.parse(text)
    found = rejected(f"{SETUP}{program}\n", release=release)
    assert bool(found) == (since is None or release >= Release.parse(since))


def test_the_sum_of_specs_was_a_tuple() -> None:
    program = f"{SETUP}if not isinstance(P('x') + (None,), P):\n    jax.make_mesh(8, ('x',))\n"
    assert rejected(program, release=Release.parse("0.5.0")) and not rejected(program, release=NEWEST)


def test_a_mesh_of_pairs_has_their_axes() -> None:
    program = "NamedSharding(AbstractMesh((('x', 4), ('y', 2))), P('x', 'q'))"
    found = uses(f"{SETUP}{program}\n", release=Release.parse("0.5.0"))
    (use,) = (use for use in found if isinstance(use, ShardingUse))
    assert isinstance(use.verdict, Rejected) and use.verdict.axis == "q"
