"""The configuration: the settings from files and the command line, for each file that is checked.

Enter by `load_settings` or `Configurations`; the result is a `Settings`. `loading` reads and merges the
files, `keys` is the table of all keys, from which the documentation and the JSON schema are generated;
`selection` reads rule selectors, `meshes` the syntax of meshes, and every mistake is a `ConfigError` that
names its location.

A key is added in one place: `keys.table`.
"""

from __future__ import annotations

from shardlint.config.errors import ConfigError, nearest_of
from shardlint.config.loading.loader import CommandLine, Configurations, load_settings
from shardlint.config.meshes import parse_mesh
from shardlint.config.selection import Described, check_selectors, known_rules
from shardlint.config.settings import DEFAULT_EXCLUDE, Selection, Settings

__all__ = [
    "DEFAULT_EXCLUDE", "CommandLine", "ConfigError", "Configurations", "Described", "Selection", "Settings",
    "check_selectors", "known_rules", "load_settings", "nearest_of", "parse_mesh",
]  # fmt: skip
