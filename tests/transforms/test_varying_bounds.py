"""Over what values vary inside shard_map, and what JAX refuses for it: our bounds beside JAX's types."""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AbstractMesh, PartitionSpec
from probing import evaluate
from support.jax_answers import asks_jax
from support.sizes import size
from varying_bodies import random_program

from shardlint.inference.domain.values import Array, DictValue, ListValue, Tuple, Value
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.laws.core.verdicts import Rejected

CASES = size("SHARDLINT_VARYING_CASES", 60, 180)
SEED = int(os.environ.get("SHARDLINT_VARYING_SEED", "0"))
Kind = tuple[tuple[int, ...], frozenset[str]]


@asks_jax("transforms")
def jax_says(program: str) -> tuple[dict[int, Kind], int | None, str]:
    """The types at probes, and the line and class of what JAX raises, if it does."""
    kinds: dict[int, Kind] = {}

    def probe(number: int, value: Any) -> None:
        kind = jax.typeof(value)
        kinds[number] = (kind.shape, getattr(kind.mat, "varying", frozenset()))

    scope = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "P": PartitionSpec, "AbstractMesh": AbstractMesh}
    scope["probe"] = probe
    exec(compile(program, "<program>", "exec"), scope)  # the program is random, and ours
    shape = jax.ShapeDtypeStruct((8, 8), np.float32)
    try:
        jax.eval_shape(scope["f"], shape, shape, shape)
    except Exception as error:
        frames = traceback.extract_tb(sys.exc_info()[2])
        # The first line inside the body, which follows the program's own call from here.
        lines = [frame.lineno for frame in frames if frame.filename == "<program>"]
        return kinds, lines[0] if lines else 0, type(error).__name__
    return kinds, None, ""


def we_say(program: str) -> tuple[dict[int, Value], list[tuple[int, str]]]:
    """What we know of the values at probes, and the lines and classes of what we say JAX raises."""
    found = evaluate(f"{program}x = jax.ShapeDtypeStruct((8, 8), np.float32)\njax.eval_shape(f, x, x, x)\n")
    rejected = [use for use in found.uses if isinstance(use.verdict, Rejected)]
    return found.probes, [
        (use.place.resolve().line, use.verdict.exception)
        for use in rejected
        if isinstance(use.verdict, Rejected) and use.verdict.stage != "lower"
    ]


def compare_values(ours: Value, real: Kind, tally: Counter[str], program: str) -> None:
    """No bound of ours may be false; how many are exact is counted."""
    shape, varying = real
    tally["values"] += 1
    if not isinstance(ours, Array):
        assert not isinstance(ours, Tuple | ListValue | DictValue), (ours, real, program)
        return
    held = variation_of(ours)
    assert held.surely <= varying, (ours, real, program)
    assert held.perhaps is None or varying <= held.perhaps, (ours, real, program)
    tally["exact"] += held.surely == held.perhaps
    if ours.shape is not None:
        tally["shapes"] += 1
        assert len(ours.shape) == len(shape), (ours, real, program)
        assert all(not isinstance(m, int) or m == n for m, n in zip(ours.shape, shape, strict=True)), program


def compare(program: str, tally: Counter[str], types_say: bool = True) -> None:
    """Compare what we say of a program with what JAX says."""
    kinds, line, exception = jax_says(program)
    probes, rejected = we_say(program)
    for number, real in kinds.items():
        if number in probes and types_say:
            compare_values(probes[number], real, tally, program)
    tally["accepted" if line is None else "rejected"] += 1
    if not rejected:
        return
    claimed, ours = rejected[0]
    # Where JAX stops earlier, what comes later is not seen.
    if line is not None and line < claimed:
        return
    assert line == claimed, (claimed, line, exception, program)
    assert ours in (exception, "Exception"), (ours, exception, program)
    tally["found"] += 1


def test_bounds_hold_and_refusals_are_found() -> None:
    rng = random.Random(SEED)
    tally: Counter[str] = Counter()
    for _ in range(CASES):
        compare(random_program(rng), tally)
    print(dict(tally))
    assert min(tally["accepted"], tally["rejected"]) > 0.15 * CASES, tally
    assert tally["exact"] > 0.8 * tally["values"], tally
    assert tally["found"] > 0.6 * tally["rejected"], tally


def test_unchecked_bodies_are_refused_for_the_same_reasons() -> None:
    rng = random.Random(SEED + 1)
    tally: Counter[str] = Counter()
    for _ in range(CASES // 3):
        compare(random_program(rng, check_vma=False), tally, types_say=False)
    print(dict(tally))
    assert tally["found"] > 0.4 * tally["rejected"], tally
