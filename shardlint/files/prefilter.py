"""The first question asked of a text, and for most the last: does it mention an API of sharding at all?"""

from __future__ import annotations

import re

#: Of these, every program with something to judge mentions one: its specs, meshes and shardings, its
#: collectives, its partitioned parameters, or a comment to shardlint. Parts of names on purpose:
#: ``in_shardings`` and ``out_shardings`` are one needle. One search each is faster than one pattern of all.
_NEEDLES = (
    "PartitionSpec", "jax.P", "Sharding", "hardings", "make_mesh", "device_mesh", "set_mesh", "use_mesh",
    "shard_map", "shmap", "device_put", "sharding_constraint",
    "artitioning", "Partitioned", "logical_ax", "logical_constraint", "axis_rules", "with_axes",
    "make_array_from_", "spmd_axis_name", "shardlint:",
)  # fmt: skip
#: The same of names that other words end with: numpy has a `normalize_axis_index`.
_WORDS = (
    "smap", "pjit", "xmap", "pmap", "psum", "pmean", "pmax", "pmin", "ppermute", "pbroadcast", "pshuffle",
    "pvary", "pcast", "reshard", "all_gather", "all_to_all", "axis_index", "axis_size",
)  # fmt: skip
_WORD = rf"\b(?:{'|'.join(_WORDS)})|Mesh(?!grid)"
_EXPECTATION = r"#\s*expect(?:-silent)?:\s*[A-Z]+\d"
#: Of files also what may only lead to such a thing, by the project's own functions.
_ENCODED = (b"harding", *(needle.encode() for needle in _NEEDLES))
_ENCODED_WORDS = re.compile(rf"{_WORD}|{_EXPECTATION}|import[^\n]*\bP\b|(?<![a-z])mesh(?!grid)".encode())
#: A sharding given by keyword, or under that name in a dict.
_GIVEN = r"""harding(?:\s*=(?!=)|["'])"""
_CALLED = re.compile(rf"\bPS?\(|{_GIVEN}|{_WORD}|{_EXPECTATION}")


def mentions_sharding(data: bytes) -> bool:
    """Whether a file's bytes mention anything that shardlint judges."""
    return any(needle in data for needle in _ENCODED) or _ENCODED_WORDS.search(data) is not None


def speaks_of_sharding(text: str) -> bool:
    """Whether code mentions anything that shardlint judges; a variable `mesh`, or ``x.sharding``, is none."""
    return any(needle in text for needle in _NEEDLES) or _CALLED.search(text) is not None
