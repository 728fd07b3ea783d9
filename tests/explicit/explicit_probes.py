"""Evaluates a program text; ``probe(number, value)`` in it tells what is known of a value."""

from __future__ import annotations

from support.evaluation import evaluate_module

from shardlint.inference.domain.values import Const, Value
from shardlint.inference.evaluation.call import Call
from shardlint.model.uses import Use


def evaluate(text: str) -> tuple[dict[int, Value], list[Use]]:
    """The values at the probes, and all uses."""
    found: dict[int, Value] = {}

    def probe(call: Call) -> None:
        number, value = call.args
        assert isinstance(number, Const)
        found[number.value] = value

    return found, evaluate_module(text, {"probe": probe}).uses
