"""``[tool.shardlint.logical-axes]``: Flax's logical axis rules, inline or in a file of the project.

Inline rules are ``name = "axis"``, or ``["axis", "axis"]``, or ``[]`` or ``false`` for no axis. ``rules`` is
a list of pairs ``["name", axes]``, which may repeat a name, in the order in which Flax reads them. ``file``
is a YAML, TOML or JSON file, relative to the configuration, and ``key`` is the path of the rules in it
(``parallelism.rules``), as such a list of pairs or as a table.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from typing import Any

from shardlint.config.errors import ConfigError, nearest_of
from shardlint.source.workspace import file_access

#: A logical name and its target: a mesh axis, several, or none.
LogicalRule = tuple[str, str | tuple[str, ...] | None]

#: A program's configuration file is far smaller; with aliases, a small YAML file can expand enormously.
_MOST_BYTES = 4 * 2**20
_MOST_MERGED = 10**6
_MOST_RULES, _MOST_AXES = 10_000, 100


def read_logical_axes(table: Any, key: str, folder: str) -> tuple[LogicalRule, ...]:
    """Return the rules in a table of the configuration in ``folder``. Raises ConfigError."""
    if not isinstance(table, dict):
        raise ConfigError(f'"{key}" must be a table of rules, such as embed = "model"')
    if "file" in table:
        if others := table.keys() - {"file", "key"}:
            raise ConfigError(f'"{key}": rules come from "file" or stand here, not both: {min(others)}')
        return _from_file(table["file"], table.get("key", ""), key, folder)
    if isinstance(table.get("rules"), list):
        if others := table.keys() - {"rules"}:
            raise ConfigError(
                f'"{key}": "rules" holds all rules, in their order; put "{min(others)}" there too'
            )
        return _rules(table["rules"], f"{key}.rules")
    return _rules(table, key)


def _rules(value: Any, where: str) -> tuple[LogicalRule, ...]:
    """Return rules given as a table, or as a list of pairs."""
    if isinstance(value, (dict, list)) and len(value) > _MOST_RULES:
        raise ConfigError(f'"{where}" has {len(value)} rules; {_MOST_RULES} are the most')
    if isinstance(value, dict):
        return tuple(_rule(name, axes, where) for name, axes in value.items())
    if not isinstance(value, list):
        raise ConfigError(
            f'"{where}" must be a table or a list of pairs ["embed", "model"], not {_shown(value)}'
        )
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ConfigError(f'"{where}": a rule is a pair ["embed", "model"], not {_shown(pair)}')
    return tuple(_rule(name, axes, where) for name, axes in value)


def _rule(name: Any, axes: Any, where: str) -> LogicalRule:
    if not isinstance(name, str) or not name:
        raise ConfigError(f'"{where}": a logical axis name is a string, not {_shown(name)}')
    if axes is None or axes is False or axes == []:
        return name, None
    if isinstance(axes, str) and axes:
        return name, axes
    if (
        isinstance(axes, list)
        and len(axes) <= _MOST_AXES
        and all(isinstance(axis, str) and axis for axis in axes)
    ):
        return name, tuple(axes)
    wanted = '"model", ["data", "model"], or [] for no axis'
    raise ConfigError(f'"{where}": the mesh axes of "{name}" are {wanted}, not {_shown(axes)}')


def _from_file(file: Any, path: Any, key: str, folder: str) -> tuple[LogicalRule, ...]:
    for value, name in ((file, "file"), (path, "key")):
        if not isinstance(value, str):
            raise ConfigError(f'"{key}.{name}" must be a string, not {_shown(value)}')
    found = _document(os.path.join(folder, file), file, f"{key}.file")
    steps = path.split(".") if path else []
    for depth, step in enumerate(steps):
        above = ".".join([file, *steps[:depth]])
        if not isinstance(found, dict):
            raise ConfigError(f'"{key}.key": "{above}" is no table, and has no "{step}"')
        if step not in found:
            keys = [name for name in found if isinstance(name, str)]
            raise ConfigError(f'"{key}.key": "{above}" has no "{step}"{nearest_of(step, keys)}')
        found = found[step]
    return _rules(found, f"{file}: {path}" if path else file)


def _document(full: str, file: str, key: str) -> Any:
    """Return the contents of a file as data: YAML tags create only plain values."""
    readers: dict[str, Callable[[bytes], Any]] = {
        ".yaml": parse_yaml,
        ".yml": parse_yaml,
        ".toml": lambda text: tomllib.loads(text.decode()),
        ".json": json.loads,
    }
    reader = readers.get(os.path.splitext(full)[1].lower())
    if reader is None:
        raise ConfigError(f'"{key}" must be one of {", ".join(readers)}, not "{file}"')
    if not file_access.is_file(full):
        raise ConfigError(f'"{key}": there is no file "{file}"{_nearest_file(full, file)}')
    try:
        text = file_access.read(full, _MOST_BYTES)
        if len(text) > _MOST_BYTES:
            raise ConfigError(f'"{key}": "{file}" is larger than {_MOST_BYTES // 2**20} MiB')
        return reader(text)
    except (OSError, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ConfigError(f'"{key}": "{file}" cannot be read: {reason}') from None


def parse_yaml(text: bytes) -> Any:
    """Return the data of a YAML text. Raises ValueError, RecursionError or `yaml.YAMLError`."""
    import yaml

    class Loader(yaml.SafeLoader):
        """A `SafeLoader` that rejects merges (``<<: [*a, *a]``) which grow exponentially."""

        merged = 0

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            self.merged += len(node.value)
            if self.merged > _MOST_MERGED:
                raise ValueError("it merges too many keys")

    try:
        return yaml.load(text, Loader)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        # PyYAML's constructors fail on values in many ways: KeyError for `!!bool x`.
        message = " ".join(str(error).split())
        raise ValueError(
            message if isinstance(error, (yaml.YAMLError, ValueError)) else repr(error)
        ) from None


def _nearest_file(full: str, file: str) -> str:
    """Return the file of a similar name in the expected folder, as the configuration would name it."""
    beside = os.path.dirname(full)
    names = os.listdir(beside) if os.path.isdir(beside) else []
    where = os.path.dirname(file)
    return nearest_of(
        file, [os.path.join(where, name) for name in names if os.path.splitext(name)[1]], others=False
    )


def _shown(value: Any) -> str:
    """Return a value in at most 80 characters, formatting no more of it: YAML aliases can make it endless."""
    pieces = list[str]()
    try:
        for piece in json.JSONEncoder(default=str).iterencode(value):
            pieces.append(piece[:81])
            if sum(map(len, pieces)) > 80:
                break
    except (ValueError, TypeError, RecursionError):
        return f"a {type(value).__name__}"
    text = "".join(pieces)
    return text if len(text) <= 80 else f"{text[:77]}..."
