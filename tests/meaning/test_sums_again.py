"""Sums of what was summed before, in loops and outside: reported where the numbers are others."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
x, w = jnp.arange(1.0, 25.0), jnp.arange(8.0)
def on(body, *args, checked=False):
    specs = (P("m"), P(("d", "m")))[: len(args)]
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=checked)(*args)
def scanned(step, x, length=3):
    return lax.scan(lambda c, one: (step(c, one), None), 0.0, x[:length])[0]
def looped(step, x):
    return lax.fori_loop(0, len(x), lambda i, c: step(c, x[i]), 0.0)
def until(step, x):
    return lax.while_loop(lambda s: s[0] < len(x), lambda s: (s[0] + 1, step(s[1], x[s[0]])), (0, 0.0))[1]
def scaled(step, x):
    return scanned(step, x) / 4
"""
#: Steps of a running total, and whether a later round sums it again.
STEPS: dict[str, bool] = {
    "lambda c, one: lax.psum(c + one, 'm')": True,
    "lambda c, one: lax.psum(one + c + 0, 'm')": True,
    "lambda c, one: c + lax.psum(one, 'm')": False,
    "lambda c, one: lax.psum(c / 4 + one, 'm')": False,
    "lambda c, one: lax.psum(one + c / lax.axis_size('m'), 'm')": False,
    "lambda c, one: c + lax.psum(one, ('m',))": False,
}
LOOPS = ("scanned", "looped", "until")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("checked", (False, True))
def test_a_running_total(loop: str, step: str, checked: bool) -> None:
    program = f"{HEADER}y = on(lambda x: {loop}({step}, x * 1.0), x[:12], checked={checked})\n"
    wrong = not value(program, "bool(np.allclose(y, x[:12].sum()))")
    assert wrong == STEPS[step]
    assert bool(found(program, "SHL318")) == wrong, program


#: Values outside of loops, what they should be, and whether a sum is summed again.
PROGRAMS: dict[str, tuple[str, bool]] = {
    "on(lambda x: lax.psum(lax.psum(x.sum(), 'm') + x.sum(), 'm'), x)": ("2 * x.sum()", True),
    "on(lambda x: lax.psum(x.sum(), 'm') + lax.psum(x.sum(), 'm'), x)": ("2 * x.sum()", False),
    "on(lambda x: lax.pmean(lax.psum(x.sum(), 'm') + x.sum(), 'm'), x)": ("1.25 * x.sum()", False),
    "on(lambda x, w: lax.psum(lax.psum(x.sum(), 'd') + w.sum(), 'd'), x, w)": ("None", True),
    "on(lambda x: scanned(lambda c, one: lax.psum(c + one, 'm'), x, 1), x)": ("x[::6].sum()", False),
}


@pytest.mark.parametrize("call", PROGRAMS)
def test_outside_of_loops(call: str) -> None:
    meant, again = PROGRAMS[call]
    program = f"{HEADER}y = {call}\n"
    if meant != "None":
        assert value(f"{program}z = {meant}\n", "bool(np.allclose(y, z))") != again
    found_ = found(program, "SHL318") + found(program, "SHL309")
    assert bool(found_) == again, program
