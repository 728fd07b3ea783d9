"""Generators and the loops over them: which items are met, and what they are, beside what CPython does.

Each program places batches of some sizes on 8 devices, in a generator; its consumer takes some of them. JAX
raises if and when a size is taken that 8 does not divide.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.checking import rejected
from support.sizes import size

from shardlint.model.uses import Placement

CASES = size("SHARDLINT_GENERATOR_CASES", 90, 90)
HEADER = """import collections, itertools
import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
sharding = NamedSharding(mesh, P("d"))
def put(n):
    return jax.device_put(np.ones((n, 2), np.float32), sharding)
def take(items, most):
    found = []
    for item in items:
        found.append(item)
        if len(found) == most:
            break
    return found
total, seen = 0, []
"""
GENERATORS = {
    "loop": "def batches(sizes):\n    for n in sizes:\n        yield put(n)",
    "while": "def batches(sizes):\n    i = 0\n    while i < len(sizes):\n        yield put(sizes[i])\n"
    "        i += 1",
    "from": "def inner(sizes):\n    for n in sizes:\n        yield put(n)\n"
    "def batches(sizes):\n    yield from inner(sizes[:1])\n    yield from inner(sizes[1:])",
    "class": "class Loader:\n    def __init__(self, sizes):\n        self.sizes = sizes\n"
    "    def __iter__(self):\n        for n in self.sizes:\n            yield put(n)\n"
    "def batches(sizes):\n    return Loader(sizes)",
    "some": "def batches(sizes):\n    for n in sizes:\n        if n > 16:\n            continue\n"
    "        yield put(n)",
    "stops": "def batches(sizes):\n    for n in sizes:\n        if n > 16:\n            return\n"
    "        yield put(n)",
    "tail": "def batches(sizes):\n    for n in sizes[:-1]:\n        yield put(n)\n    put(sizes[-1])",
    "ahead": "def inner(sizes):\n    for n in sizes:\n        yield put(n)\n"
    "def ahead(items):\n    queue = collections.deque()\n    def fill(n):\n"
    "        for x in itertools.islice(items, n):\n            queue.append(x)\n    fill(2)\n"
    "    while queue:\n        yield queue.popleft()\n        fill(1)\n"
    "def batches(sizes):\n    return ahead(iter(inner(sizes)))",
    "wrapped": "def inner(sizes):\n    for n in sizes:\n        yield n\n"
    "def batches(sizes):\n    for n in inner(sizes):\n        yield put(n)",
    "cycle": "def batches(sizes):\n    while True:\n        for n in sizes:\n            yield put(n)",
}  # fmt: skip
CONSUMERS = {
    "all": "for x in batches(SIZES):\n    total += x.shape[0]",
    "break": "for x in batches(SIZES):\n    total += x.shape[0]\n    if total >= 16:\n        break",
    "enumerate": "for i, x in enumerate(batches(SIZES)):\n    if i == N:\n        break\n"
    "    total += x.shape[0]",
    "zip": "for i, x in zip(range(N), batches(SIZES)):\n    total += x.shape[0] + i",
    "zip after": "for x, i in zip(batches(SIZES), range(N)):\n    total += x.shape[0] + i",
    "next": "it = iter(batches(SIZES))\nfor _ in range(N):\n    total += next(it).shape[0]",
    "next then all": "it = iter(batches(SIZES))\ntotal += next(it).shape[0]\n"
    "for x in it:\n    total += 10 * x.shape[0]",
    "first": "total += next(iter(batches(SIZES))).shape[0]",
    "islice": "for x in itertools.islice(batches(SIZES), N):\n    total += x.shape[0]",
    "rest": "it = iter(batches(SIZES))\nfor x in itertools.islice(it, N):\n    total += x.shape[0]\n"
    "for x in it:\n    total += 10 * x.shape[0]",
    "function": "total += sum(x.shape[0] for x in take(batches(SIZES), N))",
    "twice": "it = iter(batches(SIZES))\nfor x in it:\n    total += x.shape[0]\n"
    "for x in it:\n    total += 100",
    "never": "kept = batches(SIZES)",
}  # fmt: skip
FINITE = {
    "list": "total += len(list(batches(SIZES)))",
    "comprehension": "total += sum([x.shape[0] for x in batches(SIZES)])",
    "star": "total += len([*batches(SIZES)])",
    "unpack": "first, *rest = batches(SIZES)\ntotal += first.shape[0] + len(rest)",
    "sorted": "total += sorted(x.shape[0] for x in batches(SIZES))[0]",
    "numbered": "total += len(dict(enumerate(batches(SIZES))))",
}


def runs(text: str) -> tuple[str | None, int]:
    """What CPython and JAX do: the exception that ends the program, and the total."""
    variables: dict[str, Any] = {}
    try:
        exec(compile(text, "program.py", "exec"), variables)
    except Exception as problem:
        return type(problem).__name__, variables["total"]
    return None, variables["total"]


def rejected_placements(text: str) -> list[Placement]:
    """What we say is rejected."""
    return [use for use in rejected(text) if isinstance(use, Placement)]


@pytest.mark.parametrize("generator", GENERATORS)
def test_items(generator: str) -> None:
    """What is rejected is what JAX rejects; where nothing is, the total is the true one, if it is known."""
    rng = random.Random(generator)
    consumers = CONSUMERS | ({} if generator == "cycle" else FINITE)
    raised = known = 0
    for _ in range(CASES // len(GENERATORS)):
        consumer = rng.choice(list(consumers))
        if generator == "cycle" and consumer in ("all", "next then all", "rest", "twice"):
            continue
        sizes = [rng.choice((8, 8, 8, 16, 12, 24)) for _ in range(rng.randint(1, 4))]
        taken = consumers[consumer].replace("SIZES", str(sizes)).replace("N", str(rng.randint(1, 3)))
        text = f"{HEADER}{GENERATORS[generator]}\n{taken}\n"
        problem, total = runs(text)
        judged = f"{text}jax.device_put(np.ones((max(total, 1) * 8 + 1, 2), np.float32), sharding)\n"
        found = rejected_placements(judged)
        last = len(judged.splitlines())
        early = [use for use in found if use.place.resolve().line != last]
        ends = [
            use.shape[0] for use in found if use.place.resolve().line == last and isinstance(use.shape, tuple)
        ]
        if generator == "cycle":
            # One of several sizes is an error only if all of them are.
            assert problem is None or problem == "IndivisibleError", text
            early = [use for use in early if use.variants == 1]
            assert not early or problem, text
            continue
        if problem in (None, "IndivisibleError"):
            assert bool(early) == (problem is not None), f"{text}\n{problem}"
        raised += problem == "IndivisibleError"
        if problem is None and ends and isinstance(ends[0], int):
            known += 1
            assert ends == [max(total, 1) * 8 + 1], (text, total, ends)
    assert generator == "cycle" or (raised and known)


def test_mesh_of_the_loop() -> None:
    """The body runs under the mesh that is set where items are asked for, not where the generator is made."""
    text = """import jax, jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P
mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Explicit,))
def batches(n):
    for _ in range(n):
        yield jax.sharding.reshard(jnp.ones((12, 2)), P(SPEC))
made = batches(2)
with jax.set_mesh(mesh):
    for x in made:
        x + 1
"""
    for spec, raises in (("None", False), ("'d'", True)):
        program = text.replace("SPEC", spec)
        assert bool(rejected_placements(program)) == raises
        if raises:
            with pytest.raises(ValueError, match="divi"):
                exec(compile(program, "program.py", "exec"), {})
        else:
            exec(compile(program, "program.py", "exec"), {})
