"""A text search that drops most files: does the text mention a sharding API at all?"""

from __future__ import annotations

import re

from shardlint.source.lexing import without_prose

#: Every program with something to judge mentions one of these: its specs, meshes and shardings, its
#: collectives, its partitioned parameters, or a comment to shardlint. Parts of names on purpose:
#: ``in_shardings`` and ``out_shardings`` are one needle. One search each is faster than one pattern of all.
_NEEDLES = (
    "PartitionSpec", "jax.P", "jax.sharding", "Sharding", "hardings", "AxisType",
    "make_mesh", "device_mesh", "abstract_mesh", "set_mesh", "use_mesh", "get_mesh",
    "shard_map", "shmap", "device_put", "sharding_constraint",
    "artitioning", "Partitioned", "logical_ax", "logical_constraint", "axis_rules", "with_axes",
    "make_array_from_", "spmd_axis_name", "axis_resources", "shardlint:",
)  # fmt: skip
#: The same for names that are suffixes of others: numpy has a `normalize_axis_index`.
_WORDS = (
    "smap", "pjit", "xmap", "pmap", "psum", "pmean", "pmax", "pmin", "ppermute", "pbroadcast", "pshuffle",
    "pvary", "pcast", "psend", "precv", "reshard", "all_gather", "all_to_all", "ragged_all_to_all",
    "axis_index", "axis_size", "auto_axes", "explicit_axes",
    "axis_frame", "nonempty_axis_env", "unsafe_get_axis_names", "thread_local_state", "thread_resources",
)  # fmt: skip
#: Patterns, each with a text that all its matches contain: most files lack it, so most patterns are never
#: compiled.
_PATTERNS = {
    **{word: rf"\b{word}" for word in _WORDS},
    "Mesh": r"Mesh(?!grid|\d)",
    "expect": r"#\s*expect(?:-silent)?(?:\[[^\]#]*\])?:\s*[A-Z]+\d",
    # Names that only some JAX releases have, where nothing else mentions sharding.
    "jax.tree_": r"jax\.tree_(?!util)",
    "jax import": r"\bjax import .*\btree_(?!util)",
    "vma=": r"\bvma=",
    "pxla": r"\bpxla\b",
    "jax.memory": r"\bjax\.memory\b",
    "experimental.": r"experimental\.(?:maps|shard|layout)\b",
    "AxisName": r"\bAxisName\b",
}
#: For files, also names that lead to sharding only through the project's own functions.
_LEADING = {"mesh": "(?<![a-z])mesh(?!grid)", "import": r"import[^\n]*\bP\b"}
#: Texts that many needles contain: if one is absent, so are its needles, and most files have few of them.
_STEMS = (
    "hard", "mesh", "axis_", "_axes", "Axis", "map", "all_", "artition", "jax.", "logical_", "thread_",
)  # fmt: skip


def _by_stem() -> dict[bytes, dict[bytes, bytes]]:
    """Return the needles of files, with their patterns if any, grouped by the text to search first."""
    plain = dict.fromkeys(("harding", *_NEEDLES), "")
    found: dict[bytes, dict[bytes, bytes]] = {}
    for needle, pattern in (plain | _PATTERNS | _LEADING).items():
        stem = next((stem for stem in _STEMS if stem in needle), needle)
        found.setdefault(stem.encode(), {})[needle.encode()] = pattern.encode()
    return found


_SOUGHT = _by_stem()
#: A comment to shardlint.
_TOLD = re.compile(r"shardlint:|expect(?:-silent)?(?:\[[^\]#]*\])?:")
#: A sharding given by keyword, or under that name in a dict.
_CALLED = re.compile(r"""\bPS?\(|harding(?:\s*=(?!=)|["'])""")


def mentions_sharding(data: bytes) -> bool:
    """Return whether a file's bytes mention anything that shardlint judges."""
    return any(
        needle in data and (not pattern or re.search(pattern, data) is not None)
        for stem, needles in _SOUGHT.items()
        if stem in data
        for needle, pattern in needles.items()
    )


def code_mentions_sharding(data: bytes) -> bool:
    """Return whether a file does so outside its docstrings and comments, or in a comment to shardlint."""
    if not mentions_sharding(data):
        return False
    # In bytes that Python accepts, everything searched for is ASCII.
    text = data.decode("latin-1")
    return speaks_to_shardlint(text) or mentions_sharding(without_prose(text).encode("latin-1"))


def speaks_to_shardlint(text: str) -> bool:
    """Return whether a text contains a comment to shardlint."""
    # Most texts contain neither, and this test costs a fraction of a search.
    return ("shardlint:" in text or "expect" in text) and _TOLD.search(text) is not None


def speaks_of_sharding(text: str) -> bool:
    """Return whether code mentions anything that shardlint judges; a variable `mesh` or ``x.sharding`` is
    not.
    """
    return (
        any(needle in text for needle in _NEEDLES)
        or _CALLED.search(text) is not None
        or any(
            needle in text and re.search(pattern, text) is not None for needle, pattern in _PATTERNS.items()
        )
    )
