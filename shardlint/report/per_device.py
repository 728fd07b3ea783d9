"""Each device's share of one parameter, by the laws."""

from __future__ import annotations

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown, entry_axes, entry_text
from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.laws.flax.logical_axes import LogicalRule, Resolved, rename, resolve
from shardlint.laws.placement.array_bytes import array_bytes, best_split, device_bytes
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.laws.placement.shard_shapes import replication, shard_shape
from shardlint.report.values import Holding
from shardlint.rules.messages.common import (
    axes_text,
    count_text,
    names_text,
    near_miss,
    shape_text,
    size_text,
)

#: Rules of Flax for logical names, as `shardlint.config` reads them.
LogicalRules = tuple[tuple[str, str | tuple[str, ...] | None], ...]


def holding(
    mesh: Mesh, spec: Spec | None, shape: Shape | None, dtype: str | None, limit: int
) -> tuple[Holding, Rejected | None]:
    """Return each device's share of an array under a spec, and JAX's rejection of an invalid spec."""
    if spec is None:
        return Holding(problem="its spec is not known"), None
    size = Unknown("its shape is not known") if shape is None else shape
    # The sharding is created first, whatever the shape; then the array is placed.
    made = judge_sharding(mesh, spec)
    for verdict in (made, judge_placement(Api.DEVICE_PUT, mesh, spec, size)):
        if isinstance(verdict, Rejected):
            return Holding(spec, problem=refusal(verdict, spec, shape, mesh)), verdict
    if shape is None:
        return Holding(spec, problem="its shape is not known"), None
    try:
        part, copies = shard_shape(mesh, spec, shape), replication(mesh, spec)
        held = device_bytes(mesh, spec, shape, dtype)
    except ValueError:
        return Holding(spec, problem="what it comes to is not known"), None
    large = held is not None and held >= limit and copies == mesh.device_count != 1
    return Holding(spec, part, held, copies, None, large, best_split(mesh, shape) if large else None), None


def spec_on(
    mesh: Mesh,
    names: Spec | str | Unknown | None,
    axes: Spec | None,
    library: str,
    rules: LogicalRules | None,
) -> tuple[Spec | None, str | None]:
    """Return the spec of partitioning names on a mesh, or the reason why it is not known.

    ``axes`` is their translation by the program's own rules; ``rules`` are those of the configuration, for
    names that the mesh does not have.
    """
    if isinstance(names, Unknown):
        return None, "its names are not known"
    if names is None:
        return Spec(), None
    # Flax unpacks names into a `PartitionSpec`: a bare string is one axis a letter.
    written = Spec(tuple(names)) if isinstance(names, str) else names
    written = written if axes is None else axes
    if any(isinstance(entry, Unknown) for entry in written.entries):
        return None, "one of its names is not known"
    spec = written if _lacking(mesh, written) == [] or not rules else _renamed(written, library, rules)
    if spec is None:
        return None, "the logical axis rules do not hold for its names"
    if lacking := _lacking(mesh, spec):
        hint = near_miss(lacking[0], mesh.names)
        why = "no logical axis rules are known" if rules is None else "no rule gives it one"
        return None, f"{names_text(lacking[:1])} is no axis of this mesh, and {why}{hint}"
    return spec, None


def _lacking(mesh: Mesh, spec: Spec) -> list[str]:
    return [axis for entry in spec.entries for axis in entry_axes(entry) if axis not in mesh.names]


def _renamed(names: Spec, library: str, rules: LogicalRules) -> Spec | None:
    table = tuple(LogicalRule(name, axes) for name, axes in rules)
    found = rename(names, table) if library == "nnx" else resolve(names, table)
    if isinstance(found, Resolved):
        return found.spec
    return found if isinstance(found, Spec) else None


def refusal(verdict: Rejected, spec: Spec, shape: Shape | None, mesh: Mesh) -> str:
    """Return JAX's reason for rejecting a spec, in words."""
    dimension, axis = verdict.dimension, verdict.axis
    if verdict.cause is Cause.TOO_LONG and shape is not None:
        return f"{spec} has {count_text(len(spec), 'entry')}, and the array has rank {len(shape)}"
    if verdict.cause is Cause.UNKNOWN_AXIS and axis is not None:
        return f"{entry_text(axis)} is no axis of the mesh {mesh}{near_miss(axis, mesh.names)}"
    if verdict.cause is Cause.DUPLICATE_AXIS and axis is not None:
        return f"{spec} names {entry_text(axis)} twice"
    if verdict.cause is Cause.INDIVISIBLE and shape is not None and dimension is not None:
        size, split = size_text(shape[dimension]), axes_text(spec.entries[dimension], mesh)
        return f"dimension {dimension} of {shape_text(shape)} has size {size}, which {split} does not divide"
    return f"JAX refuses {spec} ({verdict.exception})"


def whole_bytes(shape: Shape | None, dtype: str | None) -> int | None:
    """Return the bytes of the whole array, None where something is not known."""
    return None if shape is None else array_bytes(shape, dtype)
