"""einops: random patterns, right and wrong, beside einops itself."""

from __future__ import annotations

import random

import einops
import numpy as np
import pytest
from support.checking import uses

from shardlint.model.uses import Placement

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np, einops
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
"""
#: Many calls stand in one program: what they cost is the import of einops.
CALL = "jax.device_put({call}, NamedSharding(mesh, P()))\n"
NAMES = ("batch", "t", "h", "w", "c", "d_model")


class Pattern:
    """A random pattern with the sizes of its axes."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.axes = list(NAMES[: rng.randint(1, 5)])
        self.sizes = {axis: rng.choice((1, 2, 3, 4)) for axis in self.axes}
        self.dotted = rng.random() < 0.3
        self.rest = tuple(rng.choice((2, 3)) for _ in range(rng.randint(0, 2))) if self.dotted else ()

    def groups(self, axes: list[str]) -> list[list[str]]:
        """Axes in dimensions of one or of several."""
        found: list[list[str]] = []
        for axis in axes:
            if found and self.rng.random() < 0.3 and found[-1] != ["..."] and axis != "...":
                found[-1].append(axis)
            else:
                found.append([axis])
        return found

    def side(self, groups: list[list[str]]) -> str:
        words = [group[0] if len(group) == 1 else f"({' '.join(group)})" for group in groups]
        if self.rng.random() < 0.15:
            words.insert(self.rng.randint(0, len(words)), self.rng.choice(("1", "()")))
        return " ".join(words)

    def shape(self, side: str) -> tuple[int, ...]:
        """The shape that a left side describes."""
        dims: list[int] = []
        for word in side.replace("(", "( ").replace(")", " )").split():
            if word == "(":
                dims.append(1)
                self.inside = True
            elif word == ")":
                self.inside = False
            elif word == "...":
                dims.extend(self.rest)
            elif getattr(self, "inside", False):
                dims[-1] *= self.sizes.get(word, 1)
            else:
                dims.append(self.sizes.get(word, 1))
        return tuple(dims)

    def lengths(self, groups: list[list[str]]) -> dict[str, int]:
        """Sizes for all but one axis of a dimension of several, at times for more, or too few."""
        given: dict[str, int] = {}
        for group in groups:
            spare = self.rng.randrange(len(group)) if self.rng.random() < 0.9 else -1
            for number, axis in enumerate(group):
                if len(group) > 1 and number != spare:
                    given[axis] = self.sizes[axis]
        if given and self.rng.random() < 0.2:
            given.pop(self.rng.choice(list(given)))
        if given and self.rng.random() < 0.15:
            given[self.rng.choice(list(given))] += 1
        return given


def random_call(rng: random.Random) -> tuple[str, str]:
    """A call of einops in Python, and the same on numpy arrays of its own."""
    pattern, function = Pattern(rng), rng.choice(("rearrange", "rearrange", "reduce", "repeat"))
    axes = [*pattern.axes, *(["..."] if pattern.dotted else [])]
    rng.shuffle(axes)
    before = pattern.groups(axes)
    left = pattern.side(before)
    given, kept = pattern.lengths(before), axes[:]
    rng.shuffle(kept)
    if function == "reduce":
        kept = kept[: rng.randint(0, len(kept))]
    if function == "repeat":
        kept.insert(rng.randint(0, len(kept)), "extra")
        given["extra"] = 2
    if rng.random() < 0.08:
        kept = kept[1:]
    right = pattern.side(pattern.groups(kept))
    shape = pattern.shape(left)
    if rng.random() < 0.08:
        shape = (*shape, 3)
    how = ", 'max'" if function == "reduce" else ""
    options = "".join(f", {name}={size}" for name, size in given.items())
    return f"einops.{function}({{}}{how and ''}, {left + ' -> ' + right!r}{how}{options})", repr(shape)


def shape_in_einops(call: str, shape: str) -> tuple[int, ...] | None:
    """The shape that einops gives, None where it refuses the call."""
    try:
        return eval(call.format(f"np.ones({shape})"), {"einops": einops, "np": np}).shape
    except Exception:
        return None


@pytest.mark.parametrize("seed", range(4))
def test_patterns_agree_with_einops(seed: int) -> None:
    rng = random.Random(seed)
    calls = [random_call(rng) for _ in range(150)]
    text = PROGRAM + "".join(CALL.format(call=call.format(f"jnp.ones({shape})")) for call, shape in calls)
    placed = {use.place.resolve().line: use.shape for use in uses(text) if isinstance(use, Placement)}
    rejected = 0
    for line, (call, shape) in enumerate(calls, PROGRAM.count("\n") + 1):
        real, ours = shape_in_einops(call, shape), placed[line]
        rejected += real is None
        assert ours == real if real is not None else not isinstance(ours, tuple), (call, shape)
    assert 15 < rejected < 100


def test_the_pattern_tells_the_rank_of_what_it_takes() -> None:
    text = """
import jax, einops
from jax.sharding import NamedSharding, PartitionSpec as P
def f(x, mesh):
    y = einops.rearrange(x, "b t (h d) -> b h t d", h=8)
    jax.device_put(x, NamedSharding(mesh, P()))
    jax.device_put(y, NamedSharding(mesh, P()))
    z = einops.einsum(y, y, "b head t dim, b head s dim -> b head t s")
    jax.device_put(z, NamedSharding(mesh, P()))
"""
    shapes = [use.shape for use in uses(text) if isinstance(use, Placement)]
    assert [len(shape) for shape in shapes if isinstance(shape, tuple)] == [3, 4, 4]
