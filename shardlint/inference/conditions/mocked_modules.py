"""Modules of which a test replaces parts, and that it gives stand-ins.

Which branches such a module takes may depend on those, so on an undecided one nothing is claimed: what a
stand-in makes there need not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Rejected, Undecided, Verdict
from shardlint.model.uses import Use

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def verdict_where_replaced(interpreter: Machine, use: Use) -> Verdict:
    """The verdict on a use that is met now."""
    if isinstance(use.verdict, Rejected) and interpreter.guarded and interpreter.context.replaced:
        here = interpreter.scope.root.module.source.path
        if here in interpreter.context.replaced:
            return Undecided("a test replaces parts of this module, and whether this runs may depend on it")
    return use.verdict
