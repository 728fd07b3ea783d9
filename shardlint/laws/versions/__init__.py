"""JAX's releases: the known ones, those that a project supports, and the changes between them.

`releases` has `Release` and `Target`, the range of releases that a project supports. `queries` answers
questions about one release (does a name exist, does a law hold) from the tables `api_changes`, `law_changes`
and `public_names`; `turns` and `deprecations` return the releases at which an answer changes. The tables are
long, and loaded on demand.
"""

from typing import TYPE_CHECKING

from shardlint.laws.versions.releases import (
    ASSUMED,
    ASSUMED_ONLY,
    NEWEST,
    OLDEST,
    RELEASES,
    Release,
    Target,
    TargetError,
    only,
    parse_target,
    spans_text,
)

if TYPE_CHECKING:
    from shardlint.laws.versions.queries import (
        ApiState,
        changed_causes,
        deprecations,
        holds,
        is_removed,
        rejected_at,
        state_of,
        turns,
        turns_of_law,
    )

__all__ = [
    "ASSUMED", "ASSUMED_ONLY", "NEWEST", "OLDEST", "RELEASES", "ApiState", "Release", "Target", "TargetError",
    "changed_causes", "deprecations", "holds", "is_removed", "only", "parse_target", "rejected_at",
    "spans_text", "state_of", "turns", "turns_of_law",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shardlint.laws.versions import queries

    globals()[name] = found = getattr(queries, name)
    return found
