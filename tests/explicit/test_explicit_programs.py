"""Random programs on Explicit, mixed and Auto meshes: verdicts, exceptions and types beside JAX's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from explicit_probes import evaluate
from explicit_programs import Draw, Program, run
from support.sizes import scale

from shardlint.inference.domain.values import Array, Value
from shardlint.laws.core.verdicts import Rejected

#: How many times as many programs as usual.
SCALE = scale("SHARDLINT_EXPLICIT_SCALE", 1 / 3)
PROGRAMS, PARTS = 75, 4


@dataclass
class Tally:
    """Accepted statements, how many have a known type; rejected ones, and how many were found."""

    accepted: int = 0
    typed: int = 0
    rejected: int = 0
    found: int = 0


def compare(program: Program, tally: Tally) -> None:
    """Evaluate a program and compare with JAX, statement by statement. Raises AssertionError."""
    real = run(program)
    probes, uses = evaluate(program.text())
    refused = {use.place.resolve().line: use.verdict for use in uses if isinstance(use.verdict, Rejected)}
    for i, kind in enumerate(real.types):
        tally.accepted += 1
        assert program.line_of(i) not in refused, (program, i, refused)
        tally.typed += _same_type(probes.get(i), kind, (program, i))
    if real.exception is not None:
        tally.rejected += 1
        verdict = refused.get(program.line_of(len(real.types)))
        if verdict is not None:
            tally.found += 1
            assert verdict.exception == type(real.exception).__name__, (program, real.exception, verdict)


def _same_type(value: Value | None, real: Any, told: object) -> bool:
    """Whether the type is known; then mesh and spec must be JAX's."""
    if not isinstance(value, Array) or value.typed is None:
        return False
    held = None if real.sharding.mesh.empty else real.sharding.mesh
    assert value.typed.spec.entries == tuple(real.sharding.spec), (told, value.typed, real.sharding.spec)
    if held is None or value.typed.mesh is None:
        assert held is None and value.typed.mesh is None, (told, value.typed, real.sharding)
        return True
    assert value.typed.mesh.names == held.axis_names, (told, value.typed, real.sharding)
    assert [str(kind) for kind in value.typed.mesh.types] == [kind.name for kind in held.axis_types], told
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_agree_with_jax(part: int) -> None:
    tally = Tally()
    count = round(PROGRAMS * SCALE)
    for seed in range(part * count, (part + 1) * count):
        compare(Draw(seed).program(), tally)
    assert tally.typed >= 0.9 * tally.accepted, tally
    assert tally.rejected >= 0.03 * tally.accepted, tally
    assert tally.found >= 0.8 * tally.rejected, tally
