"""Specs as short texts, for files that people compare: ``x,-,(y z),*``."""

from __future__ import annotations

from typing import Any

from shardlint.laws.core.values import Entry, Junk, Marker, Spec


def spec_text(spec: Spec, *, trim: bool = True) -> str:
    """Write a spec: ``-`` is None, ``*`` unconstrained; unreduced and reduced axes follow ``+`` and ``~``."""
    entries = list(map(_entry, spec.entries))
    while trim and entries and entries[-1] == "-":
        entries.pop()
    sums = "".join(
        f"{mark}{'.'.join(sorted(map(str, axes)))}"
        for mark, axes in (("+", spec.unreduced), ("~", spec.reduced))
        if axes
    )
    return ",".join(entries) + sums


def _entry(entry: Any) -> str:
    if entry is None:
        return "-"
    if entry is Marker.UNCONSTRAINED:
        return "*"
    if isinstance(entry, tuple):
        return f"({' '.join(map(_entry, entry))})"
    return entry.text if isinstance(entry, Junk) else str(entry)


def read_spec(text: str) -> Spec:
    """Read what `spec_text` wrote of a result's spec."""
    return Spec(tuple(map(_read, text.split(","))) if text else ())


def _read(text: str) -> Entry:
    if text.startswith("("):
        return tuple(map(_read, text[1:-1].split()))
    return {"-": None, "*": Marker.UNCONSTRAINED}.get(text, text)
