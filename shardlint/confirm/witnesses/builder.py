"""Witnesses: the smallest request that shows a finding's mistake, and its repaired twin."""

from __future__ import annotations

import math

from shardlint.confirm.witnesses.collectives import collective
from shardlint.confirm.witnesses.constructions import arity, mesh_construction, reference
from shardlint.confirm.witnesses.placements import parameter, placement, varying
from shardlint.confirm.witnesses.programs import carry, operation, whole_call
from shardlint.confirm.witnesses.requests import IN_BODY, NotRunnable, Request, Witness, cause_of, expected_of
from shardlint.laws.core.values import AxisType, Mesh, Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected, Undecided
from shardlint.model.findings import Finding
from shardlint.model.uses import (
    ApiReference,
    ArityUse,
    CallUse,
    CarryUse,
    CollectiveUse,
    MeshUse,
    OperationUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
    Use,
)


def witness_of(finding: Finding) -> Witness | None:
    """Return a finding's witness, or None where none can be built."""
    try:
        return built(finding.use)
    except NotRunnable:
        return None


def built(use: Use | None) -> Witness:
    """Build the witness of a use. Raises NotRunnable."""
    if isinstance(use, Use) and cause_of(use.verdict) is Cause.FORBIDDEN_COLLECTIVE:
        # Where nothing is forbidden, JAX does the same.
        allowed = _built(use).request
        forbidding = {**allowed, "no_collectives": sorted(use.environment.forbidden)}
        return Witness(forbidding, allowed, expected_of(use.verdict))
    return _built(use)


def _built(use: Use | None) -> Witness:
    match use:
        case ParameterUse():
            return parameter(use)
        case None:
            raise NotRunnable("it rests on the program as a whole")
        case Use(verdict=Undecided()):
            raise NotRunnable("no call of JAX shows it")
        case SpecUse():
            return placement(Api.PARTITION_SPEC, None, use.spec, (), use.verdict)
        case ShardingUse():
            return placement(Api.NAMED_SHARDING, use.mesh, use.spec, Unknown("no array"), use.verdict)
        case Placement(verdict=Rejected(cause=Cause.VARYING)):
            return varying(use)
        case Placement():
            context = use.environment.context_mesh
            if isinstance(context, Mesh) and AxisType.MANUAL in context.types:
                # An operation that fails in a body of shard_map may succeed outside.
                raise NotRunnable(IN_BODY)
            return placement(use.api, use.mesh, use.spec, use.shape, use.verdict, use.raw, context, use.held)
        case ArityUse(mismatch=None):
            return arity(use)
        case CollectiveUse():
            return collective(use)
        case OperationUse():
            return operation(use)
        case CarryUse():
            return carry(use)
        case CallUse():
            return whole_call(use)
        case MeshUse():
            return mesh_construction(use)
        case ApiReference():
            return reference(use)
    raise NotRunnable("no small program shows it")


def devices_needed(request: Request) -> int:
    """Return the number of devices that a request needs."""
    mesh = request.get("mesh")
    if isinstance(mesh, dict):
        return 1 if mesh["abstract"] else math.prod(mesh["sizes"])
    return int(request.get("devices", 1))
