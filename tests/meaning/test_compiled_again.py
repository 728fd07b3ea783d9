"""Functions that are compiled again for what they returned: beside the number of compilations."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, of_pages, value

PROGRAM = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
mesh = {mesh}
def on(*spec):
    return NamedSharding(mesh, P(*spec))
w = jax.device_put(jnp.ones((16, 16)), on({spec}))
s = {start}
@jax.jit{options}
def step(w, s):
    return {weights}, {result}
{feeds}
size = step._cache_size()
"""
AUTO = 'jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))'
#: What lies nowhere, and what the program put somewhere, or may have.
LOOSE = ("jnp.zeros(())", "jnp.zeros(16)", "np.float32(0)", "np.zeros(16, np.float32)", "0.0")
STARTS = (
    *LOOSE, "jax.device_put(np.float32(0), on())", "jnp.zeros_like(w)", "jnp.sum(w)", "jax.device_put(0.0)",
)  # fmt: skip
RESULTS = ("s + 1", "s", "jnp.zeros_like(s)", "jnp.ones(3)")
TURNS = """class T:
    pass
t = T()
t.w, t.s = w, s
def turn():
    t.w, t.s = step(t.w, t.s)
turn()
turn()"""
PARTIAL = "\ndef _(w, s): pass\n@__import__('functools').partial(jax.jit, {})"
LOOP = "for _ in range(3):\n    w, s = step(w, s)"


def both(**parts: str) -> tuple[bool, int]:
    """Return whether a program is reported, and how many programs it compiles."""
    defaults = {
        "mesh": AUTO,
        "spec": "'x'",
        "options": "",
        "weights": "w * 2",
        "result": "s + 1",
        "feeds": LOOP,
    }
    program = PROGRAM.format(**{**defaults, "start": "jnp.zeros(())", **parts})
    return bool(found(program, "SHL619")), value(program, "size")


@pytest.mark.parametrize(("start", "result"), list(itertools.product(STARTS, RESULTS)))
def test_what_takes_the_place_of_a_loose_array(start: str, result: str) -> None:
    said, compiled = both(start=start, result=result)
    assert not said or compiled > 1
    assert said == (start in LOOSE and result in ("s + 1", "s"))


@pytest.mark.parametrize(
    "parts",
    [
        {"spec": ""},
        {"weights": "w"},
        {"weights": "w @ w", "result": "s * 2"},
        {"options": "(donate_argnums=1) if False else jax.jit"},
        {"feeds": "w, s = step(w, s)\nw, s = step(w, s)\nw, s = step(w, s)"},
        {"feeds": "for _ in range(3):\n    w, t = step(w, s)"},
        {"feeds": "for _ in range(3):\n    s = jnp.zeros(())\n    w, s = step(w, s)"},
        {"mesh": "Mesh(np.array(jax.devices()[:1]), ('x',))"},
        {"start": "jnp.zeros(())\ns = jax.device_put(s, on())"},
        {"feeds": TURNS},
    ],
)
def test_when_it_is_said(parts: dict[str, str]) -> None:
    said, compiled = both(**parts)
    assert not said or compiled > 1


def test_where_arguments_are_placed() -> None:
    assert not both(options=PARTIAL.format("in_shardings=(on('x'), None)"))[0]
    assert both(options=PARTIAL.format("out_shardings=on()")) == (True, 2)


def test_both_pages_end_alike() -> None:
    assert of_pages("SHL619", "bool(np.allclose(bad.state['w'], good.state['w']))")
    assert of_pages("SHL619", "bad.train_step._cache_size(), good.train_step._cache_size()") == (2, 1)
