"""The losses of optax: shapes and dtypes beside optax itself."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import optax
import pytest
from overlay_harness import resolve
from support.checking import uses
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import External
from shardlint.inference.overlays.optax import losses, wrappers
from shardlint.inference.overlays.registry import canonical
from shardlint.model.uses import Placement

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
loss = {name}(jnp.ones({first}, jnp.{dtype}), jnp.ones({second}, jnp.{other}))
jax.device_put(loss, NamedSharding(mesh, P()))
"""
DTYPES = ("float32", "bfloat16", "float16")


def random_arguments(rng: random.Random, name: str) -> tuple[tuple[int, ...], str, tuple[int, ...], str]:
    """Shapes and dtypes of predictions and targets; some broadcast."""
    first = tuple(rng.choice((1, 3, 5)) for _ in range(rng.randint(1, 3)))
    if name.endswith("integer_labels"):
        return first, rng.choice(DTYPES), first[:-1], "int32"
    broadcasts = "error" not in name and "l2" not in name
    second = tuple(1 if broadcasts and rng.random() < 0.2 else size for size in first)
    return first, rng.choice(DTYPES), second, rng.choice(DTYPES)


@asks_jax("overlays")
def real_loss(
    name: str, first: tuple[int, ...], dtype: str, second: tuple[int, ...], other: str
) -> tuple[tuple[int, ...], str]:
    """Return the shape and dtype of a loss of arrays."""
    arguments = (jnp.ones(first, jnp.dtype(dtype)), jnp.ones(second, jnp.dtype(other)))
    loss = jax.eval_shape(getattr(optax, name.removeprefix("optax.")), *arguments)
    return loss.shape, str(loss.dtype)


@pytest.mark.parametrize("name", losses.TABLE)
def test_losses_agree_with_optax(name: str) -> None:
    rng = random.Random(name)
    for _ in range(20):
        first, dtype, second, other = random_arguments(rng, name)
        text = PROGRAM.format(name=name, first=first, second=second, dtype=dtype, other=other)
        (placed,) = (use for use in uses(text) if isinstance(use, Placement))
        assert (placed.shape, placed.dtype) == real_loss(name, first, dtype, second, other), text


OTHER_NAMES = losses.ALIASES | wrappers.ALIASES


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_of_the_same_functions(name: str) -> None:
    assert resolve(name) is resolve(OTHER_NAMES[name])
    assert canonical(name) == External(OTHER_NAMES[name])


#: Calls with options, and the shape of what they return of arrays of the shape (4, 8).
OPTIONS = {
    "optax.huber_loss(a, a, delta=0.5)": (4, 8),
    "optax.huber_loss(predictions=a, targets=a)": (4, 8),
    "optax.sigmoid_focal_loss(a, a, alpha=0.25, gamma=1.0)": (4, 8),
    "optax.smooth_labels(a, 0.1)": (4, 8),
    "optax.kl_divergence(log_predictions=a, targets=a)": (4,),
    "optax.kl_divergence(a, a, axis=0)": None,
    "optax.safe_softmax_cross_entropy(logits=a, labels=a)": (4,),
}


@asks_jax("overlays")
def real_shape(call: str) -> tuple[int, ...]:
    """Return the shape of what a call returns."""
    shape: tuple[int, ...] = eval(call, {"optax": optax, "a": jnp.ones((4, 8))}).shape
    return shape


@pytest.mark.parametrize("call", OPTIONS)
def test_options_of_losses(call: str) -> None:
    header, _, end = PROGRAM.partition("loss = {name}")
    text = f"{header}a = jnp.ones((4, 8))\nloss = {call}{end[end.index(chr(10)) :]}"
    (placed,) = (use for use in uses(text) if isinstance(use, Placement))
    assert (placed.shape if isinstance(placed.shape, tuple) else None) == OPTIONS[call]
    assert OPTIONS[call] in (None, real_shape(call))
