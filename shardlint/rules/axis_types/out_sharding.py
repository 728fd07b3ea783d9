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

from shardlint.laws.core.values import Mesh, Spec, entry_text
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import OperationUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import name_text, near_miss, size_text, sizes_text

#: What rules of their own report.
_ELSEWHERE = frozenset(
    {Cause.CONFLICT, Cause.AMBIGUOUS, Cause.UNSUPPORTED, Cause.OTHER_MESH, Cause.FORBIDDEN_COLLECTIVE}
)


def check(use: OperationUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an ``out_sharding=`` that the result cannot have."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause not in _ELSEWHERE:
        given = f" with out_sharding={use.out_sharding}" if isinstance(use.out_sharding, Spec) else ""
        yield Problem(f"{name_text(use.function)}{given}{_said(use, verdict)}", use.place)


def _said(use: OperationUse, verdict: Rejected) -> str:
    axis, dimension, size, ways = verdict.axis, verdict.dimension, verdict.size, verdict.ways
    match verdict.cause:
        case Cause.INDIVISIBLE if size is not None and ways is not None:
            along, would = f"{_entry(use, verdict)} ({size_text(ways)} devices)", sizes_text(size, ways)
            return (
                f": dimension {dimension} of the result has size {size_text(size)}, "
                f"which {along} does not divide" + (f"; {would} would be split" if would else "")
            )
        case Cause.TOO_LONG if size is not None:
            return f": the spec is longer than the rank of the result, {size_text(size)}; drop entries"
        case Cause.DUPLICATE_AXIS if axis is not None:
            return f' names "{axis}" twice; a mesh axis splits one dimension only'
        case Cause.UNKNOWN_AXIS if axis is not None:
            context = use.environment.context_mesh
            hint = near_miss(axis, context.names) if isinstance(context, Mesh) else ""
            return f' names "{axis}", which is no axis of the mesh{hint}'
        case Cause.UNCONSTRAINED:
            return f" leaves dimension {dimension} to the compiler; name an Explicit axis, or None"
        case Cause.NO_MESH:
            return " takes its mesh from the context, and none is set; set one with jax.set_mesh(mesh)"
        case Cause.OUT_SHARDING if axis is not None:
            return (
                f' names "{axis}", which is no Explicit axis; make the mesh with '
                "axis_types=(AxisType.Explicit, ...), or use with_sharding_constraint"
            )
    return f" wants {verdict.detail}"


def _entry(use: OperationUse, verdict: Rejected) -> str:
    """Return the axes of the dimension as the spec names them, or "its axes"."""
    entries = use.out_sharding.entries if isinstance(use.out_sharding, Spec) else ()
    dimension = verdict.dimension
    return (
        entry_text(entries[dimension]) if dimension is not None and dimension < len(entries) else "its axes"
    )


RULE = Rule(
    code="SHL706",
    name="out-sharding",
    summary="An out_sharding that the result cannot have",
    docs=__doc__,
    kinds=(OperationUse,),
    check=check,
)
