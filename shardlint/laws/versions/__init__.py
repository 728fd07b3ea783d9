"""JAX's versions: the releases there are, which of them a project means, and what changed between them.

What changed is a long table, and loaded when it is first asked.
"""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from shardlint.laws.versions.history import (
        ApiState,
        holds,
        is_removed,
        rejected_at,
        state_of,
        turns,
        turns_of_law,
    )

__all__ = [
    "NEWEST", "NEWEST_ONLY", "OLDEST", "RELEASES", "ApiState", "Release", "Target", "TargetError",
    "holds", "is_removed", "parse_target", "rejected_at", "spans_text", "state_of", "turns", "turns_of_law",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shardlint.laws.versions import history

    globals()[name] = found = getattr(history, name)
    return found
