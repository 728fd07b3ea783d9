"""Each record of a JAX function beside JAX: the shardings of its results, and whether values are read.

`test_transfer` puts shapes, dtypes and the names of parameters beside the libraries, for the same calls.
"""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from cases import generator
from operation_harness import Calls, Traced, arrays_of, by_keyword, draw_case, judged, reads_all, trace

from shardlint.inference.domain.values import Value
from shardlint.inference.overlays.jax.operations import OPERATIONS
from shardlint.inference.overlays.operations import MISSING
from shardlint.laws.core.values import Unknown

warnings.filterwarnings("ignore")

CASES = 12

#: How many functions have no rule for Explicit axes. A new one has: this can only shrink.
WITHOUT_A_RULE = 21
#: How many functions are not put beside JAX yet, as to whether they read values.
NOT_MEASURED = 0
#: What JAX refuses on Explicit axes without ``out_sharding=``; `test_given_shardings` passes one.
NEED_A_SHARDING = frozenset({"jax.lax.ragged_dot"})


def test_missing_parts_become_fewer() -> None:
    assert sum(one.sharding is MISSING for one in OPERATIONS.values()) <= WITHOUT_A_RULE
    assert sum(one.reads_values is MISSING for one in OPERATIONS.values()) <= NOT_MEASURED


def _spec(spec: Any) -> Any:
    """A spec without the difference that a mesh makes which splits nothing."""
    return tuple(spec) if any(spec or ()) else None


def _compare(name: str, number: int, found: Value, traced: Traced) -> None:
    told = (name, number, found, traced)
    if isinstance(found, Unknown):
        assert traced.raised or "rejected by" not in str(found), told
        return
    if traced.raised:
        return
    arrays = arrays_of(found)
    if not arrays:
        return
    assert len(arrays) == len(traced.specs), told
    for array, spec in zip(arrays, traced.specs, strict=True):
        if array.typed is not None:
            assert _spec(array.typed.spec.entries) == _spec(spec), told


@pytest.mark.parametrize("name", sorted(name for name in OPERATIONS if generator(name) is not None))
def test_agrees(name: str) -> None:
    operation, accepted, typed = OPERATIONS[name], 0, 0
    for first in range(0, 5 * CASES, CASES):
        if accepted:
            break
        numbers = range(first, first + CASES)
        calls = Calls(name, [draw_case(name, number, sharded=number % 3 > 0) for number in numbers])
        for number, (args, kwargs), traced in zip(numbers, calls.arguments, trace(calls), strict=True):
            found = judged(name, args, kwargs)
            _compare(name, number, found, traced)
            if not traced.raised:
                accepted += 1
                typed += all(array.typed is not None for array in arrays_of(found))
                if operation.reads_values is True:
                    assert reads_all(traced), (name, args, kwargs, traced.reads)
    if name in NEED_A_SHARDING:
        return
    assert accepted, f"no calls of {name} are accepted"
    if operation.sharding is not MISSING:
        assert typed >= accepted // 4, f"too few types of {name} are known"


@pytest.mark.parametrize("name", sorted(name for name in OPERATIONS if generator(name) is not None))
def test_agrees_by_keyword(name: str) -> None:
    drawn = [draw_case(name, number, sharded=True) for number in range(4)]
    calls = Calls(name, [by_keyword(name, args, kwargs) for args, kwargs in drawn])
    for number, ((args, kwargs), traced) in enumerate(zip(calls.arguments, trace(calls), strict=True)):
        _compare(name, number, judged(name, args, kwargs), traced)


#: Arguments of functions whose random calls have no arrays.
TAKEN_BY_VALUE = ["jnp.full((2,), x)", "jax.lax.full((2,), x)", "jax.random.key(x)", "jax.random.PRNGKey(x)"]


@pytest.mark.parametrize("text", TAKEN_BY_VALUE)
def test_values_of_what_is_made_are_read(text: str) -> None:
    jaxpr = jax.make_jaxpr(eval(f"lambda x: {text}", {"jax": jax, "jnp": jnp}))(jnp.int32(3))
    (x,) = jaxpr.jaxpr.invars
    assert any(x in eqn.invars for eqn in jaxpr.jaxpr.eqns)
