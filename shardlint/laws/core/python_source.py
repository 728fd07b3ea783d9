"""Constants as Python source, for messages."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Spec, entry_text


def tuple_source(parts: Iterable[str]) -> str:
    """Write a tuple of expressions: ``(a, b)``, ``(a,)``."""
    written = list(parts)
    return f"({written[0]},)" if len(written) == 1 else f"({', '.join(written)})"


def constant_source(value: object) -> str:
    """Write a constant. Members of a set are sorted by their texts, independently of the hash seed."""
    if type(value) is tuple:
        return tuple_source(map(constant_source, value))
    if type(value) is frozenset:
        return f"frozenset({set_source(value) if value else ''})"
    if type(value) is set:
        return set_source(value)
    if isinstance(value, str):
        return entry_text(value)
    return str(value) if isinstance(value, Spec) else repr(value)


def set_source(members: Iterable[object]) -> str:
    """Write a set with these members: ``{"data", "model"}``, ``set()``."""
    written = sorted(map(constant_source, members))
    return "{" + ", ".join(written) + "}" if written else "set()"
