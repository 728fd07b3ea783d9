"""What a client may set in ``initializationOptions``."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """``devices``: how many devices programs see, where they do not say; None when it is not known."""

    devices: int | None = None


def parse_options(given: Any) -> tuple[Options, list[str]]:
    """Read a client's options. What is wrong keeps its default and is described in the second result."""
    if given is None:
        return Options(), []
    if not isinstance(given, dict):
        return Options(), [f"initializationOptions must be an object, not {given!r}"]
    problems = []
    for name in given:
        if name not in Options.__slots__:
            near = difflib.get_close_matches(str(name), Options.__slots__, n=1)
            problems.append(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    devices = given.get("devices")
    if devices is not None and (not isinstance(devices, int) or isinstance(devices, bool) or devices < 1):
        problems.append(f"option 'devices' must be a positive integer, not {devices!r}")
        devices = None
    return Options(devices=devices), problems
