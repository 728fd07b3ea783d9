"""Reading the text of a function that is not run, as a dependency of the run that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.inference.machine.code import Code, LookedAt

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def look_at(interpreter: Machine, code: Code, names_only: bool = False) -> str:
    """Return the text of a function that need not run, and record the dependency."""
    unit = id(code.unit)
    # Enclosing functions may have other variables.
    looked = LookedAt(unit, names=names_only and code.key == unit)
    interpreter.ran.add(looked)
    interpreter.ran_uncached.add(looked)
    return code.unit.text
