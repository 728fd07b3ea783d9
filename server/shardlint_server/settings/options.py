"""The editor's options: from ``initializationOptions``, and again whenever its settings change."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from shardlint.support.lazy_dataclass import dataclass

#: Settings of extensions that start the server: they are theirs.
_THEIRS = frozenset({"interpreter", "path", "importStrategy", "trace"})
#: What only ``initializationOptions`` may say: elsewhere a file of the workspace could.
_ONCE = frozenset({"python", "trusted", "askJax"})
#: The kinds of inlay hints.
HINTS = ("shards", "localShapes", "collectives", "devices")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an editor.

    ``enable`` turns diagnostics on. ``devices`` is the number of devices that programs see, where they do
    not state it; None when it is not known. ``settings`` are keys of the configuration that take precedence
    over files, like options of the command line, and ``configuration`` is a file that is read instead of
    the nearest one. With ``diagnosticMode`` ``workspace`` files that are not open are checked, too, if the
    editor requests it; with ``auto`` only in folders with few files. ``debounce`` is the pause in typing,
    in milliseconds, after which a text is checked. ``python`` is an interpreter that has JAX, and
    ``trusted`` is true if the user trusts the workspace, so that its code may be run on request. ``askJax``
    is true if JAX is asked about functions that no overlay knows, in a trusted workspace. These three can
    be set at the start only. ``inlayHints`` turns kinds of inlay hints off: ``shards`` after specs,
    ``localShapes`` in bodies of shard_map, and ``collectives`` at lines of a program that was compiled; and
    on, that hints tell the number of ``devices``.
    """

    enable: bool = True
    devices: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    configuration: str | None = None
    diagnosticMode: str = "auto"
    debounce: int = 150
    python: str | None = None
    trusted: bool = False
    askJax: bool = False
    inlayHints: Mapping[str, bool] = field(default_factory=dict)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_at_least(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


#: For each option, what it must be and whether a value is that; null is as good as nothing.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "enable": ("true or false", _is_boolean),
    "devices": ("a positive integer", _is_at_least(1)),
    "settings": ("an object of configuration keys", lambda value: isinstance(value, dict)),
    "configuration": ("the path of a configuration file", _is_text),
    "diagnosticMode": (
        '"auto", "workspace" or "openFilesOnly"',
        lambda value: value in ("auto", "workspace", "openFilesOnly"),
    ),
    "debounce": ("a number of milliseconds", _is_at_least(0)),
    "python": ("the path of a Python interpreter", _is_text),
    "trusted": ("true or false", _is_boolean),
    "askJax": ("true or false", _is_boolean),
    "inlayHints": (
        'an object in which "shards", "localShapes", "collectives" and "devices" are true or false',
        lambda value: (
            isinstance(value, dict)
            and all(name in HINTS and _is_boolean(shown) for name, shown in value.items())
        ),
    ),
}


def parse_options(given: Any, start: Options | None = None) -> tuple[Options, list[str]]:
    """Read an editor's options. What is wrong keeps its default and is described in the second result.

    ``start`` are those that it began with, None for these themselves: what was set then and is not now stays.
    """
    before = start or Options()
    if given is None:
        return before, []
    if not isinstance(given, dict):
        return before, [
            f"{'initializationOptions' if start is None else 'the settings'} must be an object, not {given!r}"
        ]
    problems = []
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in _THEIRS:
            continue
        if name not in _KINDS:
            near = difflib.get_close_matches(str(name), _KINDS, n=1)
            problems.append(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
            continue
        meaning, is_right = _KINDS[name]
        if value is None or (start is not None and name in _ONCE):
            continue
        if is_right(value):
            found[name] = value
        else:
            problems.append(f"option {name!r} must be {meaning}, not {value!r}")
    return dataclasses.replace(before, **found), problems
