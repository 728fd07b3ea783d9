"""Axes of collectives in functions under `jax.pmap` that nothing in the program calls.

An unknown caller binds no more of them. Beside what JAX raises at a call.
"""

from __future__ import annotations

import pytest
from support.checking import errors, places
from support.jax_answers import jax_raises

PROGRAM = """
import functools
import jax
import jax.numpy as jnp

def make(predict, gathers):
    @functools.partial(jax.pmap, axis_name="batch")
    def step(x):
        y = predict(x)
        if gathers:
            y = jax.lax.all_gather(y, {gathered!r})
        return {reduced}

    return step

class Evaluator:
    def __init__(self, predict):
        self.step = make(predict, True)

    def run(self, x):
        return self.step(x)
"""
CALL = """
Evaluator(jnp.sin).run(jnp.ones((8, 4)))
"""
BODIES = {
    ("batch", "jax.lax.psum(y, 'batch')"): None,
    ("bach", "jax.lax.psum(y, 'batch')"): ("SHL303", 11),
    ("batch", "jax.lax.psum(y, ('batch', 'data'))"): ("SHL303", 12),
    ("batch", "jax.vmap(lambda one: jax.lax.pmean(one, ('row', 'batch')), axis_name='row')(y)"): None,
    ("batch", "jax.vmap(lambda one: jax.lax.pmean(one, ('col', 'batch')), axis_name='row')(y)"): (
        "SHL303",
        12,
    ),
}


@pytest.mark.parametrize("body", BODIES)
def test_axes_of_an_uncalled_pmap(body: tuple[str, str]) -> None:
    text, expected = PROGRAM.format(gathered=body[0], reduced=body[1]), BODIES[body]
    found = places(errors(text))
    assert found == ([] if expected is None else [expected])
    raised = jax_raises({"program": text + CALL})["program"]
    assert (raised is None) == (expected is None), raised
