"""The configuration: ``[tool.shardlint]`` of the nearest `pyproject.toml`, or `shardlint.toml`."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from shardlint.deployments import Deployment
from shardlint.files.suppressions import matches
from shardlint.laws.values import AxisType, Mesh
from shardlint.laws.versions import Target, TargetError, parse_target
from shardlint.requirements import jax_requirement

if TYPE_CHECKING:
    from shardlint.logical_config import LogicalRule

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


class ConfigError(Exception):
    """A wrong key or value; the message names it, and the nearest right one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user decides.

    ``root`` is the folder patterns are relative to and imports are resolved in. ``select`` and
    ``ignore`` hold codes, beginnings of codes (``SHL2``) or names. ``meshes`` are the meshes a
    project deploys on, by name, of which ``typed_meshes`` say what types their axes have; ``mesh`` is one
    given on the command line, and goes before them.
    ``dims`` are the sizes of dimensions that a program leaves open, by the name it uses for them
    (``d_model``, ``cfg.d_model``). ``logical_rules`` are Flax's rules for logical axis names where a
    program leaves them to its caller, None where there are none. ``replicated_bytes`` is the size from
    which an array should not lie whole on every device.
    ``target_jax`` are the releases of JAX the project means to run on, None for the newest known.
    ``confirm_devices`` is how many devices confirmation fakes, ``confirm_timeout`` is in seconds.
    ``report_init`` and ``report_rules`` (``package.module:name``) are what `shardlint report --init` runs.
    """

    root: str = "."
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ("fixtures",)
    devices: int | None = None
    mesh: Mesh | None = None
    meshes: tuple[tuple[str, Mesh], ...] = ()
    typed_meshes: frozenset[str] = frozenset()
    target_jax: Target | None = None
    dims: tuple[tuple[str, int], ...] = ()
    logical_rules: tuple[LogicalRule, ...] | None = None
    replicated_bytes: int = 64 * 2**20
    confirm_devices: int = 8
    confirm_timeout: float = 60.0
    report_init: str | None = None
    report_rules: str | None = None
    exhaustive: bool = False

    @property
    def deployments(self) -> list[Deployment]:
        """The meshes to assume, one after the other, where a program's is not known."""
        if self.mesh is not None:
            return [Deployment(None, self.mesh)]
        return [Deployment(name, mesh, name in self.typed_meshes) for name, mesh in self.meshes]


class Described(Protocol):
    """What `shardlint explain` and `shardlint rules` show of a rule."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def docs(self) -> str: ...


def known_rules() -> list[Described]:
    """Return every rule there is, by code: those about files and those about uses."""
    from shardlint.files.problems import FILE_RULES
    from shardlint.rules import all_rules

    return sorted([*FILE_RULES, *all_rules()], key=lambda rule: rule.code)


def load_settings(path: str, config: str | None = None, **overrides: Any) -> Settings:
    """Return the settings for a file or folder: the nearest configuration upwards, then ``overrides``.

    ``config`` is a file to read instead of the nearest. Overrides that are None do not count. Raises
    ConfigError.
    """
    settings = _nearest(os.path.abspath(path)) if config is None else _given(config)
    if settings.target_jax is None:
        settings = dataclasses.replace(settings, target_jax=_required(os.path.abspath(path)))
    return dataclasses.replace(settings, **{k: v for k, v in overrides.items() if v is not None})


def _given(file: str) -> Settings:
    """The settings of a file that is named; what is relative in it is so to where the user is."""
    keys = ("tool", "shardlint") if os.path.basename(file) == "pyproject.toml" else ()
    table = _read(file, keys)
    if table is None:
        raise ConfigError(f"{file}: there is no [tool.shardlint] in it")
    return _settings(table, file, os.getcwd())


def parse_mesh(text: str) -> Mesh:
    """Read ``data=2,model=4``. Raises ConfigError."""
    sizes: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, size = part.partition("=")
        if not equals or not name.strip() or not size.strip().isdigit() or name.strip() in sizes:
            raise ConfigError(f'a mesh is written "data=2,model=4", not "{text}"')
        sizes[name.strip()] = int(size)
    return _mesh(sizes, f'mesh "{text}"')


def _nearest(path: str) -> Settings:
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while True:
        for name, keys in (("shardlint.toml", ()), ("pyproject.toml", ("tool", "shardlint"))):
            file = os.path.join(folder, name)
            if os.path.isfile(file) and (table := _read(file, keys)) is not None:
                return _settings(table, file, folder)
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return Settings(root=folder if parent != folder else os.getcwd())
        folder = parent


def _read(file: str, keys: Iterable[str]) -> dict[str, Any] | None:
    """Return the table at the keys of a TOML file, None if the file has no such table."""
    try:
        with open(file, "rb") as stream:
            table: Any = tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {error}") from None
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: [tool.shardlint] must be a table")
    return table


def _required(path: str) -> Target | None:
    """The releases that the nearest `pyproject.toml` of a project requires; None if it says nothing of jax.

    What a project file has wrong is not for us to report.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while True:
        file = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(file):
            with contextlib.suppress(ConfigError):
                return jax_requirement(_read(file, ()) or {})
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = parent


def _settings(table: dict[str, Any], file: str, folder: str) -> Settings:
    try:
        keys: dict[str, _Key] = {**_KEYS, "logical-axes": ("logical_rules", partial(_logical_axes, folder))}
        return Settings(root=folder, **_fields(table, keys, ""))
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def _fields(table: dict[str, Any], keys: dict[str, _Key], prefix: str) -> dict[str, Any]:
    """Read each key of a table into the fields of `Settings` it stands for."""
    fields: dict[str, Any] = {}
    for key, value in table.items():
        if key not in keys:
            raise ConfigError(f'unknown key "{prefix}{key}"{nearest_of(key, keys)}')
        field, read = keys[key]
        read_value = read(value, prefix + key)
        fields.update(read_value if field is None else {field: read_value})
    return fields


def nearest_of(word: str, known: Iterable[str], *, others: bool = True) -> str:
    """The end of a message: the known word nearest to a wrong one, or (``others``) which there are."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if close:
        return f'; did you mean "{close[0]}"?'
    shown = sorted(known)[:24] + ["..."] * (len(known) > 24)
    return f"; the keys are {', '.join(shown)}" if others and known else ""


def _strings(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f'"{key}" must be a list of strings, not {_toml(value)}')
    return tuple(value)


def _selectors(value: Any, key: str) -> tuple[str, ...]:
    return check_selectors(_strings(value, key), key)


def check_selectors(selectors: Iterable[str], key: str) -> tuple[str, ...]:
    """Return rule selectors if each of them means a rule. Raises ConfigError."""
    known = {rule.code: rule.name for rule in known_rules()}
    for selector in (selectors := tuple(selectors)):
        if not any(matches(code, name, [selector]) for code, name in known.items()):
            words = [*known, *known.values()]
            raise ConfigError(f'"{key}": no rule is called "{selector}"{nearest_of(selector, words)}')
    return selectors


def _positive(value: Any, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f'"{key}" must be a whole number above 0, not {_toml(value)}')
    return value


def _seconds(value: Any, key: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise ConfigError(f'"{key}" must be a number of seconds above 0, not {_toml(value)}')
    return float(value)


def _target(value: Any, key: str) -> Target:
    try:
        return parse_target(value if isinstance(value, str) else "")
    except TargetError:
        wanted = 'a version such as "0.10.2" or a range such as ">=0.6,<0.9"'
        raise ConfigError(f'"{key}" must be {wanted}, not {_toml(value)}') from None


def _bytes(value: Any, key: str) -> int:
    match = re.fullmatch(r"\s*(\d+)\s*([a-zA-Z]*)\s*", str(value)) if type(value) in (int, str) else None
    if match is None or match[2].lower() not in _UNITS:
        raise ConfigError(f'"{key}" must be a number of bytes or a size such as "64MiB", not {_toml(value)}')
    return int(match[1]) * _UNITS[match[2].lower()]


def _meshes(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f'"{key}" must be a table of meshes, such as v5e-256 = {{data = 16, model = 16}}')
    meshes = tuple((name, _mesh(sizes, f"{key}.{name}")) for name, sizes in value.items())
    typed = frozenset(name for name, sizes in value.items() if _TYPES in sizes)
    return {"meshes": meshes, "typed_meshes": typed}


#: The key that says what types the axes of a mesh have: one for all, or one for each.
_TYPES = "axis-types"


def _mesh(table: Any, key: str) -> Mesh:
    sizes = {name: size for name, size in table.items() if name != _TYPES} if isinstance(table, dict) else {}
    if not sizes:
        raise ConfigError(f'"{key}" must give each axis its size, such as {{data = 16, model = 16}}')
    counts = tuple(_positive(size, f"{key}.{name}") for name, size in sizes.items())
    return Mesh(tuple(sizes), counts, _axis_types(table.get(_TYPES, "auto"), len(counts), f"{key}.{_TYPES}"))


def _axis_types(value: Any, count: int, key: str) -> tuple[AxisType, ...]:
    kinds = {"auto": AxisType.AUTO, "explicit": AxisType.EXPLICIT}
    words = value if isinstance(value, list) else [value] * count
    if len(words) != count or not all(isinstance(word, str) and word.lower() in kinds for word in words):
        raise ConfigError(f'"{key}" must be "auto" or "explicit", or one of them for each axis')
    return tuple(kinds[word.lower()] for word in words)


def _dims(value: Any, key: str) -> tuple[tuple[str, int], ...]:
    if not isinstance(value, dict):
        raise ConfigError(f'"{key}" must be a table of sizes, such as {{d_model = 4096}}')
    return tuple((name, _positive(size, f"{key}.{name}")) for name, size in _flat(value))


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a table by their dotted keys: TOML reads ``cfg.d_model = 1`` as a table in a table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _logical_axes(folder: str, value: Any, key: str) -> tuple[LogicalRule, ...]:
    from shardlint.logical_config import read_logical_axes

    return read_logical_axes(value, key, folder)


def _confirm(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f'"{key}" must be a table')
    return _fields(value, _CONFIRM_KEYS, f"{key}.")


def _report(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f'"{key}" must be a table')
    return _fields(value, _REPORT_KEYS, f"{key}.")


def _object(value: Any, key: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\w.]+:[\w.]+", value):
        raise ConfigError(f'"{key}" must be written "package.module:name", not {_toml(value)}')
    return value


def _toml(value: Any) -> str:
    """Write a value as TOML would, near enough for a message."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


#: The field of `Settings` a key stands for (None: the reader returns fields), and how to read it.
_Key = tuple[str | None, Callable[[Any, str], Any]]
_CONFIRM_KEYS: dict[str, _Key] = {
    "devices": ("confirm_devices", _positive),
    "timeout": ("confirm_timeout", _seconds),
}
_REPORT_KEYS: dict[str, _Key] = {"init": ("report_init", _object), "rules": ("report_rules", _object)}
_KEYS: dict[str, _Key] = {
    "select": ("select", _selectors),
    "extend-select": ("extend_select", _selectors),
    "ignore": ("ignore", _selectors),
    "include": ("include", _strings),
    "exclude": ("exclude", _strings),
    "fixtures": ("fixtures", _strings),
    "devices": ("devices", _positive),
    "target-jax": ("target_jax", _target),
    "max-replicated-bytes": ("replicated_bytes", _bytes),
    "meshes": (None, _meshes),
    "dims": ("dims", _dims),
    "confirm": (None, _confirm),
    "report": (None, _report),
}
