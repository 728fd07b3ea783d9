"""The first question asked of a file, and for most files the last: does it mention sharding at all?"""

from __future__ import annotations

import re

#: Names that every program with something to judge must mention: its specs, meshes and shardings,
#: its collectives, its partitioned parameters, or a comment to shardlint. Parts of names on purpose:
#: ``jax.P``, ``NamedSharding`` and ``in_shardings`` are one needle each.
_NEEDLES = re.compile(
    rb"[Ss]harding|PartitionSpec|jax\.P\b|import[^\n]*\bP\b|[Mm]esh|shard_map|shmap|pjit|xmap|pmap|device_put"
    rb"|partition(?:ing|ed)|Partitioned|logical_ax|logical_constraint|logical_partitioning|axis_rules"
    rb"|\bp(?:sum|mean|max|min|permute|broadcast|shuffle)\b|psum_scatter|all_gather|all_to_all|axis_index|axis_size"
    rb"|make_array_from_|shardlint:|#\s*expect"
)


def mentions_sharding(data: bytes) -> bool:
    """Whether a file's bytes mention anything that shardlint judges."""
    return _NEEDLES.search(data) is not None
