"""The wording of operations on arrays with shardings in their types."""

from __future__ import annotations

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import OperationUse
from shardlint.rules.messages.common import name_text, size_text


def wanted_text(use: OperationUse, verdict: Rejected) -> str:
    """Return what the operation requires, its operands as `jax.typeof` shows them, and the mismatch."""
    text = f"{name_text(use.function)} wants {verdict.detail}"
    if use.operands:
        text += f", and gets {operands_text(use)}"
    if verdict.axis is not None and verdict.dimension is not None:
        size = "" if verdict.size is None else f" of size {size_text(verdict.size)}"
        text += f': dimension {verdict.dimension}{size} lies along "{verdict.axis}"'
        if verdict.ways is not None:
            text += f" ({size_text(verdict.ways)} devices)"
    return text


def operands_text(use: OperationUse) -> str:
    """Return the types of the operands: ``f32[8@data, 16] and f32[16]``."""
    types = [str(kind) for kind in use.operands]
    return types[0] if len(types) == 1 else f"{', '.join(types[:-1])} and {types[-1]}"
