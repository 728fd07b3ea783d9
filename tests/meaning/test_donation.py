"""Donated arguments: reported where the compiled code gives their buffers to no result."""

from __future__ import annotations

import random
import re
import warnings

import pytest
from consequences import found, value
from support.sizes import size

from shardlint.model.findings import Severity

CASES = size("SHARDLINT_DONATION_CASES", 24, 10)
HEADER = """import functools
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
a, b = jnp.ones((64, 64)), jnp.ones((64, 32))
"""
#: Results of a step of x and y, which need both.
RESULTS = (
    "x * y.sum()", "y * x.sum()", "x.sum() + y.sum()", "(x + y.sum()).astype(jnp.bfloat16)",
    "x[:32] + y.sum()",
    "(x * y.sum()).astype(jnp.int32)", "(x * y.sum()).reshape(-1)", "jnp.concatenate([x + y.sum(), x], 1)",
    "{'a': y + x.sum(), 'b': [x.sum()]}",
)  # fmt: skip


def aliased(program: str) -> set[int]:
    """Return the arguments whose buffers the compiled code gives to results."""
    with warnings.catch_warnings(action="ignore"):
        head = value(program, "f.lower(a, b).compile().as_text().splitlines()[0]")
    return {int(number) for number in re.findall(r"\((\d+), \{[\d, ]*\}, (?:may|must)-alias\)", head)}


@pytest.mark.parametrize("seed", range(CASES))
def test_reported_where_nothing_is_aliased(seed: int) -> None:
    rng = random.Random(seed)
    results = rng.sample(RESULTS, rng.randint(1, 3))
    donated = rng.choice(("0", "1", "(0, 1)"))
    program = (
        f"{HEADER}def step(x, y):\n    return {', '.join(results)}\n"
        f"f = jax.jit(step, donate_argnums={donated})\n"
    )
    given = {int(number) for number in re.findall(r"\d", donated)}
    reported = found(f"{program}f(a, b)\n", "SHL606")
    lost = given - aliased(program)
    names = {"xy".index(finding.message[1]) for finding in reported}
    # Findings at one place are one; of buffers of one size, the compiler may leave some unused all the same.
    assert names <= lost and bool(reported) == bool(names), program


@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_used_afterwards(seed: int) -> None:
    rng = random.Random(seed)
    results, donated = rng.sample(RESULTS, rng.randint(1, 3)), rng.choice(("0", "1", "(0, 1)"))
    layout = rng.choice(("", ", out_shardings=on()", ", in_shardings=on(), out_shardings=on()"))
    lying = "a, b = jax.device_put((a, b), on())\n" if layout else ""
    program = (
        f"{HEADER}{lying}def step(x, y):\n    return {', '.join(results)}\n"
        f"f = jax.jit(step, donate_argnums={donated}{layout})\nf(a, b)\n"
    )
    with warnings.catch_warnings(action="ignore"):
        deleted = value(program, "[name for name, one in {'a': a, 'b': b}.items() if one.is_deleted()]")
    for name in "ab":
        findings = found(f"{program}next = {name} + 1\n", "SHL613")
        errors = [one for one in findings if one.severity is Severity.ERROR]
        assert not errors or name in deleted, program


@pytest.mark.parametrize(
    ("before", "after"), [("'x'", "'y'"), ("'x'", "None, 'x'"), ("'x'", ""), ("'x'", "'x'")]
)
def test_results_in_other_layouts(before: str, after: str) -> None:
    program = (
        f"{HEADER}f = jax.jit(lambda x, y: x * y.sum(), donate_argnums=(0,), out_shardings=on({after}))\n"
        f"a, b = jax.device_put(a, on({before})), jax.device_put(b, on())\n"
    )
    assert bool(found(f"{program}f(a, b)\n", "SHL606")) == (0 not in aliased(program))


def test_what_is_not_known_is_not_reported() -> None:
    step = "@functools.partial(jax.jit, donate_argnames='x')\ndef step(x, y):\n    return {}\n"
    for result, reported in (("x.sum() + y.sum()", True), ("open(x)", False), ("[x, y][y.sum()]", False)):
        program = f"{HEADER}{step.format(result)}step(a, b)\n"
        assert bool(found(program, "SHL606")) == reported
    assert not found(f"{HEADER}{step.format('y.sum()')}def run(x):\n    step(x, b)\n", "SHL606")
