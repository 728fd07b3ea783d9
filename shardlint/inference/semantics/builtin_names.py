"""Names that no scope of a program binds: those of `builtins`."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from shardlint.inference.domain.class_names import module_name
from shardlint.inference.domain.values import External, Value
from shardlint.inference.evaluation.monkeypatches import is_set
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def built_in(interpreter: Machine, name: str) -> Value:
    """Return the value of a name that nothing binds; the program may have set it globally."""
    if name == "__name__":
        return module_name(interpreter.scope.root.module)
    if name == "__builtins__":
        return External("builtins")
    if not hasattr(builtins, name):
        return Unknown(f"`{name}` is not defined")
    full = f"builtins.{name}"
    if is_set(interpreter, full):
        return Unknown(f"the program sets `{full}`")
    return interpreter.project.external(interpreter, full)
