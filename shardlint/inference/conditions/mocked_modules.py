"""Modules of which a test replaces parts by stand-ins.

The branches that such a module takes may depend on the stand-ins, so on an undecided branch nothing is
reported: the stand-in's values need not fit there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Rejected, Undecided, Verdict
from shardlint.model.uses import Use

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def verdict_where_replaced(interpreter: Machine, use: Use) -> Verdict:
    """Return the verdict on a use recorded now."""
    if isinstance(use.verdict, Rejected) and interpreter.guarded and interpreter.context.replaced:
        here = interpreter.scope.root.module.source.path
        if here in interpreter.context.replaced:
            return Undecided("a test replaces parts of this module, and whether this runs may depend on it")
    return use.verdict
