"""Communication over Explicit axes where `jax.sharding.no_collectives` forbids it (JAX 0.12.0 on)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import Entry, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.operands import Operand, Partitions, law, operand_of, refuse

_FORBIDDEN: ContextVar[frozenset[str]] = ContextVar("forbidden", default=frozenset())


@contextmanager
def forbidding(axes: frozenset[str]) -> Iterator[None]:
    """Forbid communication over these axes."""
    token = _FORBIDDEN.set(axes)
    try:
        yield
    finally:
        _FORBIDDEN.reset(token)


def check_result(operands: Sequence[Operand], result: TypeSharding) -> None:
    """`lax.utils._check_no_collectives`: an axis of the operands is in the result, or unreduced there."""
    forbidden = _FORBIDDEN.get()
    if not forbidden or not operands:
        return
    held = _axes(entry for operand in operands for entry in operand.partitions)
    pending = frozenset(axis for operand in operands for axis in operand.unreduced)
    kept = _axes(result.spec.entries)
    for axis in sorted((forbidden & (pending | (held - kept))) - result.spec.unreduced):
        _refuse(axis)


def check_sums(partitions: Sequence[Entry], result: TypeSharding) -> None:
    """`lax._reduce_op_sharding_rule_with_out_sharding`, `_dot_general_sharding_rule`: the axes of dimensions
    that are summed are unreduced in an ``out_sharding=``, even if it names them elsewhere.
    """
    for axis in sorted((_FORBIDDEN.get() & _axes(partitions)) - result.spec.unreduced):
        _refuse(axis)


def check_dimensions(before: Partitions, after: TypeSharding) -> None:
    """`lax.utils._check_no_collectives_dim_change`: an axis splits the same dimensions as before."""
    entries = after.spec.entries
    for axis in sorted(_FORBIDDEN.get() & _axes(before) & _axes(entries)):
        if _dimensions(before, axis) != _dimensions(entries, axis):
            _refuse(axis)


def check_reshard(operand: Operand, wanted: TypeSharding) -> None:
    """`pjit._check_no_collectives_reshard`, of a reshard that is accepted otherwise."""
    check_result([operand], wanted)
    check_dimensions(operand.partitions, wanted)


@law
def reshard(operand: ArrayType, wanted: TypeSharding) -> TypeSharding:
    """`jax.sharding.reshard` of an array, accepted apart from what is forbidden."""
    check_reshard(operand_of(operand), wanted)
    return wanted


def _axes(entries: Iterator[Entry] | Sequence[Entry]) -> frozenset[str]:
    return frozenset(axis for entry in entries for axis in entry_axes(entry))


def _dimensions(entries: Sequence[Entry], axis: str) -> list[int]:
    return [i for i, entry in enumerate(entries) if axis in entry_axes(entry)]


def _refuse(axis: str) -> None:
    refuse(Cause.FORBIDDEN_COLLECTIVE, "no communication", "ForbiddenCollectiveError", entry=axis)
