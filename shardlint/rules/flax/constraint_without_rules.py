"""# constraint-without-rules (SHL511)

## What it does
Finds calls of a linen model, compiled under a mesh of several devices, in which `nn.with_logical_constraint`
finds no logical axis rules, while the program sets rules around other calls of the same constraint.

## Why is this bad?
Without rules the constraint returns its array as it is. The rules live in a context variable: a function that
was compiled outside of `nn.logical_axis_rules` has none of them, and the compiler is left to guess how
activations are laid out.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.with_logical_constraint(nn.Dense(16)(x), ("batch", None))


with jax.set_mesh(mesh), nn.logical_axis_rules((("batch", "x"),)):
    variables = jax.jit(Layer().init)(jax.random.key(0), jnp.ones((8, 4)))
with jax.set_mesh(mesh):
    y = jax.jit(Layer().apply)(variables, jnp.ones((8, 4)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.with_logical_constraint(nn.Dense(16)(x), ("batch", None))


with jax.set_mesh(mesh), nn.logical_axis_rules((("batch", "x"),)):
    variables = jax.jit(Layer().init)(jax.random.key(0), jnp.ones((8, 4)))
    y = jax.jit(Layer().apply)(variables, jnp.ones((8, 4)))
```

## What JAX says
Nothing: the activations are laid out as the compiler likes (JAX 0.10.2, Flax 0.12.8). What `init` computes
from activations is dropped, and it is not reported; nor are tests.

## References
- https://github.com/AI-Hypercomputer/maxtext/pull/5088
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse, Fact, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings

_WITH, _WITHOUT = "linen.with_logical_constraint(rules)", "linen.with_logical_constraint(no rules)"


def check(uses: Sequence[CallUse], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each place where a mesh is set without the rules that a constraint has elsewhere."""
    ruled = {use.place.resolve() for use in uses if use.function == _WITH}
    reported = set()
    for use in uses:
        if use.function != _WITHOUT or use.place.resolve() not in ruled:
            continue
        place = use.facts[0].place if use.facts else use.place
        if place.resolve() not in reported:
            reported.add(place.resolve())
            text = (
                "no logical axis rules are set here, and nn.with_logical_constraint does nothing then; "
                "other calls have them: enter nn.logical_axis_rules around this one too"
            )
            yield use, Problem(text, place, related=(Fact("a constraint without effect", use.place),))


RULE = ProjectRule(
    code="SHL511",
    name="constraint-without-rules",
    summary="A logical constraint finds no rules in a call, and has them in others",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
