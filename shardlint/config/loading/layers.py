"""Layers of raw settings: one for each file, and one for the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from shardlint.config.errors import ConfigError, nearest_of
from shardlint.config.keys.table import BY_NAME, SECTIONS
from shardlint.config.keys.value_kinds import At
from shardlint.config.loading.toml_positions import line_of
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass

#: The files of one folder in order of precedence, each with the path of the settings in it.
FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (".shardlint.toml", ()),
    ("shardlint.toml", ()),
    ("pyproject.toml", ("tool", "shardlint")),
)

#: A larger file is truncated, and is not valid TOML.
_MOST_BYTES = 16 * 2**20
_MOST_DEPTH = 100
#: The position in `tomllib`'s messages.
_POSITION = re.compile(r" \(at line (\d+), column \d+\)")

#: Identifies a setting that is an entry of a table: the key, and the entry's name.
Entry = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value: ``default``, ``file``, ``command line`` or ``requirement`` (of jax).

    ``name`` is the file, or the option of the command line; ``line`` counts from 1.
    """

    kind: str
    name: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.kind == "file":
            return f"{shown(self.name or '')}{f':{self.line}' if self.line else ''}"
        return self.kind if self.name is None else f"{self.kind}, {shown(self.name)}"


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings from one origin: raw values by entry, all of them valid.

    Paths in it are relative to ``folder``; ``text`` and ``prefix`` locate the lines of a file.
    """

    kind: str
    name: str
    folder: str
    values: Mapping[Entry, Any]
    text: str = ""
    prefix: tuple[str, ...] = ()
    names: Mapping[Entry, str] = field(default_factory=dict)

    def origin(self, entry: Entry) -> Origin:
        """Return the origin of an entry."""
        key, name = entry
        path = (*self.prefix, *BY_NAME[key].path, *((name,) if name is not None else ()))
        line = line_of(self.text, path) if self.text else None
        return Origin(self.kind, self.names.get(entry, self.name), line)


def read_toml(file: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and its parsed table. Raises ConfigError."""
    try:
        text = file_access.read(file, _MOST_BYTES).decode("utf-8-sig")
        return text, _document(text)
    except OSError as error:
        brief = error.strerror or str(error)
        raise ConfigError(f"{shown(file)}: {brief}", file=file, brief=brief) from None
    except (ValueError, RecursionError) as error:
        position = _POSITION.search(str(error))
        line = int(position[1]) if position else None
        brief = _POSITION.sub("", str(error))
        raise ConfigError(f"{shown(file)}: {error}", file=file, line=line, brief=brief) from None


def _document(text: str) -> dict[str, Any]:
    """Return a parsed TOML text. Raises ValueError (also for values out of range) and RecursionError."""
    import tomllib

    document = tomllib.loads(text)
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError("a whole number has more than 64 bits")
        if isinstance(value, (dict, list)):
            if depth == _MOST_DEPTH:
                raise ValueError(f"tables and arrays are nested more than {_MOST_DEPTH} deep")
            inside = value.values() if isinstance(value, dict) else value
            waiting += [(one, depth + 1) for one in inside]
    return document


def file_layer(file: str, folder: str, prefix: tuple[str, ...]) -> Layer | None:
    """Return a file's settings under a prefix; None if it has none there. Raises ConfigError."""
    text, document = read_toml(file)
    table: Any = document
    for key in prefix:
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    try:
        if not isinstance(table, dict):
            raise ConfigError("[tool.shardlint] must be a table")
        return Layer("file", file, folder, dict(entries_of(table, folder)), text, prefix)
    except ConfigError as error:
        line = line_of(text, (*prefix, *error.at), error.word)
        message = f"{shown(file)}{f':{line}' if line else ''}: {error}"
        raise ConfigError(message, error.at, error.word, file, line, str(error)) from None


def inline_layer(text: str, folder: str) -> Layer:
    """Return the layer of ``--config 'key = value'``. Raises ConfigError."""
    option = f"--config '{text}'"
    try:
        table = _document(text)
    except (ValueError, RecursionError) as error:
        key, _, value = text.partition("=")
        hint = ""
        if value.strip() and not value.strip().startswith(("[", "{", '"', "'")):
            hint = f'; a string has quotes: {key.strip()}="{value.strip()}"'
        raise ConfigError(f"{option}: {error}{hint}") from None
    try:
        return Layer("command line", option, folder, dict(entries_of(table, folder)))
    except ConfigError as error:
        raise ConfigError(f"{option}: {error}") from None


def entries_of(table: dict[str, Any], folder: str, above: str = "") -> Iterator[tuple[Entry, Any]]:
    """Yield the entries of a table after validating each. Raises ConfigError."""
    for key, value in table.items():
        name = above + key
        if name in SECTIONS and not above:
            if not isinstance(value, dict):
                raise At((name,)).must_be("a table", value)
            yield from entries_of(value, folder, f"{name}.")
            continue
        if name not in BY_NAME or "." in key:
            known = _names(above)
            path = (*filter(None, [above.rstrip(".")]), key)
            raise ConfigError(f'unknown key "{name}"{nearest_of(key, known)}', path)
        kind = BY_NAME[name].kind
        kind.read(value, At(BY_NAME[name].path, folder))
        if kind.entries is None:
            yield (name, None), value
        else:
            yield from (((name, entry), inner) for entry, inner in kind.entries(value).items())


def _names(above: str) -> Iterable[str]:
    if above:
        return [name.removeprefix(above) for name in BY_NAME if name.startswith(above)]
    return [*(name for name in BY_NAME if "." not in name), *SECTIONS]


def shown(file: str) -> str:
    """Return a file's path as the user would write it: relative if it is below the working directory."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative
