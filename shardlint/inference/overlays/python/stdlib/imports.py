"""Modules that a program imports by calling a function: ``importlib.import_module("jax.sharding")``."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Const, Value, as_items, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown


def _import_module(call: Call) -> Value:
    """``importlib.import_module(name)``."""
    name, package = call.bind("name", package=None)
    text = as_str(name)
    if not text or text.startswith(".") or not (package is None or is_none(package)):
        return Unknown("a module whose name is not known")
    return call.interpreter.import_module(text, call.place)


def _import(call: Call) -> Value:
    """``__import__(name, fromlist=)``: the module if ``fromlist`` is not empty, else its top-level
    package."""
    name, _, _, names, level = call.bind("name", globals=None, locals=None, fromlist=None, level=None)
    text = as_str(name)
    absolute = level is None or (isinstance(level, Const) and level.value == 0)
    if not text or not absolute:
        return Unknown("a module whose name is not known")
    wanted = () if names is None or is_none(names) else as_items(names)
    if wanted is None:
        return Unknown("whether the module itself is asked for is not known")
    module = call.interpreter.import_module(text, call.place)
    return module if wanted else call.interpreter.import_module(text.partition(".")[0], call.place)


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.__import__": _import,
    "importlib.import_module": _import_module,
}
