"""Every table entry against the library itself, with sizes and with symbols."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import cases_jax
import cases_lax
import cases_numpy
import pytest
from cases import REMOVED, generator
from overlay_harness import CASES, Draw, concrete, evaluate, named, resolve, run_entry, run_library

from shardlint.inference.domain.values import Array
from shardlint.inference.overlays.jax import nn, numpy, random, tree
from shardlint.inference.overlays.jax.lax import control_flow, convolution
from shardlint.inference.overlays.jax.lax import functions as jax_lax
from shardlint.inference.overlays.numpy import functions  # fmt: skip
from shardlint.laws.core.values import Unknown

warnings.filterwarnings("ignore")

TABLES = {
    **numpy.TABLE,
    **jax_lax.TABLE,
    **convolution.TABLE,
    **control_flow.TABLE,
    **random.TABLE,
    **nn.TABLE,
    **tree.TABLE,
    **functions.TABLE,
}

#: Entries whose answers are not arrays; tests of their own show what they make.
ELSEWHERE = {
    "jax.numpy.vectorize", "jax.lax.conv_dimension_numbers", "jax.tree.structure", "jax.tree.flatten",
    "jax.tree.unflatten", "jax.tree_util.tree_structure", "jax.tree_util.tree_flatten",
    "jax.tree_util.tree_unflatten", "numpy.random.default_rng", "numpy.random.RandomState",
    "numpy.random.seed",
}  # fmt: skip

#: Entries whose answer is open by nature: a length that the data decide.
DATA_DEPENDENT = {
    "numpy.nonzero", "numpy.argwhere", "numpy.unique", "numpy.bincount", "numpy.tril_indices",
    "numpy.triu_indices", "jax.numpy.tril_indices", "jax.numpy.triu_indices",
}  # fmt: skip


def test_every_entry_has_cases() -> None:
    missing = sorted(name for name in TABLES.keys() - ELSEWHERE if generator(name) is None)
    assert not missing


def test_no_case_without_an_entry() -> None:
    named = {f"jax.lax.{name}" for name in (*cases_lax.LAX, *cases_jax.CONTROL)}
    named |= {f"jax.numpy.{name}" for name in cases_numpy.SHARED}
    named |= {f"jax.random.{name}" for name in cases_jax.RANDOM} | {f"jax.nn.{name}" for name in cases_jax.NN}
    assert not named - TABLES.keys()


@pytest.mark.parametrize("name", sorted(TABLES.keys() - ELSEWHERE))
def test_agrees(name: str) -> None:
    generate = generator(name)
    assert generate is not None
    target: Callable[..., Any] = resolve(REMOVED.get(name, name))
    tally = run_entry(name, TABLES[name], target, generate, CASES, numpy=name.startswith("numpy."))
    assert tally.accepted >= tally.cases // 4, f"too few calls of {name} are accepted: {tally}"
    if name not in DATA_DEPENDENT:
        assert tally.open_sizes <= tally.accepted // 3, f"too little is known of {name}: {tally}"
        assert tally.open_symbols <= tally.accepted * 3 // 4, f"too little is known of {name}: {tally}"


@pytest.mark.parametrize("name", sorted(TABLES.keys() - ELSEWHERE))
def test_as_much_is_known_of_arguments_by_keyword(name: str) -> None:
    generate = generator(name)
    assert generate is not None
    target: Callable[..., Any] = resolve(REMOVED.get(name, name))
    numpy = name.startswith("numpy.")
    for number in range(CASES):
        draw = Draw(Random(f"{name}/named/{number}"), numpy=numpy)
        args, kwargs = generate(draw)
        args = [concrete(arg, draw.sizes) for arg in args]
        kwargs = {key: concrete(arg, draw.sizes) for key, arg in kwargs.items()}
        fewer, more = named(target, args, kwargs, draw.rng)
        if len(fewer) == len(args):
            continue
        by_position = evaluate(name, TABLES[name], args, kwargs)
        by_keyword = evaluate(name, TABLES[name], fewer, more)
        if isinstance(by_position, Unknown) or not isinstance(by_keyword, Unknown | Array):
            continue
        if by_keyword == by_position or (name in DATA_DEPENDENT and isinstance(by_keyword, Array)):
            continue
        try:
            run_library(target, fewer, more, numpy=numpy)
        except Exception:
            continue  # What the library rejects has no answer.
        raise AssertionError(f"{name}{tuple(fewer)} {more}: {by_keyword} for {by_position}")
