"""Results of a `pmap` with None in out_axes: reported where the devices' values certainly differ."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
key = jax.random.key(0)
x, w = jax.random.normal(key, (8, 4)), jnp.arange(4.0)
def mean(v):
    return lax.pmean(v, "b")
"""
#: Calls, and whether other devices hold other values than the first.
CALLS = {
    ("lambda x: x.sum()", "x", ", axis_name='b'"): True,
    ("lambda x: x.sum()", "x", ""): True,
    ("lambda x: jnp.argmax(x)", "x", ""): True,
    ("lambda x: x.sum()", "np.asarray(x)", ", axis_name='b'"): True,
    ("lambda x: mean(x.sum())", "x", ", axis_name='b'"): False,
    ("lambda x: mean(x.sum()) + x.sum()", "x", ", axis_name='b'"): True,
    ("lambda x: lax.all_gather(x, 'b')", "x", ", axis_name='b'"): False,
    ("lambda x: lax.psum(1, 'b')", "x", ", axis_name='b'"): False,
    ("lambda x: jnp.ones(3)", "x", ""): False,
    ("lambda w, x: w * 2", "w, x", ", in_axes=(None, 0)"): False,
    ("lambda w, x: w * x", "w, x", ", in_axes=(None, 0)"): True,
    ("lambda w, x: w * mean(x)", "w, x", ", in_axes=(None, 0), axis_name='b'"): False,
    ("lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=3)[0]", "x", ""): True,
    ("lambda x: lax.axis_index('b')", "x", ", axis_name='b'"): True,
    ("lambda v: v + 1", "jnp.stack([w] * 8)", ", axis_name='b'"): False,
    ("lambda v: v + 1", "np.stack([np.arange(4.0)] * 8)", ""): False,
    ("lambda v: v + 1", "np.broadcast_to(np.arange(4.0), (8, 4))", ""): False,
    ("lambda v: v + 1", "np.tile(np.ones((1, 4)), (8, 1))", ", axis_name='b'"): False,
}
#: Results of several parts, their out_axes, and the part of which only the first device's value remains.
TREES = {
    ("(x, {'n': 8, 'sum': x.sum()})", "(0, None)"): "result[1]['sum']",
    ("(x, {'n': 8, 'sum': x.sum()})", "(0, {'n': None, 'sum': 0})"): None,
    ("{'n': mean(x), 'x': x}", "{'n': None, 'x': 0}"): None,
    ("{'n': mean(x), 'x': x}", "{'n': 0, 'x': None}"): "result['x']",
    ("[x, x.max()]", "[0, None]"): "result[1]",
    ("[x, mean(x)]", "[0, None]"): None,
}


@pytest.mark.parametrize(("call", "differ"), CALLS.items())
def test_values_of_the_first_device(call: tuple[str, str, str], differ: bool) -> None:
    """What is told is what a `pmap` that keeps all values shows."""
    function, args, options = call
    program = f"{HEADER}one = jax.pmap({function}, out_axes=None{options})({args})\n"
    assert len(found(program, "SHL311")) == differ
    program += f"all = jax.pmap({function}{options})({args})\n"
    assert value(program, "bool(np.array_equal(one, all[0]))")
    assert value(program, "any(not np.array_equal(one, other) for other in all)") is differ


@pytest.mark.parametrize(("result", "part"), TREES.items())
def test_out_axes_of_trees(result: tuple[str, str], part: str | None) -> None:
    """None may stand for a part of the result."""
    made, axes = result
    program = f"{HEADER}jax.pmap(lambda x: {made}, axis_name='b', out_axes={axes})(x)\n"
    value(program)
    texts = [finding.message for finding in found(program, "SHL311")]
    assert [text.partition(" of ")[0] for text in texts] == ([] if part is None else [part])


def test_what_remains_is_the_same_on_all_devices() -> None:
    """A result for which out_axes are None varies over no devices of another call."""
    program = f"""{HEADER}first = jax.pmap(lambda x: x.max(), axis_name="b", out_axes=None)(x)
again = jax.pmap(lambda w, x: (w + 1, x), axis_name="b", in_axes=(None, 0), out_axes=(None, 0))(first, x)
"""
    value(program)
    assert [finding.span.line for finding in found(program, "SHL311")] == [7]


def test_keys_are_to_differ() -> None:
    """The key that the first device goes on with is no number of which the others are missed."""
    split = "lambda k: jax.random.split(k)[0]"
    program = f"{HEADER}jax.pmap({split}, out_axes=None)(jax.random.split(key, 8))\n"
    assert not found(program, "SHL311")


def test_without_a_name_draws_are_not_judged() -> None:
    """There is no name to fold in (SHL314)."""
    noisy = "lambda key, x: (x + jax.random.normal(key, x.shape)).sum()"
    program = f"{HEADER}jax.pmap({noisy}, in_axes=(None, 0), out_axes=None)(key, x)\n"
    assert not found(program, "SHL314")
    assert found(program, "SHL311")
