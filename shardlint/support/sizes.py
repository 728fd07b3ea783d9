"""Sizes in bytes as text, in binary units: what a chip's memory and a buffer are told in."""

from __future__ import annotations

import re

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")


def size_text(count: float) -> str:
    """Return a number of bytes with two digits or more: ``1.5 MiB``, ``512 KiB``, ``12 B``."""
    amount = float(count)
    for unit in _UNITS[:-1]:
        if round(amount, 1 if amount < 9.95 else 0) < 1024:
            return f"{round(amount, 1 if amount < 9.95 and unit != 'B' else 0):g} {unit}"
        amount /= 1024
    return f"{amount:.4g} {_UNITS[-1]}"


def parse_size(text: str) -> int | None:
    """Return the bytes that ``8 MiB``, ``1.5GB`` or ``4096`` stand for; None if it is no size."""
    found = _SIZE.fullmatch(text)
    if found is None:
        return None
    unit = found[2].lower() or "b"
    for base, units in ((1024, _UNITS), (1000, _DECIMAL)):
        for power, name in enumerate(units):
            if unit == name.lower():
                return int(float(found[1]) * base**power)
    return None
