"""Exceptions that JAX raises and the program catches: what follows in the block does not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.laws.core.exceptions import is_caught
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import Use

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The stages after a call itself: a function is compiled and run, perhaps elsewhere.
_LATER = frozenset({"lower", "compile", "execute"})


def note_raised(interpreter: Machine, use: Use) -> None:
    """Note that the statement being executed raises an exception that a handler catches.

    `getattr` with a default catches `AttributeError` itself.
    """
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.stage in _LATER or interpreter.variants[1] > 1:
        return
    if verdict.exception != "AttributeError" and is_caught(verdict.exception, interpreter.context.caught):
        interpreter.frames[-1].raised = interpreter.path
