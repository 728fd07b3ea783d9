"""What a method that nobody calls knows of ``self``: what the constructor sets, until something else may."""

from __future__ import annotations

import pytest
from support.checking import uses

from shardlint.laws.core.values import Spec
from shardlint.model.uses import Placement

HEAD = """\
import jax, jax.numpy as jnp
from dataclasses import dataclass
from typing import Any
from flax import linen as nn, nnx
from jax.sharding import PartitionSpec as P
"""
CONSTRUCTED = """\
class Layer{base}:
    def __init__(self, config, width=8):
        self.config = config
        self.spec = P("data")
        self.weight = jnp.zeros((width, 4, 2))
{more}
    def __call__(self, x):
        return jax.lax.with_sharding_constraint({array}, self.spec)
"""


def placed(program: str) -> list[Placement]:
    """The constraints of a program."""
    return [use for use in uses(HEAD + program) if isinstance(use, Placement)]


def specs(base: str = "", more: str = "", array: str = "x", after: str = "") -> list[object]:
    """The specs that `Layer.__call__` meets, None where they are not known."""
    program = CONSTRUCTED.format(base=base, more=more, array=array) + after
    return [use.spec if isinstance(use.spec, Spec) else None for use in placed(program)]


@pytest.mark.parametrize("base", ["", "(nnx.Module)", "(object)"])
def test_what_the_constructor_sets_is_known(base: str) -> None:
    assert specs(base) == [Spec(("data",))]
    (use,) = placed(CONSTRUCTED.format(base=base, more="", array="self.weight"))
    assert isinstance(use.shape, tuple)
    assert use.shape[1:] == (4, 2)


@pytest.mark.parametrize(
    ("more", "after"),
    [
        ("    def reset(self):\n        self.spec = P()\n", ""),
        ("    def reset(self):\n        self.spec, y = P(), 1\n", ""),
        ("    def reset(self, specs):\n        for self.spec in specs:\n            pass\n", ""),
        ("    def reset(self, name, value):\n        setattr(self, name, value)\n", ""),
        ("", "class Other(Layer):\n    def __init__(self):\n        self.spec = P()\n"),
        ("", "class Other(Layer):\n    spec = P()\n"),
        ("", "def change(layer):\n    layer.spec = P()\n"),
    ],
)
def test_what_something_else_may_set_is_not(more: str, after: str) -> None:
    assert specs("", more, after=after) == [None]


@pytest.mark.parametrize(
    "sets",
    [
        "    def use(self, spec):\n        self.spec = spec\n",
        "    def __init__(self, spec=None):\n        self.spec = spec\n",
        "    def __init__(self):\n        self.spec = None\n",
    ],
)
def test_an_attribute_of_the_class_that_its_methods_set_is_not(sets: str) -> None:
    program = f"""\
class Layer:
    spec = P("data", "data")
{sets}
    def __call__(self, x):
        return jax.lax.with_sharding_constraint(x, self.spec)
"""
    assert [isinstance(use.spec, Spec) for use in placed(program)] == [False]


@pytest.mark.parametrize(
    "head", ["class Layer(NamedTuple):", "@dataclass\nclass Layer:", "class Layer(nn.Module):"]
)
def test_a_field_with_a_default_is_not(head: str) -> None:
    program = f"""\
from typing import NamedTuple
{head}
    spec: Any = P("data", "data")
    @property
    def placed(self):
        return jax.lax.with_sharding_constraint(jnp.zeros(8), self.spec)
"""
    assert [isinstance(use.spec, Spec) for use in placed(program)] == [False]


def test_what_waits_to_be_filled_is_not() -> None:
    program = """\
class Layer:
    def __init__(self):
        self.spec = None
        self.layers = []
    def __call__(self, x):
        y = jax.lax.with_sharding_constraint(x, self.spec)
        return jax.lax.with_sharding_constraint(jnp.zeros(len(self.layers)), P("data"))
"""
    first, second = placed(program)
    assert not isinstance(first.spec, Spec)
    assert isinstance(second.shape, tuple)
    assert second.shape != (0,)


def test_linen_sets_up_before_a_method_runs() -> None:
    program = """\
class Layer(nn.Module):
    config: Any
    def setup(self):
        self.spec = P("data", None, None)
        self.dense = nn.Dense(16)
    def __call__(self, x):
        batch, length, width = x.shape
        return jax.lax.with_sharding_constraint(self.dense(x), self.spec)
"""
    use = placed(program)[-1]
    assert use.spec == Spec(("data", None, None))
    assert isinstance(use.shape, tuple)
    assert use.shape[2] == 16


def test_one_method_does_not_see_what_another_did() -> None:
    program = """\
class Layer:
    def __init__(self):
        self.shape = [3, 4]
    def first(self, f):
        f(self.shape)
    def second(self):
        return jax.lax.with_sharding_constraint(jnp.zeros(tuple(self.shape)), P("data"))
"""
    assert [use.shape for use in placed(program)] == [(3, 4)]


def test_a_constructor_that_never_ends_is_given_up() -> None:
    program = """\
class Layer:
    def __init__(self, n):
        self.spec = P("data")
        self.inner = Layer(n - 1)
    def __call__(self, x):
        return jax.lax.with_sharding_constraint(x, self.spec)
"""
    assert len(placed(program)) == 1
