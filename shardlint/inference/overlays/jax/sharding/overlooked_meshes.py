"""Constraints that are skipped because the mesh is set in one way and asked for in the other.

``with mesh:`` sets ``thread_resources.env.physical_mesh``, `jax.set_mesh` what `get_abstract_mesh` returns,
and neither is seen by who asks for the other (measured on JAX 0.10.2 and Flax 0.12.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shardlint.inference.domain.values import Array, MeshValue, Value
from shardlint.inference.evaluation.context import Frame
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding.placement_check import mesh_facts
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.spans import Place
from shardlint.model.uses import Fact


def overlooked_mesh(
    answer: MeshValue | Unknown | None, other: MeshValue | Unknown | None
) -> MeshValue | None:
    """Return the mesh that a question overlooks: there is no answer, but ``other`` is set the other way, and
    has several devices."""
    if answer is not None or not isinstance(other, MeshValue) or not other.mesh.names:
        return None
    return other if equal(other.mesh.device_count, 1) is False else None


def note_skipped(
    interpreter: Evaluator, frame: Frame, around: Frame | None, bound: Mapping[str, Value]
) -> None:
    """Record a function that overlooked a mesh and then returned an argument as it is, whatever else it
    depends on; one that returned no array may have told its caller that there is no mesh."""
    assert frame.overlooked is not None
    given = {id(value): name for name, value in bound.items() if isinstance(value, Array)}
    returns = frame.returns[frame.answered :]
    names = [given.get(id(value)) for value in returns]
    if names and None not in names and frame.function is not None and frame.called_at is not None:
        skipped = f"`{frame.function.name}` finds no mesh and returns `{names[0]}` as it is"
        record_overlooked(interpreter, frame.overlooked, skipped, frame.called_at)
    elif around is not None and not any(isinstance(value, Array) for value in returns):
        around.overlooked, around.answered = frame.overlooked, len(around.returns)


def record_overlooked(interpreter: Evaluator, mesh: MeshValue, effect: str, place: Place) -> None:
    """Record a constraint that is skipped at ``place``, where its mesh was set."""
    at = mesh.entered or place
    facts = [*mesh_facts(replace(mesh, entered=None))]
    if at is not place:
        facts.insert(0, Fact("this is without effect", place))
    legacy = mesh == interpreter.context.legacy_mesh and interpreter.context.mesh is None
    function = "with mesh:" if legacy else "jax.set_mesh(mesh)"
    record_of_value(interpreter, function, Accepted(), at, facts=facts, silent=effect)
