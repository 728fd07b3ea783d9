"""Settings from paths and the command line: the nearest configuration of each file."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from shardlint.config.errors import ConfigError
from shardlint.config.keys.table import BY_NAME, KEYS, Key
from shardlint.config.keys.value_kinds import At
from shardlint.config.loading.layers import (
    FILES,
    Entry,
    Layer,
    Origin,
    entries_of,
    file_layer,
    inline_layer,
)
from shardlint.config.settings import Selection, Settings
from shardlint.laws.versions import only
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.laws.versions import Release, Target

#: For these keys the command line's values are added to a file's instead of replacing them.
SELECTION = ("select", "extend-select", "ignore", "extend-ignore")
#: The command line's options that disable a key of a file.
_REPLACED_BY = dict.fromkeys(SELECTION, "select")
_ADDED = (*SELECTION, "extend-exclude", "extend-per-file-ignores")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The command line's part of the configuration.

    ``configs`` are files or ``key = value``; ``isolated`` ignores all files. ``options`` are keys and their
    values by option (``devices``: ``8``), including ``select`` and the like, ``per-file-ignores`` and
    ``exclude``. ``mark`` is the prefix of an option's name in error messages.
    """

    configs: tuple[str, ...] = ()
    isolated: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    mark: str = "--"


@dataclass(frozen=True, slots=True)
class InForce:
    """An effective value, as in TOML: ``name`` is its key, or an entry of a key that is a table."""

    key: Key
    entry: str | None
    value: Any
    origin: Origin


def load_settings(path: str, config: str | None = None, **overrides: Any) -> Settings:
    """Return the settings for a file or folder: the nearest configuration upwards, then ``overrides``.

    ``config`` is a file to read instead of the nearest. Overrides that are None are ignored. Raises
    ConfigError.
    """
    return Configurations(CommandLine(() if config is None else (config,)), **overrides).of(path)


class Configurations:
    """The settings of each file: those of the nearest configuration, and what the command line changes.

    Args:
        command_line: its part of the configuration.
        confirming: the release of the JAX that confirms, which is judged unless ``target-jax`` names others.
        overrides: fields of `Settings` to replace; None is ignored.

    Raises ConfigError for errors of the command line; each method raises it for errors in a file.
    """

    def __init__(
        self, command_line: CommandLine | None = None, *, confirming: Release | None = None, **overrides: Any
    ) -> None:
        given = command_line or CommandLine()
        self._overrides = {name: value for name, value in overrides.items() if value is not None}
        self._isolated = given.isolated
        self._confirming = confirming
        self._layers: dict[str, tuple[str, Layer | None]] = {}
        self._made: dict[str, Settings] = {}
        self._distinct: dict[Hashable, Settings] = {}
        self._requirements: dict[str, tuple[Target | None, str | None]] = {}
        self._given: Layer | None = None
        self._inline: list[Layer] = []
        files = [config for config in given.configs if file_access.is_file(config) or not _is_inline(config)]
        if len(files) > 1 or (files and given.isolated):
            what = (
                "--config names one file" if len(files) > 1 else "with --isolated there is no --config FILE"
            )
            raise ConfigError(f"{what}: {', '.join(files)}")
        for config in given.configs:
            if config not in files:
                self._inline.append(inline_layer(config, os.getcwd()))
        if files:
            self._given = _given_file(files[0])
        self._options = _options_layer(given.options, given.mark)

    def of(self, path: str) -> Settings:
        """Return the settings for a file or folder, which need not exist."""
        path = os.path.abspath(path)
        folder = path if file_access.is_folder(path) else os.path.dirname(path)
        return self.of_folder(folder)

    def of_folder(self, folder: str) -> Settings:
        """Return the settings for the files in a folder (its absolute path)."""
        if folder not in self._made:
            root, layers = self._found(folder)
            target = None if self._isolated else self._required(folder)[0]
            # One object for all folders of one configuration.
            key = (root, id(layers[0]) if layers else None, target)
            if key not in self._distinct:
                self._distinct[key] = self._settings(root, layers, target)
            self._made[folder] = self._distinct[key]
        return self._made[folder]

    def _settings(self, root: str, layers: list[Layer], target: Target | None) -> Settings:
        settings = _settings(root, layers)
        if layers and not self._isolated:
            settings = dataclasses.replace(settings, outer_roots=self._outer(root))
        if settings.target_jax is None:
            releases = target if self._confirming is None else only(self._confirming)
            settings = dataclasses.replace(settings, target_jax=releases)
        return dataclasses.replace(settings, **self._asked(), **self._overrides)

    def in_force(self, path: str) -> Iterator[InForce]:
        """Yield every effective value for a file or folder, by key, with its origin."""
        path = os.path.abspath(path)
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        _, layers = self._found(folder)
        if (options := self._options) is not None:
            layers = [*layers, options]
        for key in KEYS:
            yield from self._values(key, layers, folder)

    def _values(self, key: Key, layers: list[Layer], folder: str) -> Iterator[InForce]:
        latest: dict[Entry, Layer] = {}
        options = self._options
        for layer in layers:
            if layer is options and (_REPLACED_BY.get(key.name, ""), None) in options.values:
                latest.clear()
            if layer is options and key.name == "per-file-ignores" and _has(layer, key):
                latest.clear()
            for entry in layer.values:
                if entry[0] == key.name:
                    if layer is options and key.name in _ADDED and entry in latest:
                        # The command line's values follow the file's.
                        yield InForce(key, entry[1], latest[entry].values[entry], latest[entry].origin(entry))
                    latest[entry] = layer
        for entry, layer in latest.items():
            yield InForce(key, entry[1], layer.values[entry], layer.origin(entry))
        if not latest:
            asks = key.name == "target-jax" and not self._isolated
            target, file = self._required(folder) if asks else (None, None)
            if target is not None:
                bounds = f"=={target.low}" if target.low == target.high else f">={target.low},<={target.high}"
                yield InForce(key, None, bounds, Origin("requirement", file))
            else:
                yield InForce(key, None, key.default, Origin("default"))

    def _found(self, folder: str) -> tuple[str, list[Layer]]:
        """Return the root of a folder's configuration, and its layers without the options."""
        if self._isolated:
            return os.getcwd(), self._inline
        root, layer = (os.getcwd(), self._given) if self._given is not None else self._nearest(folder)
        return root, [*([layer] if layer is not None else ()), *self._inline]

    def _nearest(self, folder: str) -> tuple[str, Layer | None]:
        if folder not in self._layers:
            parent = os.path.dirname(folder)
            if (layer := _layer_in(folder)) is not None:
                found: tuple[str, Layer | None] = (folder, layer)
            elif parent == folder:
                found = (os.getcwd(), None)
            elif file_access.exists(os.path.join(folder, ".git")):
                found = (folder, None)
            else:
                found = self._nearest(parent)
            self._layers[folder] = found
        return self._layers[folder]

    def _required(self, folder: str) -> tuple[Target | None, str | None]:
        """Return the releases that the project around a folder requires, and the file that says so.

        The project ends at the first `pyproject.toml` or repository.
        """
        if folder not in self._requirements:
            from shardlint.config.loading.jax_requirement import requirement_in

            parent = os.path.dirname(folder)
            found: tuple[Target | None, str | None] = requirement_in(folder) or (None, None)
            ends = (os.path.join(folder, name) for name in ("pyproject.toml", ".git"))
            if found[0] is None and parent != folder and not any(map(file_access.exists, ends)):
                found = self._required(parent)
            self._requirements[folder] = found
        return self._requirements[folder]

    def _outer(self, root: str) -> tuple[str, ...]:
        """Return the roots of the enclosing configurations, up to the repository."""
        outer = []
        while (
            not file_access.exists(os.path.join(root, ".git")) and (parent := os.path.dirname(root)) != root
        ):
            above, layer = self._nearest(parent)
            if layer is None and not (
                _holds(above, root) and file_access.exists(os.path.join(above, ".git"))
            ):
                break
            outer.append(above)
            root = above
        return tuple(outer)

    def _asked(self) -> dict[str, Any]:
        """Return the fields that options of the command line set."""
        layer = self._options
        if layer is None:
            return {}
        given = _read(layer.values, layer.folder)
        fields: dict[str, Any] = {}
        selects = {name.replace("-", "_"): given.pop(name.replace("-", "_"), None) for name in SELECTION}
        if any(value is not None for value in selects.values()):
            ignored = (*(selects["ignore"] or ()), *(selects["extend_ignore"] or ()))
            fields["asked"] = Selection(selects["select"], selects["extend_select"] or (), ignored)
        if "exclude" in given:
            fields["exclude"] = ()
        excluded = (*given.pop("exclude", ()), *given.pop("extend_exclude", ()))
        if "per_file_ignores" in given:
            fields["per_file_ignores"] = ()
        ignores = (*given.pop("per_file_ignores", ()), *given.pop("extend_per_file_ignores", ()))
        if excluded:
            fields["asked_exclude"] = excluded
        if ignores:
            fields["asked_per_file_ignores"] = ignores
        return {**fields, **given}


def _has(layer: Layer, key: Key) -> bool:
    return any(name == key.name for name, _ in layer.values)


def _holds(folder: str, inner: str) -> bool:
    return os.path.commonpath([folder, inner]) == folder


def _is_inline(config: str) -> bool:
    return "=" in config


def _given_file(file: str) -> Layer:
    """Return the settings of a file named on the command line, relative to the working directory."""
    if not file_access.exists(file):
        raise ConfigError(f'--config {file}: there is no such file, and a setting is written key="value"')
    prefix = ("tool", "shardlint") if os.path.basename(file) == "pyproject.toml" else ()
    layer = file_layer(file, os.getcwd(), prefix)
    if layer is None:
        raise ConfigError(f"{file}: there is no [tool.shardlint] in it")
    return layer


def _options_layer(options: Mapping[str, Any], mark: str) -> Layer | None:
    """Return the layer of the command line's options, each under the name of its key."""
    values: dict[Entry, Any] = {}
    names: dict[Entry, str] = {}
    for key, value in options.items():
        try:
            for entry, inner in entries_of({key: value}, os.getcwd()):
                values[entry], names[entry] = inner, f"{mark}{key}"
        except ConfigError as error:
            raise ConfigError(str(error).replace('"', f'"{mark}', 1)) from None
    return Layer("command line", "", os.getcwd(), values, names=names) if values else None


def _layer_in(folder: str) -> Layer | None:
    for name, prefix in FILES:
        file = os.path.join(folder, name)
        if file_access.is_file(file) and (layer := file_layer(file, folder, prefix)) is not None:
            return layer
    return None


def _settings(root: str, layers: list[Layer]) -> Settings:
    """Return the settings of merged layers; later layers take precedence."""
    merged: dict[Entry, Any] = {}
    for layer in layers:
        merged.update(layer.values)
    return Settings(root=root, **_read(merged, layers[0].folder if layers else root))


def _read(values: Mapping[Entry, Any], folder: str) -> dict[str, Any]:
    """Return raw values as the fields of `Settings` that they set."""
    raw: dict[str, Any] = {}
    for (name, entry), value in values.items():
        if entry is None:
            raw[name] = value
        else:
            raw.setdefault(name, {})[entry] = value
    fields: dict[str, Any] = {}
    for name, value in raw.items():
        key = BY_NAME[name]
        read = key.kind.read(value, At(key.path, folder))
        fields.update(zip(key.fields, read if len(key.fields) > 1 else (read,), strict=True))
    return fields
