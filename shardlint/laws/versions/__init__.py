"""JAX's versions: the releases there are, which of them a project means, and what changed between them."""

from shardlint.laws.versions.history import (
    ApiState,
    holds,
    is_removed,
    rejected_at,
    state_of,
    turns,
    turns_of_law,
)
from shardlint.laws.versions.releases import (
    NEWEST,
    NEWEST_ONLY,
    OLDEST,
    RELEASES,
    Release,
    Target,
    TargetError,
    parse_target,
    spans_text,
)

__all__ = [
    "NEWEST", "NEWEST_ONLY", "OLDEST", "RELEASES", "ApiState", "Release", "Target", "TargetError",
    "holds", "is_removed", "parse_target", "rejected_at", "spans_text", "state_of", "turns", "turns_of_law",
]  # fmt: skip
