"""# out-sharding (SHL706)

## What it does
Finds ``out_sharding=`` that a result cannot have.

## Why is this bad?
``out_sharding=`` becomes part of the result's type. It may name Explicit axes of the context's mesh only,
each once, and they must divide the result's dimensions. What lies along Auto axes is the compiler's, and
is asked for by `with_sharding_constraint`.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def project(x, kernel):
    return jnp.einsum("bd,df->bf", x, kernel, out_sharding=P("data", "model"))  # raises ValueError


project(jnp.ones((8, 16)), jnp.ones((16, 30)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def project(x, kernel):
    return jnp.einsum("bd,df->bf", x, kernel, out_sharding=P("data", "model"))


project(jnp.ones((8, 16)), jnp.ones((16, 32)))
```

## What JAX says
`ValueError` for axes that are not Explicit or do not divide the dimension, `DuplicateSpecError` for an
axis named twice (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.verdicts import Cause, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.wording import name_text, size_text, sizes_text
from shardlint.uses import OperationUse

#: What rules of their own report.
_ELSEWHERE = frozenset({Cause.CONFLICT, Cause.AMBIGUOUS, Cause.UNSUPPORTED, Cause.OTHER_MESH})


def check(use: OperationUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an ``out_sharding=`` that the result cannot have."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause not in _ELSEWHERE:
        yield Problem(f"{_said(use, verdict)}; {_way_out(verdict)}", use.place)


def _said(use: OperationUse, verdict: Rejected) -> str:
    spec = "" if use.out_sharding is None else f"out_sharding={use.out_sharding}, "
    size = "" if verdict.size is None else f" of size {size_text(verdict.size)}"
    where = "" if verdict.dimension is None else f": dimension {verdict.dimension} of the result{size}"
    along = f' would lie along "{verdict.axis}"' if verdict.axis is not None and where else ""
    return f"{spec}{name_text(use.function)} wants {verdict.detail}{where}{along}"


def _way_out(verdict: Rejected) -> str:
    if verdict.cause is Cause.OUT_SHARDING:
        return "make the mesh with axis_types=(AxisType.Explicit, ...), or use with_sharding_constraint"
    if verdict.size is not None and verdict.ways is not None:
        return f"{sizes_text(verdict.size, verdict.ways) or 'a multiple of them'} would be split"
    return "name other axes"


RULE = Rule(
    code="SHL706",
    name="out-sharding",
    summary="An out_sharding that the result cannot have",
    docs=__doc__,
    kinds=(OperationUse,),
    check=check,
)
