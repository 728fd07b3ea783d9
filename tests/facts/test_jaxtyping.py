# ruff: noqa: E501
"""Annotations of jaxtyping: their shapes beside jaxtyping's own checks, and programs that have them."""

from __future__ import annotations

import random

import jaxtyping
import numpy as np
import pytest
from facts_harness import check, interpreter, run_in_jax
from support.checking import codes

from shardlint.inference.domain.values import Array
from shardlint.inference.facts.descriptions import Description, fit
from shardlint.inference.overlays.jaxtyping import words_of
from shardlint.laws.core.size_syntax import ArrayPattern
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Span

#: Words whose meaning is exact, and those that only bound what is accepted.
EXACT = ["a", "b", "_", "_a", "2", "3", "4", "d=4", "...", "n=a"]
LOOSE = [*EXACT, "#a", "#3", "*a", "*#b", "?a", "2*a", "a+1", "a-1", "min(a,b)", "a//2"]
WRONG = ["a,b", "a#", "**a", "##a", "..a...", "_4", "*4", "#_"]


def accepts(text: str, shape: tuple[int, ...]) -> bool | None:
    """Whether jaxtyping accepts an array of the shape, None where it refuses the annotation."""
    try:
        described = jaxtyping.Float[np.ndarray, text]
        return isinstance(np.zeros(shape, np.float32), described)
    except Exception:
        return None


def described(text: str) -> Description | None:
    words = words_of(text)
    place = Span("empty.py", 1, 1, 1, 1)
    return None if words is None else Description(ArrayPattern(words), place, "x", annotation=True)


def random_case(rng: random.Random, words: list[str]) -> tuple[str, tuple[int, ...]]:
    text = " ".join(rng.choice(words) for _ in range(rng.randint(0, 4)))
    return text, tuple(rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(0, 4)))


def likely_shape(rng: random.Random, text: str) -> tuple[int, ...]:
    """A shape that fits more often than one drawn blindly."""
    sizes = {"a": rng.choice([1, 2, 3, 4]), "b": rng.choice([1, 2, 3, 4])}
    found: list[int] = []
    for word in text.split():
        name = word.rpartition("=")[2].lstrip("#?")
        if word == "..." or word.startswith("*"):
            found += [rng.choice([1, 2, 3])] * rng.randint(0, 2)
        elif name.isdigit():
            found.append(int(name))
        else:
            found.append(sizes.get(name, rng.choice([1, 2, 3, 4])))
    return tuple(found)


def test_exact_words_mean_what_jaxtyping_checks() -> None:
    rng = random.Random(4)
    outcomes = {True: 0, False: 0}
    for number in range(6_000):
        text, shape = random_case(rng, EXACT)
        if number % 2:
            shape = likely_shape(rng, text)
        theirs, ours = accepts(text, shape), described(text)
        assert (theirs is None) == (ours is None), text
        if theirs is None or ours is None:
            continue
        outcomes[theirs] += 1
        assert (fit(interpreter(), ours, Array(shape)).wrong is None) == theirs, (text, shape)
    assert min(outcomes.values()) > 1_000


def test_what_jaxtyping_accepts_is_never_contradicted() -> None:
    rng = random.Random(5)
    accepted = 0
    for number in range(12_000):
        text, shape = random_case(rng, LOOSE)
        if number % 4:
            shape = likely_shape(rng, text)
        ours = described(text)
        if not accepts(text, shape) or ours is None:
            continue
        accepted += 1
        where = interpreter()
        assert fit(where, ours, Array(shape)).wrong is None, (text, shape)
        # What is filled in of an unknown array agrees with every array that is accepted.
        guessed = fit(interpreter(), ours, Unknown("anything")).value
        assert isinstance(guessed, Array)
        if guessed.shape is not None:
            assert len(guessed.shape) == len(shape), (text, shape)
            for one, size in zip(guessed.shape, shape, strict=True):
                assert not isinstance(one, int) or one == size, (text, shape)
            meanings = {str(a): n for a, n in zip(guessed.shape, shape, strict=True)}
            assert all(meanings[str(a)] == n for a, n in zip(guessed.shape, shape, strict=True)), (
                text,
                shape,
            )
    assert accepted > 2_000


@pytest.mark.parametrize("text", WRONG)
def test_nothing_is_read_of_what_jaxtyping_refuses(text: str) -> None:
    assert accepts(text, (2,)) is None
    ours = described(text)
    assert ours is None or ours.pattern.sizes in (("_",), ("...",))


TYPES = "from jaxtyping import Array, Bool, Float, Int, Scalar, jaxtyped\n"
MESH = 'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))\n'


def put(name: str, *entries: str | None) -> str:
    return f"jax.device_put({name}, NamedSharding(mesh, P{entries!r}))\n"


#: name, program, how its function is called, whether that raises about sharding
PROGRAMS: list[tuple[str, str, str, bool]] = [
    ("size", f"def f(x: Float[Array, 'b 10']):\n    {put('x', None, 'model')}", "f(jnp.ones((8, 10)))", True),
    ("good size", f"def f(x: Float[Array, 'b 12']):\n    {put('x', None, 'model')}", "f(jnp.ones((8, 12)))", False),
    ("open size", f"def f(x: Float[Array, 'b d']):\n    {put('x', None, 'model')}", "f(jnp.ones((8, 8)))", False),
    ("rank", f"def f(x: Float[Array, 'd']):\n    {put('x', None, 'model')}", "f(jnp.ones(8))", True),
    ("open rank", f"def f(x: Float[Array, '*b d']):\n    {put('x', None, 'model')}", "f(jnp.ones((8, 8)))", False),
    ("scalar", f"def f(x: Scalar):\n    {put('x', 'model')}", "f(jnp.ones(()))", True),
    ("broadcast", f"def f(x: Float[Array, '#8']):\n    {put('x', 'model')}", "f(jnp.ones(8))", False),
    ("alias", f"Row = Float[Array, '6']\ndef f(x: Row):\n    {put('x', 'model')}", "f(jnp.ones(6))", True),
    ("nested", f"Row = Float[Array, '6']\ndef f(x: Float[Row, 'b']):\n    {put('x', None, 'model')}", "f(jnp.ones((8, 6)))", True),
    ("numpy", f"def f(x: Float[np.ndarray, '6']):\n    {put('x', 'model')}", "f(np.ones(6))", True),
    ("result", f"def g(x) -> Float[Array, '6']:\n    return x.anything\ndef f(x):\n    {put('g(x)', 'model')}", "f(__import__('types').SimpleNamespace(anything=jnp.ones(6)))", True),
    ("variable", f"def f(x):\n    y: Float[Array, '6'] = x.anything\n    {put('y', 'model')}", "f(__import__('types').SimpleNamespace(anything=jnp.ones(6)))", True),
    ("wrong about what is known", f"def f():\n    y: Float[Array, '6'] = jnp.ones(8)\n    {put('y', 'model')}", "f()", False),
    ("wrong about a caller's", f"def f(x: Float[Array, '6']):\n    {put('x', 'model')}\nf(jnp.ones(8))", "", False),
    ("decorated", f"@jaxtyped(typechecker=None)\ndef f(x: Float[Array, '6']):\n    {put('x', 'model')}", "f(jnp.ones(6))", True),
    ("field", f"import dataclasses\n@dataclasses.dataclass\nclass A:\n    w: Float[Array, '6']\n    def f(self):\n        {put('self.w', 'model')}", "A(jnp.ones(6)).f()", True),
    ("product", f"def f(x: Float[Array, 'd'], y: Float[Array, '4*d']):\n    {put('y', 'model')}", "f(jnp.ones(3), jnp.ones(12))", False),
    ("no array", f"class Named: pass\ndef f(x: Float[Named, '6']):\n    {put('x', 'model')}", "f(jnp.ones(8))", False),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str | None]:
    return run_in_jax([(name, f"{TYPES}{MESH}{text}\n{call}", "") for name, text, call, _ in PROGRAMS])


@pytest.mark.parametrize(("name", "text", "call", "raises"), PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_programs(name: str, text: str, call: str, raises: bool, outcomes: dict[str, str | None]) -> None:
    found = codes(check(f"{TYPES}{MESH}{text}"))
    assert (outcomes[name] is not None) == raises
    assert bool(found) == raises, found
