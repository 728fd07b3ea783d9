"""Meshes of rearranged devices in programs: their order is numpy's, and JAX's verdict depends on it."""

from __future__ import annotations

import random
from typing import Any

import jax
import numpy as np
from support.checking import errors
from support.sizes import size

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(jax.devices())
first = Mesh(np.array(jax.devices()), ("x",))
second = Mesh(({expression}).reshape(-1), ("x",))
put = lambda mesh: jax.device_put(jnp.ones(8), NamedSharding(mesh, P("x")))
jax.jit(lambda a, b: a + b)(put(first), put(second))
"""
STEPS = (
    "{}.reshape(2, 4)", "{}.reshape(4, 2)", "{}.reshape(2, 2, 2)", "{}.reshape(4, 2, order='F')", "{}.T",
    "{}.transpose()", "np.transpose({})", "np.flip({})", "np.flip({}, 0)", "np.flip({}, axis=-1)",
    "np.flipud({})", "np.roll({}, 2)", "np.roll({}, 1, axis=0)", "np.roll({}, -1, 0)", "{}[::-1]",
    "{}[..., ::-1]", "{}[None]", "{}[[1, 0]]", "{}.ravel()", "{}.flatten('F')", "{}.ravel(order='F')",
    "np.moveaxis({}, 0, -1)", "np.swapaxes({}, 0, -1)", "{}.swapaxes(0, -1)", "np.expand_dims({}, 0)",
    "{}.squeeze()", "np.concatenate(np.split({}, 2)[::-1])", "np.concatenate(np.array_split({}, 3))",
    "np.stack([{0}[0], {0}[1]])", "np.concatenate([{0}[1:], {0}[:1]])", "np.stack(list({}), axis=-1)",
    "np.reshape({}, (2, -1))", "np.concatenate([{0}[::2], {0}[1::2]], axis=0)", "{}.copy()", "{}[:, ::-1]",
)  # fmt: skip


def _expression(rng: random.Random) -> str:
    found = "d"
    for step in rng.choices(STEPS, k=rng.randint(1, 3)):
        found = step.format(found)
    return found


def _order(expression: str) -> list[int] | None:
    """Return the devices in numpy's order, None where numpy raises or some are missing."""
    try:
        found: Any = eval(expression, {"np": np, "d": np.arange(8)})
    except (ValueError, IndexError):
        return None
    order = [int(one) for one in np.ravel(found)]
    return order if sorted(order) == list(range(8)) else None


def _raises(expression: str) -> bool:
    try:
        exec(PROGRAM.format(expression=expression), {})
    except ValueError as error:
        assert "incompatible devices" in str(error)
        return True
    return False


def test_orders_of_devices_are_numpys() -> None:
    rng = random.Random("orders of devices")
    seen: dict[bool, int] = {True: 0, False: 0}
    assert jax.device_count() == 8
    for number in range(size("SHARDLINT_DEVICE_PROGRAMS", 120, 400)):
        expression = _expression(rng)
        order = _order(expression)
        if order is None:
            continue
        differs = order != list(range(8))
        assert bool(errors(PROGRAM.format(expression=expression))) == differs, expression
        if number % 10 == 0:
            assert _raises(expression) == differs, expression
        seen[differs] += 1
    assert min(seen.values()) > 10
