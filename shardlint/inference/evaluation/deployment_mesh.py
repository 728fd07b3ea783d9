"""The mesh from the configuration, assumed where a program leaves its own open."""

from __future__ import annotations

from shardlint.inference.domain.values import MeshValue, Value
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided, Verdict
from shardlint.model.spans import Configured
from shardlint.model.uses import ParameterUse, Placement, ShardingUse, Use


def assumed_mesh(interpreter: Evaluator) -> MeshValue | None:
    """Return the mesh to assume if a program's is unknown, and record that it was asked for."""
    interpreter.asks_mesh = True
    mesh = interpreter.settings.mesh
    return None if mesh is None else MeshValue(mesh)


def is_assumed(interpreter: Evaluator, value: Value | None) -> bool:
    """Return whether a mesh is the assumed one rather than the program's."""
    return isinstance(value, MeshValue) and value.origin is None and value.mesh == interpreter.settings.mesh


def assumed_sizes(interpreter: Evaluator, names: tuple[str, ...]) -> Shape | None:
    """Return the sizes of a mesh with these axis names, if the program leaves them open."""
    interpreter.asks_mesh = True
    mesh = interpreter.settings.mesh
    if mesh is None or set(mesh.names) != set(names) or len(names) != len(mesh.names):
        return None
    return tuple(map(mesh.size_of, names))


def verdict_if_meant(interpreter: Evaluator, use: Use) -> Verdict:
    """Return the verdict on a use of the assumed mesh, or of configured rules.

    If meshes are configured, rules apply to those, and not to a mesh that the program creates. A spec for
    which another configured mesh has more axes is meant for that one; and if the assumed mesh in context
    differs from one of the program, the program's is meant.
    """
    settings = interpreter.settings
    if not isinstance(use.verdict, Rejected):
        return use.verdict
    if _is_of_other_meshes(interpreter, use):
        return Undecided("the configured rules are those of the configured meshes")
    if settings.mesh is None:
        return use.verdict
    if use.verdict.cause is Cause.OTHER_MESH and use.environment.context_mesh == settings.mesh:
        return Undecided("the mesh in context is the caller's")
    if use.verdict.cause is not Cause.UNKNOWN_AXIS:
        return use.verdict
    if not isinstance(use, Placement | ShardingUse | ParameterUse) or use.mesh is not settings.mesh:
        return use.verdict
    axes = _axes_of(use)
    name, best = max(
        settings.meshes, key=lambda one: len(axes.intersection(one[1].names)), default=("", settings.mesh)
    )
    closer = len(axes.intersection(best.names)) > len(axes.intersection(settings.mesh.names))
    return Undecided(f"it is meant for the mesh {name}") if closer else use.verdict


def _is_of_other_meshes(interpreter: Evaluator, use: Use) -> bool:
    """Return whether configured rules produced a spec for a mesh other than the configured ones."""
    meshes = [mesh for _, mesh in interpreter.settings.meshes]
    if not meshes or not isinstance(use, Placement | ShardingUse | ParameterUse) or use.mesh in meshes:
        return False
    return any(isinstance(axis, Configured) for axis in _axes_of(use))


def _axes_of(use: Placement | ShardingUse | ParameterUse) -> set[str]:
    spec = use.names if isinstance(use, ParameterUse) else use.spec
    return {axis for entry in spec.entries for axis in entry_axes(entry)} if isinstance(spec, Spec) else set()
