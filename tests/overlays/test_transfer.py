"""Every table entry against the library itself, with sizes and with symbols."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import cases_jax
import cases_lax
import cases_numpy
import pytest
from cases import REMOVED, generator
from overlay_harness import CASES, Draw, concrete, evaluate, named, resolve, run_entry, run_library

from shardlint.inference.domain.values import NONE, Array, Const, Value
from shardlint.inference.overlays.jax import nn, numpy, random, tree
from shardlint.inference.overlays.jax.lax import control_flow, convolution, gathers, linalg
from shardlint.inference.overlays.jax.lax import functions as jax_lax
from shardlint.inference.overlays.jax.numerics import (
    distributions,
    images,
    scipy_linalg,
    scipy_signal,
    segments,
    special,
)
from shardlint.inference.overlays.numpy import functions  # fmt: skip
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions.keywords import is_never_taken

warnings.filterwarnings("ignore")

TABLES = {
    **numpy.TABLE,
    **jax_lax.TABLE,
    **convolution.TABLE,
    **control_flow.TABLE,
    **random.TABLE,
    **nn.TABLE,
    **segments.TABLE,
    **images.TABLE,
    **special.TABLE,
    **distributions.TABLE,
    **scipy_signal.TABLE,
    **scipy_linalg.TABLE,
    **linalg.TABLE,
    "jax.lax.index_take": gathers.TABLE["jax.lax.index_take"],
    **tree.TABLE,
    **functions.TABLE,
}

#: Entries whose answers are not arrays, or that read files; tests of their own show what they make.
ELSEWHERE = {
    "jax.numpy.vectorize", "jax.lax.conv_dimension_numbers", "jax.tree.structure", "jax.tree.flatten",
    "jax.tree.unflatten", "jax.tree_util.tree_structure", "jax.tree_util.tree_flatten",
    "jax.tree_util.tree_unflatten", "numpy.random.default_rng", "numpy.random.RandomState",
    "numpy.random.seed", "numpy.ndarray.dtype.__set__", "numpy.ndarray.shape.__set__", "numpy.ndarray.resize",
    "numpy.frombuffer", "numpy.fromfile", "numpy.memmap",
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


#: Keywords that some function of JAX takes.
_WORDS = (
    "out_sharding device where out dtype axis keepdims initial shape mode precision sharding dim k".split()
)


def _spoiled(
    args: Sequence[Value], kwargs: dict[str, Value], rng: Random
) -> tuple[list[Value], dict[str, Value], str]:
    """Return a call with another number, or another keyword, and that keyword."""
    args, kwargs, word = list(args), dict(kwargs), ""
    places = [at for at, value in enumerate(args) if isinstance(value, Const) and type(value.value) is int]
    names = [name for name, value in kwargs.items() if isinstance(value, Const) and type(value.value) is int]
    number = Const(rng.choice((-9, -3, -2, -1, 0, 1, 2, 3, 9)))
    if rng.random() < 0.4 or not (places or names):
        word = rng.choice([one for one in _WORDS if one not in kwargs])
        kwargs[word] = NONE
    elif names and (not places or rng.random() < 0.5):
        kwargs[rng.choice(names)] = number
    else:
        args[rng.choice(places)] = number
    return args, kwargs, word


@pytest.mark.parametrize("name", sorted(TABLES.keys() - ELSEWHERE))
def test_what_is_claimed_to_be_rejected_is(name: str) -> None:
    """A random call of which an error is claimed raises."""
    generate = generator(name)
    assert generate is not None
    target: Callable[..., Any] = resolve(REMOVED.get(name, name))
    for number in range(CASES):
        rng = Random(f"{name}/{number}/spoiled")
        draw = Draw(rng, numpy=name.startswith("numpy."))
        args, kwargs = generate(draw)
        args, kwargs, word = _spoiled(
            [concrete(arg, draw.sizes) for arg in args],
            {key: concrete(arg, draw.sizes) for key, arg in kwargs.items()},
            rng,
        )
        refused = bool(word) and is_never_taken(name, word)
        ours = evaluate(name, TABLES[name], args, kwargs)
        if refused or (isinstance(ours, Unknown) and ours.reason.startswith("rejected")):
            with pytest.raises(Exception):  # noqa: B017
                run_library(target, args, kwargs, numpy=name.startswith("numpy."))
