"""Versions of distributions, and objects that compare like versions: `importlib.metadata`, `packaging`."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Const, LibraryObject, Tuple, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.release_queries import (
    DISTRIBUTIONS,
    OF_VERSION,
    is_of_version,
    version_text,
)
from shardlint.laws.core.values import Unknown

_VERSION = "packaging.version.Version"
_DISTRIBUTION = "importlib.metadata.Distribution"


def _version(call: Call) -> Value:
    """``packaging.version.parse(text)`` and its relatives: trailing zeros are ignored."""
    text = as_str(call.args[0]) if call.args else None
    if text is None or not all(part.isdigit() for part in text.split(".")):
        is_version = bool(call.args) and is_of_version(call.args[0])
        return Unknown(OF_VERSION if is_version else "a version")
    numbers = [int(part) for part in text.split(".")]
    fields = {"release": _tuple(numbers), "public": Const(text), "base_version": Const(text)}
    for name, position in (("major", 0), ("minor", 1), ("micro", 2)):
        fields[name] = Const(numbers[position] if position < len(numbers) else 0)
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return LibraryObject(_VERSION, {**fields, "key": _tuple(numbers)}, call.place)


def _tuple(numbers: list[int]) -> Value:
    return Tuple(tuple(map(Const, numbers)))


def _installed(call: Call) -> Value:
    """``importlib.metadata.version(name)``."""
    if call.args and as_str(call.args[0]) in DISTRIBUTIONS:
        return version_text(call.interpreter)
    return Unknown("the version of a distribution")


def _distribution(call: Call) -> Value:
    """``importlib.metadata.distribution(name)``, ``pkg_resources.get_distribution(name)``."""
    return LibraryObject(_DISTRIBUTION, {"version": _installed(call)}, call.place)


def _field(value: LibraryObject, name: str) -> Value | None:
    return value.fields.get(name) if name != "key" else None


TABLE: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(("importlib.metadata.version", "importlib_metadata.version"), _installed),
    **dict.fromkeys(
        (
            "importlib.metadata.distribution",
            "importlib_metadata.distribution",
            "pkg_resources.get_distribution",
        ),
        _distribution,
    ),
    **dict.fromkeys((_VERSION, "packaging.version.parse", "pkg_resources.parse_version"), _version),
}
ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {
    _VERSION: _field,
    _DISTRIBUTION: _field,
}
DELEGATES: dict[str, str] = {_VERSION: "key"}
