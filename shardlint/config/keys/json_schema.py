"""The JSON schema of `shardlint.toml`, generated from the table of keys, for editors.

It accepts the same values as the loader, except for conditions that JSON Schema cannot express: that a range
of versions contains a known release, that a pattern of paths is valid, that the file of `logical-axes` exists
and holds rules, and the number of `axis-types` for a mesh of more than eight axes.
"""

from __future__ import annotations

from typing import Any

from shardlint.config.keys.table import KEYS, Key
from shardlint.config.keys.value_kinds import DEFINITIONS


def schema() -> dict[str, Any]:
    """Return the schema of the table of settings: all of `shardlint.toml`, `[tool.shardlint]` elsewhere."""
    properties: dict[str, Any] = {}
    for key in KEYS:
        table = properties
        for above in key.path[:-1]:
            empty = {"type": "object", "additionalProperties": False, "properties": {}}
            table = properties.setdefault(above, empty)["properties"]
        table[key.path[-1]] = _property(key)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "shardlint",
        "description": "The configuration of shardlint, a linter for JAX sharding.",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: properties[name] for name in sorted(properties)},
        "$defs": {name: make() for name, make in DEFINITIONS.items()},
    }


def _property(key: Key) -> dict[str, Any]:
    found = {"description": key.docs, **key.kind.schema()}
    return found if key.default is None else {**found, "default": key.default}
