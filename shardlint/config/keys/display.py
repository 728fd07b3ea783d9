"""The effective configuration, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.config.errors import ConfigError, nearest_of
from shardlint.config.keys.table import KEYS, SECTIONS
from shardlint.config.keys.value_kinds import bare, written
from shardlint.config.loading.loader import InForce
from shardlint.support.media import json_document, terminal


def chosen(values: Iterable[InForce], key: str | None) -> list[InForce]:
    """Return the values of one key, of the keys in a table, or of one entry of a key; all for None.

    Raises ConfigError for an unknown key.
    """
    found = list(values)
    if key is None:
        return found
    ours = [one for one in found if key == one.key.name or one.key.name.startswith(f"{key}.")]
    ours = ours or [one for one in found if one.entry is not None and key == f"{one.key.name}.{one.entry}"]
    if not ours:
        entries = [f"{one.key.name}.{one.entry}" for one in found if one.entry is not None]
        known = [*(each.name for each in KEYS), *SECTIONS, *entries]
        raise ConfigError(f'there is no key "{key}"{nearest_of(key, known)}')
    return ours


def as_text(values: list[InForce], key: str | None = None) -> str:
    """Return lines of TOML with the origin of each value; for a requested key also its description."""
    lines: list[str] = []
    for one in values:
        if key is not None and (not lines or one.key is not values[0].key):
            lines += [f"# {one.key.docs}", f"# For example: {one.key.example.splitlines()[0]}"]
        if one.value is None or (one.value == {} and one.entry is None):
            lines.append(f"# {_name(one)} is not set")
        else:
            lines.append(f"{_name(one)} = {written(one.value)}  # {terminal(str(one.origin), begins=False)}")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def as_json(values: list[InForce]) -> str:
    """Return a JSON list of keys with their values and origins."""
    items = [
        {
            "key": one.key.name,
            "entry": one.entry,
            "value": one.value,
            "source": {"kind": one.origin.kind, "name": one.origin.name, "line": one.origin.line},
            "description": one.key.docs,
        }
        for one in values
    ]
    return json_document(items)


def _name(one: InForce) -> str:
    return one.key.name if one.entry is None else f"{one.key.name}.{bare(one.entry)}"
