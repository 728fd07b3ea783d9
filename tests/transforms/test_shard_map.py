"""Random programs about meshes, `shard_map` and placement: verdicts and results beside JAX's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
from probing import SCALE, Evaluated, Tally, compare, described, evaluate
from sharding_programs import Maker

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import MeshUse


@dataclass
class Count:
    """Programs by JAX's verdict and ours."""

    accepted: int = 0
    rejected: int = 0
    missed: list[str] = field(default_factory=list)
    leaves: Tally = field(default_factory=Tally)


#: Stages as verdicts name them.
Stages = tuple[str, ...]
Ending = tuple[dict[int, Any], Exception | None]


def executed(text: str) -> Ending:
    """Execute a program; return what its probes were given, and how it ended."""
    found: dict[int, Any] = {}

    def probe(number: int, value: Any) -> None:
        found[number] = jax.tree.map(described, value)

    try:
        exec(compile(text, "program.py", "exec"), {"probe": probe})
    except Exception as error:
        return found, error
    return found, None


def run_for_real(text: str) -> Ending:
    """Execute a program that may set a mesh for good."""
    with jax.set_mesh(None):
        return executed(text)


def traced_for_real(text: str) -> Ending:
    """The same with everything traced, which is fast."""
    ending: list[Ending] = []
    jax.eval_shape(lambda: ending.append(executed(text)))
    return ending[0]


def judge(
    text: str, found: Evaluated, real: dict[int, Any], error: Exception | None, count: Count, beyond: Stages
) -> None:
    """Compare verdicts and results; the program did not get to the stages ``beyond``.

    Raises AssertionError where ours is wrong.
    """
    rejected = [use.verdict for use in found.uses if isinstance(use.verdict, Rejected) and not _later(use)]
    verdicts = [verdict for verdict in rejected if verdict.stage not in beyond]
    try:
        if verdicts:
            assert error is not None, f"rejected, but it runs: {verdicts}"
            # A program may make several mistakes, of which JAX meets one.
            assert {verdict.exception for verdict in verdicts} & {"Exception", type(error).__name__}, verdicts
        for number, value in real.items():
            compare(found.probes[number], value, {}, count.leaves)
    except AssertionError as wrong:
        raise AssertionError(f"{wrong}\n{text}\nJAX: {error!r}") from None
    count.accepted += error is None
    count.rejected += error is not None
    if error is not None and not verdicts:
        count.missed.append(f"{type(error).__name__}: {str(error)[:120]}\n{text}")


def _later(use: object) -> bool:
    """Whether it is a mesh that JAX builds, and rejects when something uses it."""
    return isinstance(use, MeshUse) and isinstance(use.verdict, Rejected) and use.verdict.stage == "use"


def check(make: Callable[[Maker], None], run: Callable[[str], Any], seeds: range) -> Count:
    """Make programs, run them both ways, and count."""
    count = Count()
    beyond = ("lower", "execute") if run is traced_for_real else ()
    for seed in seeds:
        maker = Maker(seed)
        make(maker)
        real, error = run(maker.text)
        try:
            judge(maker.text, evaluate(maker.text), real, error, count, beyond)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from None
    return count


def shard_map_unchecked(maker: Maker) -> None:
    maker.mesh(abstract=maker.chance(0.2))
    maker.shard_map(check_vma=False)


def shard_map_checked(maker: Maker) -> None:
    maker.mesh()
    maker.shard_map(check_vma=True)


def placements(maker: Maker) -> None:
    maker.mesh(explicit=0.2)
    maker.placement()


def meshes(maker: Maker) -> None:
    maker.mesh(wrong=maker.pick(0.0, 0.3), abstract=maker.chance(0.1))
    for _ in range(3):
        maker.read_back()


def test_unchecked_shard_map() -> None:
    count = check(shard_map_unchecked, traced_for_real, range(round(60 * SCALE)))
    assert count.accepted > 24 * SCALE and count.rejected > 6 * SCALE
    assert len(count.missed) <= 0.2 * count.rejected, "\n\n".join(count.missed)
    assert count.leaves.unknown < 0.1 * count.leaves.leaves


def test_checked_shard_map() -> None:
    """JAX also rejects results that vary over axes they should not; we only must not reject more."""
    count = check(shard_map_checked, traced_for_real, range(round(30 * SCALE)))
    assert count.accepted > 5 * SCALE


def test_placements() -> None:
    count = check(placements, run_for_real, range(round(80 * SCALE)))
    assert count.accepted > 32 * SCALE and count.rejected > 12 * SCALE
    assert len(count.missed) <= 0.1 * count.rejected, "\n\n".join(count.missed)
    assert count.leaves.unknown < 0.1 * count.leaves.leaves


def test_meshes() -> None:
    count = check(meshes, run_for_real, range(round(80 * SCALE)))
    assert count.accepted > 32 * SCALE and count.rejected > 8 * SCALE
    assert len(count.missed) <= 0.1 * count.rejected, "\n\n".join(count.missed)
    assert count.leaves.unknown < 0.15 * count.leaves.leaves
