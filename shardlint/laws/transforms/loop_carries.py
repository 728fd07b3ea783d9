"""Types that JAX requires to be equal: of a loop's carry before and after, of the results of branches, and of
arguments and their cotangents."""

from __future__ import annotations

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Shape, equal
from shardlint.laws.core.values import AxisType, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.transforms.varying import Variation, disagreement
from shardlint.laws.versions.era import since
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Carried:
    """The known part of one leaf's type; a shape or sharding of None is unknown, or not compared."""

    shape: Shape | None
    variation: Variation
    sharding: TypeSharding | None = None


def judge_carry(before: Carried, after: Carried) -> Verdict:
    """Judge two types that JAX requires to be equal: a carry's before and after the body, or two branches'.

    `core.typematch` compares shapes, varying axes, and shardings where an axis is Explicit. TypeError when
    the loop is traced. The detail states which of these differ.
    """
    if _shapes_differ(before.shape, after.shape):
        return Rejected(Cause.CARRY, "TypeError", "trace", detail="shape")
    if axes := disagreement(before.variation, after.variation):
        return Rejected(Cause.CARRY, "TypeError", "trace", axis=min(axes), detail="varying")
    if _shardings_differ(before.sharding, after.sharding):
        if not since("0.7.2"):
            return Undecided("older releases do not compare shardings")
        return Rejected(Cause.CARRY, "TypeError", "trace", detail="sharding")
    exact = all(one.variation.perhaps == one.variation.surely for one in (before, after))
    return Accepted() if exact else Undecided("what varies is not known")


def judge_cotangent(primal: Variation, cotangent: Variation) -> Verdict:
    """Judge what the rule of a `jax.custom_vjp` returns for an argument: both vary over the same axes.

    `custom_derivatives._flatten_bwd` compares them since 0.8.3 at the latest, in 0.8.0 it did not. ValueError
    when a derivative is traced.
    """
    if axes := disagreement(primal, cotangent):
        return Rejected(Cause.CARRY, "ValueError", "trace", axis=min(axes), detail="varying")
    exact = all(one.perhaps == one.surely for one in (primal, cotangent))
    return Accepted() if exact else Undecided("what varies is not known")


def _shapes_differ(before: Shape | None, after: Shape | None) -> bool:
    if before is None or after is None:
        return False
    if len(before) != len(after):
        return True
    return any(equal(m, n) is False for m, n in zip(before, after, strict=True))


def _shardings_differ(before: TypeSharding | None, after: TypeSharding | None) -> bool:
    """Return whether two shardings in types certainly differ; types without a mesh match all others."""
    if before is None or after is None or before.mesh is None or before.mesh != after.mesh:
        return False
    entries = (*before.spec.entries, *after.spec.entries)
    if AxisType.EXPLICIT not in before.mesh.types or any(isinstance(e, Unknown) for e in entries):
        return False
    if before.spec.unreduced != after.spec.unreduced or before.spec.reduced != after.spec.reduced:
        return True
    first, second = ([entry_axes(e) for e in one.spec.entries] for one in (before, after))
    width = max(len(first), len(second))
    return first + [()] * (width - len(first)) != second + [()] * (width - len(second))


def judge_rows(kind: ArrayType) -> Verdict:
    """Judge an array that a loop takes row by row: on Explicit axes its type must not split the rows.

    `loops.scan`, which `lax.map` is without ``batch_size``. ValueError when the loop is traced.
    """
    sharding = kind.sharding
    if kind.shape is None or sharding is None or sharding.mesh is None:
        return Undecided("the type is not known")
    mesh, entry = sharding.mesh, next(iter(sharding.spec.entries), None)
    axes = [axis for axis in entry_axes(entry) if axis in mesh.names]
    if not axes or any(mesh.types[mesh.names.index(axis)] is not AxisType.EXPLICIT for axis in axes):
        return Accepted()
    if not since("0.7.2"):
        return Undecided("not measured on older releases")
    wanted, size = "arrays whose first dimension, which it takes one by one, is whole", kind.shape[0]
    return Rejected(Cause.UNSUPPORTED, "ValueError", "trace", 0, axis=axes[0], size=size, detail=wanted)
