"""Names that differ by one letter."""

from __future__ import annotations

from collections.abc import Set


def near(name: str, names: Set[str]) -> set[str]:
    """Return the names that are one letter longer or shorter."""
    longer = (other for other in names if len(other) == len(name) + 1 and name in _shortened(other))
    return (_shortened(name) & names) | set(longer)


def _shortened(name: str) -> set[str]:
    return {name[:at] + name[at + 1 :] for at in range(len(name))}
