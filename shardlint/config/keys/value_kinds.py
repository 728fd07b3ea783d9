"""Kinds of values: how each is read from TOML, and the JSON schema that accepts the same."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from shardlint.config.errors import ConfigError, nearest_of
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.laws.versions import Target

Schema = dict[str, Any]

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_LONGEST_TIMEOUT = 24 * 3600
_ADDRESS = "https?://[!-~]+"


@dataclass(frozen=True, slots=True)
class At:
    """The location of a value: the path of its key, and the folder of its file."""

    path: tuple[str, ...]
    folder: str = "."

    def __str__(self) -> str:
        return ".".join(self.path)

    def __truediv__(self, key: str) -> At:
        return At((*self.path, key), self.folder)

    def must_be(self, wanted: str, value: Any = None, word: str | None = None) -> ConfigError:
        """Return the error for a value that is not of the required kind."""
        but = "" if value is None else f", not {written(value)}"
        return ConfigError(f'"{self}" must be {wanted}{but}', self.path, word)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value. ``read`` raises ConfigError for whatever ``schema`` does not accept.

    ``entries`` splits a table into separate settings, each of which the command line may override; None where
    a value is a single setting.
    """

    words: str
    read: Callable[[Any, At], Any]
    schema: Callable[[], Schema]
    entries: Callable[[dict[str, Any]], dict[str, Any]] | None = None


def written(value: Any) -> str:
    """Return a value as one line of TOML."""
    if isinstance(value, dict):
        inside = ", ".join(f"{bare(key)} = {written(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, (str, bool)):
        import json

        from shardlint.support.media import quoted

        return quoted(json.dumps(value, ensure_ascii=False))
    return str(value)


def bare(key: str) -> str:
    """Return a key as in TOML, quoted if necessary."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else written(key)


# -- plain values ---------------------------------------------------------------------------------


def _boolean(value: Any, at: At) -> bool:
    if not isinstance(value, bool):
        raise at.must_be("true or false", value)
    return value


def whole(value: Any, at: At) -> int:
    """Return a positive integer; ``8.0`` is one, as in JSON."""
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise at.must_be("a whole number above 0", value)
    return number


def _seconds(value: Any, at: At) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= _LONGEST_TIMEOUT:
        raise at.must_be("a number of seconds above 0, of a day at most", value)
    return float(value)


def _bytes(value: Any, at: At) -> int:
    number = value if not isinstance(value, float) or not value.is_integer() else int(value)
    match = re.fullmatch(r"\s*([0-9]+)\s*([a-zA-Z]*)\s*", str(number)) if type(number) in (int, str) else None
    if match is None or match[2].lower() not in _UNITS:
        raise at.must_be('a number of bytes or a size such as "64MiB"', value)
    return int(match[1]) * _UNITS[match[2].lower()]


def _target(value: Any, at: At) -> Target:
    from shardlint.laws.versions import TargetError, parse_target

    wanted = 'a version such as "0.10.2" or a range such as ">=0.6,<0.9"'
    if not isinstance(value, str):
        raise at.must_be(wanted, value)
    try:
        return parse_target(value)
    except TargetError as error:
        if "lets no release" in str(error):
            raise ConfigError(f'"{at}": {error}', at.path) from None
        raise at.must_be(wanted, value) from None


def _object(value: Any, at: At) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\w.]+:[\w.]+", value):
        raise at.must_be('written "package.module:name"', value)
    return value


def _address(value: Any, at: At) -> str:
    if not isinstance(value, str) or not re.fullmatch(_ADDRESS, value):
        raise at.must_be('an address that begins with "https://" or "http://"', value)
    return value


def _file(value: Any, at: At) -> str:
    if not isinstance(value, str) or not value.strip():
        raise at.must_be("the path of a file", value)
    return os.path.normpath(os.path.join(at.folder, value))


def _strings(value: Any, at: At) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise at.must_be("a list of strings", value)
    return tuple(value)


def _patterns(value: Any, at: At) -> tuple[str, ...]:
    return tuple(_pattern(pattern, at) for pattern in _strings(value, at))


def _pattern(pattern: str, at: At) -> str:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error):
        raise ConfigError(f'"{at}": "{pattern}" is no pattern of paths', at.path, pattern) from None
    return pattern


def _selectors(value: Any, at: At) -> tuple[str, ...]:
    from shardlint.config.selection import check_selectors

    return check_selectors(_strings(value, at), str(at), at.path)


# -- tables ---------------------------------------------------------------------------------------


def _table(value: Any, at: At, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise at.must_be(f"a table of {what}", value)
    return value


def _severity(value: Any, at: At) -> tuple[tuple[str, str], ...]:
    from shardlint.config.selection import check_selectors

    found = []
    for selector, severity in _table(value, at, 'severities, such as SHL601 = "info"').items():
        here = at / selector
        checked = check_selectors([selector], str(at), here.path)[0]
        if severity == "error":
            reason = 'an error is what JAX refuses, and what it accepts is none; "warning" or "info"'
            raise ConfigError(f'"{here}" cannot be "error": {reason}', here.path)
        if severity not in ("warning", "info"):
            hint = nearest_of(str(severity), ["warning", "info"], others=False)
            error = here.must_be('"warning" or "info"', severity)
            raise ConfigError(f"{error}{hint}", here.path)
        found.append((checked, severity))
    return tuple(found)


def _per_file(value: Any, at: At) -> tuple[tuple[str, tuple[str, ...]], ...]:
    table = _table(value, at, 'patterns and rules, such as "tests/" = ["SHL6"]')
    for pattern in table:
        _pattern(pattern.removeprefix("!"), at / pattern)
    return tuple((pattern, _selectors(codes, at / pattern)) for pattern, codes in table.items())


def _dims(value: Any, at: At) -> tuple[tuple[str, int], ...]:
    table = _table(value, at, "sizes, such as { d_model = 4096 }")
    return tuple((name, whole(size, at / name)) for name, size in _flat(table))


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a table by their dotted keys: TOML reads ``cfg.d_model = 1`` as a nested table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _flat_dims(table: dict[str, Any]) -> dict[str, Any]:
    return dict(_flat(table))


def _logical_axes(value: Any, at: At) -> Any:
    from shardlint.config.loading.logical_axes import read_logical_axes

    try:
        return read_logical_axes(value, str(at), at.folder)
    except ConfigError as error:
        raise ConfigError(str(error), at.path) from None


# -- the kinds ------------------------------------------------------------------------------------


def _selector_schema() -> Schema:
    from shardlint.config.selection import selector_words

    words = selector_words()
    codes = "|".join(sorted(word[3:] for word in words if word.startswith("SHL")))
    in_any_case = f"^({_any_case('ALL')}|{_any_case('SHL')}({codes}))$"
    # Editors offer these words.
    return {"anyOf": [{"enum": words}, {"type": "string", "pattern": in_any_case}]}


def _any_case(word: str) -> str:
    return "".join(f"[{letter}{letter.lower()}]" for letter in word)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list_of(item: Schema) -> Callable[[], Schema]:
    return lambda: {"type": "array", "items": item}


def _of(**schema: Any) -> Callable[[], Schema]:
    return lambda: dict(schema)


DEFINITIONS: dict[str, Callable[[], Schema]] = {
    "selector": _selector_schema,
    "sizes": _of(
        type="object",
        additionalProperties={"anyOf": [{"type": "integer", "minimum": 1}, _ref("sizes")]},
    ),
}

BOOLEAN = Kind("true or false", _boolean, _of(type="boolean"))
WHOLE = Kind("a whole number above 0", whole, _of(type="integer", minimum=1))
SECONDS = Kind(
    "a number of seconds", _seconds, _of(type="number", exclusiveMinimum=0, maximum=_LONGEST_TIMEOUT)
)
BYTES = Kind(
    "a number of bytes, or a size with its unit",
    _bytes,
    _of(
        anyOf=[
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": r"^\s*[0-9]+\s*([kKmMgG][iI]?)?[bB]\s*$|^\s*[0-9]+\s*$"},
        ]
    ),
)
_CLAUSE = r"\s*(===|==|~=|>=|<=|!=|>|<|\^)?\s*v?\d+(\.\d+){0,2}(\.\*)?[\w.+-]*\s*"
_RANGE = f"^{_CLAUSE}(,{_CLAUSE})*$"
TARGET = Kind("a version or a range of versions", _target, _of(type="string", pattern=_RANGE))
OBJECT = Kind('"package.module:name"', _object, _of(type="string", pattern=r"^[\w.]+:[\w.]+$"))
FILE = Kind("the path of a file", _file, _of(type="string", pattern=r"\S"))
ADDRESS = Kind("an address on the web", _address, _of(type="string", pattern=f"^{_ADDRESS}$"))
PATTERNS = Kind("a list of patterns as in .gitignore", _patterns, _list_of({"type": "string"}))
SELECTORS = Kind("a list of rule selectors", _selectors, _list_of(_ref("selector")))
SEVERITY = Kind(
    "a table of rule selectors and severities",
    _severity,
    _of(type="object", propertyNames=_ref("selector"), additionalProperties={"enum": ["warning", "info"]}),
    dict,
)
PER_FILE = Kind(
    "a table of patterns and lists of rule selectors",
    _per_file,
    _of(type="object", additionalProperties={"type": "array", "items": _ref("selector")}),
    dict,
)
DIMS = Kind("a table of names and sizes", _dims, _of(**_ref("sizes")), _flat_dims)

_AXES: Schema = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string", "minLength": 1}},
        {"const": False},
    ]
}
_PAIRS: Schema = {
    "type": "array",
    "items": {
        "type": "array",
        "prefixItems": [{"type": "string", "minLength": 1}, _AXES],
        "minItems": 2,
        "maxItems": 2,
    },
}
_DATA_FILE = r"[^/]\.([yY][aA]?[mM][lL]|[tT][oO][mM][lL]|[jJ][sS][oO][nN])$"
LOGICAL_AXES = Kind(
    "a table of names and axes, or `rules`, or `file` and `key`",
    _logical_axes,
    lambda: {
        "type": "object",
        "if": {"required": ["file"]},
        "then": {
            "properties": {
                "file": {"type": "string", "pattern": _DATA_FILE},
                "key": {"type": "string"},
            },
            "additionalProperties": False,
        },
        "else": {
            "if": {"required": ["rules"], "properties": {"rules": {"type": "array"}}},
            "then": {"properties": {"rules": _PAIRS}, "additionalProperties": False},
            "else": {"propertyNames": {"minLength": 1}, "additionalProperties": _AXES},
        },
    },
)
