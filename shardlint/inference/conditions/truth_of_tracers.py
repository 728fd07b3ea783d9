"""Tests of arrays that differ from device to device."""

from __future__ import annotations

import libcst as cst

from shardlint.inference.domain.values import Value
from shardlint.inference.machine.machine import Machine
from shardlint.inference.overlays.tracers import refuses
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.tracers import Asked


def tested(interpreter: Machine, test: cst.BaseExpression) -> Value:
    """Evaluate an expression whose truth Python asks for."""
    value = interpreter.evaluate(test)
    if interpreter.context.bound_axes and refuses(interpreter, value, Asked.TRUTH, interpreter.place(test)):
        return Unknown("JAX refuses to tell its truth")
    return value
