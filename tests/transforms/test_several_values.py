"""Values that may be several, through transformed functions: what is said of them holds in JAX for each."""

from __future__ import annotations

import itertools
import random

import pytest
from probing import SCALE
from support.checking import check, severities
from support.jax_answers import asks_jax

HEAD = """import random
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def placed(x):
    return jax.device_put(x, NamedSharding(mesh, P("model")))


def with_rule(f):
    f = jax.custom_vjp(f)
    f.defvjp(lambda *args: (f(*args), None), lambda held, given: (given, None))
    return f

"""
#: What decides in the program, where shardlint reads it; in JAX it is each of the two.
UNDECIDED = "random.random() < 0.5"
FLAGS = ("one", "other")
WRAPPERS = ("jax.jit", "jax.checkpoint", "with_rule", "jax.named_call", "")
#: Arguments: rows of 4, 6, 8 or 12 where they are arrays.
GIVEN = (
    "jnp.zeros(8) if {flag} else jnp.zeros(6)",
    "jnp.zeros(8) if {flag} else jnp.zeros(12)",
    "jnp.zeros(4) if {flag} else jnp.ones(4)",
    "jnp.zeros(6)",
    "jnp.zeros(8)",
)
OPTIONAL = (*GIVEN, "None if {flag} else jnp.zeros(4)", "jnp.zeros(6) if {flag} else None", "None")
RESULTS = (
    "x if y is None else jnp.concatenate([x, y])",
    "x if y is None else y",
    "jnp.concatenate([x, x]) if {flag} else x",
    "x[:4] if {flag} else (x if y is None else jnp.concatenate([y, y]))",
    "x if {flag} else jnp.concatenate([x, jnp.zeros(2)])",
    "jnp.concatenate([x, jnp.zeros(0 if y is None else 2)])",
)
#: What is done with it: as it is, in a tuple, in a dict, or decided upon once more.
USES = (
    ("return {result}", "inner(a, b)"),
    ("return {result}, x", "inner(a, b)[0]"),
    ("return {{'x': {result}}}", "inner(a, b)['x']"),
    ("if {flag}:\n        return {result}\n    return {other}", "inner(a, b)"),
    ("return {result}", "inner(a, b) if {flag} else inner(b if b is not None else a, None)"),
)


def program(chance: random.Random) -> str:
    """A program whose flags are `one` and `other`."""

    def flag() -> str:
        return chance.choice(FLAGS)

    returned, called = chance.choice(USES)
    result, other = (chance.choice(RESULTS).format(flag=flag()) for _ in range(2))
    body = returned.format(result=result, other=other, flag=flag())
    wrapper, deeper = chance.choice(WRAPPERS), chance.random() < 0.3
    lines = [
        "def body(x, y):",
        f"    {body}",
        f"def deep(x, y):\n    return {chance.choice(WRAPPERS)}(body)(x, y)" if deeper else "deep = body",
        f"inner = {wrapper}(deep)" if wrapper else "inner = deep",
        f"a = {chance.choice(GIVEN).format(flag=flag())}",
        f"b = {chance.choice(OPTIONAL).format(flag=flag())}",
        f"placed(jax.jit(lambda a, b: {called.format(flag=flag())})(a, b))",
    ]
    return "\n".join(lines) + "\n"


@asks_jax("transforms")
def raises(text: str, flags: tuple[bool, ...]) -> bool:
    """Whether JAX refuses the program where the flags are these."""
    decided = "".join(f"{name} = {value}\n" for name, value in zip(FLAGS, flags, strict=True))
    try:
        exec(f"{HEAD}{decided}{text}", {"__name__": "program"})
    except ValueError as error:
        assert "evenly divide" in str(error), text
        return True
    return False


@pytest.mark.parametrize("seed", range(round(4 * SCALE)))
def test_what_is_said_of_several_values_holds_for_each(seed: int) -> None:
    chance, found, silent, right, loud = random.Random(seed), 0, 0, 0, 0
    undecided = "".join(f"{name} = {UNDECIDED}\n" for name in FLAGS)
    for _ in range(25):
        text = program(chance)
        verdicts = [raises(text, flags) for flags in itertools.product((True, False), repeat=len(FLAGS))]
        findings = check(f"{HEAD}{undecided}{text}")
        # An error always raises.
        assert all(verdicts) or "error" not in severities(findings), (text, findings)
        found, right = found + bool(findings), right + (not any(verdicts) and not findings)
        silent += any(verdicts) and not findings
        loud += bool(findings) and not any(verdicts)
    # Little that is refused escapes, and nearly nothing is said of what always runs: only that one flag is
    # asked in two functions, or once more behind a branch that returned, is not followed.
    assert found > 2 * silent
    assert right > 10 * loud
