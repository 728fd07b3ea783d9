"""Configurations of `ml_collections` that a command line names: none of their keys is known.

With the program's defaults, ``config.get("mesh", default)`` is the default, which remembers that.
"""

from __future__ import annotations

from shardlint.inference.domain.values import NONE, LibraryObject, Native, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.command_lines.defaults import by_default
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

OPEN = "ml_collections.ConfigDict(open)"


def open_configuration(interpreter: Evaluator, prefix: str, place: Place) -> LibraryObject:
    """Return a configuration of which no key is known; ``prefix`` is what its options begin with."""

    def get(call: Call) -> Value:
        key, default = call.bind("key", default=NONE)
        name = as_str(key)
        if name is None or default is None or call.opaque:
            return Unknown("an item of a configuration")
        return by_default(f"{prefix}{name}", default, call.place)

    return LibraryObject(OPEN, {"get": Native("ConfigDict.get", get)}, place, interpreter.path)
