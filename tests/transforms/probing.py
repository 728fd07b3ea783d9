"""Evaluates program texts, and compares values at their probes with what JAX makes of them."""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from support.evaluation import evaluate_module
from support.sizes import scale

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    Integer,
    ListValue,
    SetValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.overlays.jax.transforms.idle_axes import GRADIENT
from shardlint.laws.core.dims import Dim, substitute
from shardlint.laws.core.values import Unknown
from shardlint.model.uses import Use

#: How many times as many cases as usual.
SCALE = scale("SHARDLINT_TRANSFORM_SCALE", 1 / 3)


@dataclass
class Evaluated:
    """What the evaluator says: the values at each probe, and all uses."""

    probes: dict[int, Value] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)


def evaluate(text: str, variables: Mapping[str, Value] | None = None, devices: int = 8) -> Evaluated:
    """Evaluate a program; ``probe(number, value)`` tells what is known of the value."""
    found = Evaluated()

    def probe(call: Call) -> None:
        number, value = call.args
        assert isinstance(number, Const) and isinstance(call.interpreter, Interpreter)
        # Asked once for each of several possible values: which one it is, is not known.
        several = call.interpreter.variants[1] > 1
        found.probes[number.value] = Unknown("one of several values") if several else value

    uses = evaluate_module(text, {"probe": probe}, variables, devices).uses
    # That a gradient is computed is no call which anybody judges.
    found.uses = [use for use in uses if getattr(use, "function", None) != GRADIENT]
    return found


@dataclass
class Tally:
    """How many leaves were compared, and how many of them are not known."""

    leaves: int = 0
    unknown: int = 0

    def add(self, known: bool) -> None:
        self.leaves += 1
        self.unknown += not known


def compare(value: Value, real: Any, sizes: Mapping[str, int], tally: Tally) -> None:
    """Compare a value with the real one, leaf by leaf; ``sizes`` says what symbols stand for.

    Raises AssertionError where something definite differs.
    """
    if isinstance(value, Tuple | ListValue):
        assert isinstance(real, tuple if isinstance(value, Tuple) else list), (value, real)
        if value.items is None:
            tally.add(False)
            return
        assert len(real) == len(value.items), (value, real)
        for item, other in zip(value.items, real, strict=True):
            compare(item, other, sizes, tally)
    elif isinstance(value, DictValue):
        assert isinstance(real, Mapping), (value, real)
        if value.items is None:
            tally.add(False)
            return
        assert set(real) == set(value.items), (value, real)
        for key, item in value.items.items():
            compare(item, real[key], sizes, tally)
    elif isinstance(value, Array):
        _compare_array(value, real, sizes, tally)
    elif isinstance(value, Integer):
        assert isinstance(real, int), (value, real)
        known = substituted(value.dim, sizes)
        assert known is None or known == real, (value, real)
        tally.add(known is not None)
    elif isinstance(value, Const):
        assert type(real) is type(value.value) or isinstance(real, np.generic), (value, real)
        assert real == value.value or real != real, (value, real)
        tally.add(True)
    elif isinstance(value, SetValue):
        assert isinstance(real, frozenset if value.frozen else set), (value, real)
        assert value.items is None or real == value.items, (value, real)
        tally.add(value.items is not None)
    elif isinstance(value, SpecValue):
        entries = tuple(real)
        assert entries == value.spec.entries, (value, real)
        tally.add(True)
    else:
        tally.add(not isinstance(value, Unknown))


def _compare_array(value: Array, real: Any, sizes: Mapping[str, int], tally: Tally) -> None:
    told = (value.shape, value.dtype, value.weak, real)
    assert hasattr(real, "shape") and hasattr(real, "dtype"), told
    if value.dtype is not None:
        # The type of an integer's derivative has no contents; JAX spells it in two ways.
        dtype = str(real.dtype) if real.dtype.itemsize else "float0"
        assert value.dtype == dtype, told
    if value.shape is None:
        tally.add(False)
        return
    assert len(value.shape) == len(real.shape), told
    known = [substituted(dim, sizes) for dim in value.shape]
    assert all(k is None or k == r for k, r in zip(known, real.shape, strict=True)), told
    if value.dtype is not None and isinstance(real, jax.Array | jax.ShapeDtypeStruct):
        assert value.weak == bool(real.weak_type), told
    tally.add(None not in known and value.dtype is not None)


def substituted(dim: Dim, sizes: Mapping[str, int]) -> int | None:
    """What a size stands for, None where it has symbols of its own."""
    found = substitute(dim, dict(sizes))
    return found if isinstance(found, int) else None


def described(leaf: Any) -> Any:
    """A leaf of a result without its contents: arrays as structs."""
    if isinstance(leaf, np.ndarray):
        return np.zeros(leaf.shape, leaf.dtype)
    if isinstance(leaf, jax.Array):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=leaf.weak_type)
    return leaf
