"""Every function of an overlay is called in ways that make no sense, or that nobody knows: none fails."""

from __future__ import annotations

import pytest
from support.checking import check, codes

from shardlint.inference.overlays import registry

ARGUMENTS = (
    "",
    "*unknown.x",
    "**unknown.y",
    "unknown.x, *unknown.y, **unknown.z",
    "None",
    "1, 2, 3",
    "[], {}",
    "'', b''",
)
_PARTS = 16


def _names() -> list[str]:
    """Return the names that overlays know: functions, methods, classes and constants."""
    for library in registry._LIBRARIES:
        registry._load(library)
    tables = ("TABLE", "DEFAULTS", "CALLS", "CONSTANTS", "INSTANCES", "BASES")
    names = {name for table in tables for name in registry.merged(table) if isinstance(name, str)}
    return sorted(name for name in names if all(part.isidentifier() for part in name.split(".")))


def _program(names: list[str]) -> str:
    lines = ["import unknown"]
    for name in names:
        module = name.rpartition(".")[0]
        own = name.removeprefix("builtins.")
        lines += [f"import {module}"] if module and own == name else []
        lines += [f"try:\n    {own}({arguments})\nexcept Exception:\n    pass" for arguments in ARGUMENTS]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("part", range(_PARTS))
def test_odd_calls_end(part: int) -> None:
    names = _names()[part::_PARTS]
    assert len(names) > 100
    for start in range(0, len(names), 40):
        some = names[start : start + 40]
        if "SHL009" in codes(check(_program(some))):
            assert [name for name in some if "SHL009" in codes(check(_program([name])))] == []
