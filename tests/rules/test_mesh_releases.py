"""Meshes and specs for an older JAX, where they are made, and behave, in another way."""

from __future__ import annotations

import pytest

from shardlint.api import source_from_text
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.programs.program import analyze_source
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


def rejected(program: str, release: Release) -> bool:
    settings = InferenceSettings(devices=8, release=release)
    uses = analyze_source(source_from_text("program.py", SETUP + program + "\n"), settings)
    return any(isinstance(getattr(use, "verdict", None), Rejected) for use in uses)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("text", ["0.4.38", "0.5.0", "0.6.2", "0.8.3", "0.10.0", str(NEWEST)])
def test_a_program_is_rejected_from_the_release_on_that_does(program: str, text: str) -> None:
    since, release = PROGRAMS[program], Release.parse(text)
    assert rejected(program, release) == (since is None or release >= Release.parse(since))


def test_the_sum_of_specs_was_a_tuple() -> None:
    program = "if not isinstance(P('x') + (None,), P):\n    jax.make_mesh(8, ('x',))"
    assert rejected(program, Release.parse("0.5.0")) and not rejected(program, NEWEST)


def test_a_mesh_of_pairs_has_their_axes() -> None:
    program = "NamedSharding(AbstractMesh((('x', 4), ('y', 2))), P('x', 'q'))"
    settings = InferenceSettings(devices=8, release=Release.parse("0.5.0"))
    uses = analyze_source(source_from_text("program.py", SETUP + program + "\n"), settings)
    (use,) = (use for use in uses if isinstance(use, ShardingUse))
    assert isinstance(use.verdict, Rejected) and use.verdict.axis == "q"
