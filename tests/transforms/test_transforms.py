"""Function transforms, composed at random: shapes and dtypes beside what `jax.eval_shape` says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import jax
import pytest
from probing import SCALE, Tally, compare, described, evaluate
from transform_programs import Grower

from shardlint.inference.domain.values import Array, DictValue, ListValue, Tuple, Value
from shardlint.inference.overlays.jax.transforms.donation import INSIDE
from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import Unknown
from shardlint.model.memory_uses import MADE_IN_JIT

BATCHES, CASES = 6, 40


def real_result(text: str, args: tuple[Any, ...]) -> Any:
    """What the program's probe is given when JAX traces it. Raises what JAX raises."""
    found: dict[int, Any] = {}

    def run(*arrays: Any) -> None:
        names: dict[str, Any] = {f"x{i}": array for i, array in enumerate(arrays)}
        names["probe"] = lambda number, value: found.__setitem__(number, jax.tree.map(described, value))
        exec(compile(text, "program.py", "exec"), names)

    jax.eval_shape(run, *args)
    return found[0]


class Inputs:
    """Abstract values for the arguments of one program."""

    def __init__(self, rng: random.Random, kind: str) -> None:
        self.random, self.kind = rng, kind
        self.sizes: dict[str, int] = {}

    def of(self, tree: Any) -> Value:
        """The argument: exact, with some sizes open, or with shapes that are not known."""
        if isinstance(tree, dict):
            return DictValue({key: self.of(item) for key, item in tree.items()})
        if isinstance(tree, tuple):
            return Tuple(tuple(map(self.of, tree)))
        if isinstance(tree, list):
            return ListValue(list(map(self.of, tree)))
        if self.kind == "unknown" and self.random.random() < 0.5:
            unknown: list[Value] = [Unknown("an argument"), Array(None, str(tree.dtype)), Array(None)]
            return self.random.choice(unknown)
        return Array(tuple(map(self.size, tree.shape)), str(tree.dtype))

    def size(self, size: int) -> Any:
        if self.kind == "exact" or self.random.random() < 0.4:
            return size
        names = [name for name, held in self.sizes.items() if held == size]
        if names and self.random.random() < 0.5:
            return symbol(self.random.choice(names))
        name = f"n{len(self.sizes)}"
        self.sizes[name] = size
        return symbol(name, 1)


def programs(batch: int) -> Iterator[tuple[int, str, tuple[Any, ...], Any]]:
    """Programs of a batch that JAX can trace, with what they take and give."""
    for seed in range(round(batch * CASES * SCALE), round((batch + 1) * CASES * SCALE)):
        rng = random.Random(seed)
        text, args = Grower(seed).grow(rng.randint(1, 4))
        try:
            yield seed, text, args, real_result(text, args)
        except Exception:
            continue


@pytest.mark.parametrize("batch", range(BATCHES))
def test_transforms_agree_with_jax(batch: int) -> None:
    tallies = {kind: Tally() for kind in ("exact", "symbolic", "unknown")}
    cases = 0
    for seed, text, args, real in programs(batch):
        cases += 1
        for kind, tally in tallies.items():
            inputs = Inputs(random.Random(seed), kind)
            found = evaluate(text, {f"x{i}": inputs.of(arg) for i, arg in enumerate(args)})
            # Nothing is wrong with any of them.
            assert {getattr(use, "function", use) for use in found.uses} <= {MADE_IN_JIT, INSIDE, "jax.jit"}
            try:
                compare(found.probes[0], real, inputs.sizes, tally)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {kind}: {error}\n{text}\n{args}\n{real}") from None
    print(cases, tallies)
    assert cases > 0.8 * CASES * SCALE
    assert tallies["exact"].unknown < 0.05 * tallies["exact"].leaves
    assert tallies["symbolic"].unknown < 0.25 * tallies["symbolic"].leaves
