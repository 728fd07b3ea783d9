"""The spaces of memory in which arrays lie: the operands of a primitive lie in one."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.versions.era import since

DEVICE, HOST = "device", "host"


def space_of(kind: str | None) -> str | None:
    """Return the space of the kind of memory that a sharding names, if any (`core.mem_kind_to_space`); None
    if it is not known."""
    if kind == "pinned_host":
        return HOST
    return DEVICE if kind in (None, "device", "unpinned_host") else None


def judge_spaces(spaces: Sequence[str | None]) -> Verdict:
    """Judge the operands of a primitive; a scalar counts for none of them. ValueError when it is traced."""
    if {DEVICE, HOST} <= set(spaces):
        if not since("0.7.2"):
            return Undecided("not measured on older releases")
        detail = "its operands lie in different memories, of the devices and of the host"
        return Rejected(Cause.MEMORY, "ValueError", "trace", detail=detail)
    return Undecided("where an operand lies is not known") if None in spaces else Accepted()
