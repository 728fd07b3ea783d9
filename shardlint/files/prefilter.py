"""The first question asked of a file, and for most files the last: does it mention sharding at all?"""

from __future__ import annotations

import re

#: Of these, every program with something to judge mentions one: its specs, meshes and shardings, its
#: collectives, its partitioned parameters, or a comment to shardlint. Parts of names on purpose:
#: `NamedSharding` and ``in_shardings`` are one needle. One search each is faster than one pattern of all.
_NEEDLES = (
    b"harding", b"PartitionSpec", b"jax.P", b"Mesh", b"mesh", b"shard_map", b"shmap", b"pjit", b"xmap",
    b"pmap", b"device_put", b"artitioning", b"artitioned", b"logical_ax", b"logical_constraint",
    b"axis_rules",
    b"psum", b"pmean", b"pmax", b"pmin", b"ppermute", b"pbroadcast", b"pshuffle", b"pvary", b"pcast",
    b"reshard", b"all_gather",
    b"all_to_all", b"axis_index", b"axis_size", b"make_array_from_", b"shardlint:",
    b"expect:", b"expect-silent:",
)  # fmt: skip
_IMPORTED_P = re.compile(rb"import[^\n]*\bP\b")


def mentions_sharding(data: bytes) -> bool:
    """Whether a file's bytes mention anything that shardlint judges."""
    return any(needle in data for needle in _NEEDLES) or _IMPORTED_P.search(data) is not None
