"""Random functions that catch what JAX raises: what is known of their results is what CPython computes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from jax._src.named_sharding import DuplicateSpecError
from support.evaluation import evaluate_module
from support.sizes import size

from shardlint.inference.domain.values import Const

SEEDS = range(size("SHARDLINT_CAUGHT_EXCEPTIONS", 4, 40))
#: Functions for each seed.
PROGRAMS = 100
HEAD = """import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("x",))


def raising(does):
    if does:
        return jax.lax.axis_index("q")
    return 7


def placed(number):
    spec = P("x", None, *["x"][: number % 2])
    return jax.device_put(np.ones((number % 3, 2)), NamedSharding(mesh, spec)).ndim


def f():
    n = 1
"""
CLASSES = ("NameError", "KeyError", "(NameError, ValueError)", "Exception", "ValueError", "TypeError")
SIMPLE = (
    "n += 3", "n *= 2", 'jax.lax.axis_index("a")', 'n = jax.lax.axis_size("b")', "n += raising(0)",
    "n += raising(1)", "return n + 5", 'NamedSharding(mesh, P("y"))', "NamedSharding(mesh, P('x', 'x'))",
    'n += jax.device_put(np.ones(3), NamedSharding(mesh, P("x", None))).ndim', "n += placed(n)",
    'jax.eval_shape(jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P("x", None))), np.ones(3))',
)  # fmt: skip


def block(chance: random.Random, depth: int, loops: bool) -> list[str]:
    """The lines of a random block, at most three blocks deep."""
    lines: list[str] = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.randrange(10) if depth < 3 else 9
        if kind < 4:
            heads = ["try:", *(f"except {one}:" for one in chance.sample(CLASSES, chance.randint(1, 2)))]
            heads += ["else:"] if chance.random() < 0.3 else []
            for head in heads:
                lines += [head, *inner(chance, depth, loops)]
            lines += ["finally:", "    n += 100"] if chance.random() < 0.2 else []
        elif kind == 4:
            lines += [f"for _ in range({chance.randint(1, 3)}):", *inner(chance, depth, True)]
        elif kind == 5:
            lines += [f"if n % {chance.randint(2, 3)}:", *inner(chance, depth, loops)]
        else:
            lines.append(chance.choice((*SIMPLE, "break", "continue") if loops else SIMPLE))
    return lines


def inner(chance: random.Random, depth: int, loops: bool) -> list[str]:
    return [f"    {line}" for line in block(chance, depth + 1, loops)]


@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_those_of_jax(seed: int) -> None:
    chance, known = random.Random(seed), 0
    for _ in range(PROGRAMS):
        lines = [*block(chance, 0, False), "return n"]
        program = HEAD + "".join(f"    {line}\n" for line in lines) + "\n\ny = f()\n"
        names: dict[str, Any] = {}
        try:
            exec(program, names)
        except (NameError, ValueError, DuplicateSpecError):
            continue
        said = evaluate_module(program).variables.get("y")
        if isinstance(said, Const):
            known += 1
            assert said.value == names["y"], program
    assert known > 3
