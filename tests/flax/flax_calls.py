"""Calling the Flax overlays without a program: Python values in, shapes out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from support.evaluation import evaluate_module
from support.sizes import scale

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    External,
    LibraryObject,
    ListValue,
    Native,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.overlays.flax.linen import module as flax_linen
from shardlint.inference.overlays.flax.nnx import module as flax_nnx
from shardlint.inference.overlays.jax import initializers
from shardlint.inference.overlays.registry import load_mentioned
from shardlint.inference.programs.module_loader import Project
from shardlint.inference.programs.program import run_module
from shardlint.laws.core.dims import Shape
from shardlint.model.spans import Span
from shardlint.model.uses import Use

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# As a program that mentions it has them loaded.
load_mentioned("flax")

#: How many times as many random programs as usual.
SCALE = scale("SHARDLINT_FLAX_SCALE", 1 / 3)
PLACE = Span("model.py", 1, 1, 1, 2)
#: Any initializer; the shapes do not depend on which.
INIT = Native("ones", initializers.TABLE["jax.nn.initializers.ones"])


@dataclass(frozen=True)
class Named:
    """An initializer with partitioning names."""

    names: Any


@dataclass(frozen=True)
class Dtype:
    """A dtype of `jax.numpy` by name."""

    name: str


def interpreter() -> Interpreter:
    """An interpreter with no program in it."""
    return Interpreter(InferenceSettings(), Project((), run_module))


def call_of(runner: Interpreter, name: str, *args: Value, **kwargs: Value) -> Call:
    """A call that stands at one place."""
    return Call(runner, name, args, kwargs, PLACE)


def value_of(runner: Interpreter, library: str, item: Any) -> Value:
    """The abstract value of a Python value."""
    if isinstance(item, Named):
        names = value_of(runner, library, item.names)
        maker = f"flax.{library}.with_partitioning"
        table = flax_linen.TABLE if library == "linen" else flax_nnx.TABLE
        return table[maker](call_of(runner, maker, INIT, names))
    if isinstance(item, Dtype):
        return External(f"jax.numpy.{item.name}")
    if isinstance(item, tuple):
        return Tuple(tuple(value_of(runner, library, part) for part in item))
    if isinstance(item, list):
        return ListValue([value_of(runner, library, part) for part in item])
    if isinstance(item, Mapping):
        return DictValue({key: value_of(runner, library, part) for key, part in item.items()})
    return Const(item)


def values_of(runner: Interpreter, library: str, config: Mapping[str, Any]) -> dict[str, Value]:
    """The abstract values of a constructor's arguments."""
    return {key: value_of(runner, library, item) for key, item in config.items()}


Flat = dict[tuple[str, ...], tuple[Shape, str]]


def flat_arrays(tree: Value, path: tuple[str, ...] = ()) -> Flat:
    """Every array in a tree of variables, by path: its shape and dtype, boxes opened."""
    if isinstance(tree, DictValue):
        assert tree.items is not None, path
        found: Flat = {}
        for key, item in tree.items.items():
            found |= flat_arrays(item, (*path, str(key)))
        return found
    if isinstance(tree, LibraryObject):
        return flat_arrays(tree.fields["tree" if "tree" in tree.fields else "value"], path)
    assert isinstance(tree, Array), (path, tree)
    assert tree.shape is not None, path
    assert tree.dtype is not None, path
    return {path: (tree.shape, tree.dtype)}


def flat_specs(tree: Value, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Every spec in a tree, by path."""
    if isinstance(tree, DictValue):
        assert tree.items is not None, path
        found: dict[tuple[str, ...], tuple[Any, ...]] = {}
        for key, item in tree.items.items():
            found |= flat_specs(item, (*path, str(key)))
        return found
    if isinstance(tree, LibraryObject):
        return flat_specs(tree.fields["tree" if "tree" in tree.fields else "value"], path)
    assert isinstance(tree, SpecValue), (path, tree)
    return {path: tree.spec.entries}


def run_program(text: str) -> tuple[dict[str, Value], list[Use]]:
    """Evaluate a program: the variables of its module, and the uses it makes."""
    evaluation = evaluate_module(text)
    return evaluation.variables, evaluation.uses
