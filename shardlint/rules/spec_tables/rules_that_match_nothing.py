"""# rules-that-match-nothing (SHL603)

## What it does
Finds tables of regular expressions and specs of which no expression matches any of the names that the program
tries them on.

## Why is this bad?
What no rule matches gets the spec that is left over, which for most programs is `P()`: every parameter is
whole on every device, and nothing fails until memory runs out. Most often the names have another
separator, or a layer was renamed.

## Example
```python
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

RULES = [
    (r"attn\\.out\\.kernel", P("model", None)),
    (r"mlp\\.(up|gate)\\.kernel", P(None, "model")),
]
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def spec_of(name):
    for pattern, spec in RULES:
        if re.search(pattern, name):
            return spec
    return P()


params = {"attn/out/kernel": jnp.ones((64, 64)), "mlp/up/kernel": jnp.ones((64, 256))}
params = {name: jax.device_put(x, NamedSharding(mesh, spec_of(name))) for name, x in params.items()}
```

## Use instead
```python
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

RULES = [
    (r"attn/out/kernel", P("model", None)),
    (r"mlp/(up|gate)/kernel", P(None, "model")),
]
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def spec_of(name):
    for pattern, spec in RULES:
        if re.search(pattern, name):
            return spec
    return P()


params = {"attn/out/kernel": jnp.ones((64, 64)), "mlp/up/kernel": jnp.ones((64, 256))}
params = {name: jax.device_put(x, NamedSharding(mesh, spec_of(name))) for name, x in params.items()}
```

## What JAX says
Nothing: `P()` is a spec like any other (JAX 0.10.2). It is reported only where two names or more are tried,
all of them known, and a spec that splits something stands beside one of the expressions. Expressions that
match everything (`.*`) do not count.

## References
- https://github.com/jax-ml/jax/issues/16679
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shardlint.laws.core.values import entry_axes
from shardlint.model.findings import Group, Severity
from shardlint.model.spans import Span
from shardlint.model.uses import PatternUse, SpecUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings

#: A table: where its expressions are tried, and the file that they are written in.
_Table = tuple[Span, str]


def check(uses: Sequence[PatternUse | SpecUse], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each table of patterns none of which matches any name."""
    tables: dict[_Table, list[PatternUse]] = {}
    splitting: dict[str, list[Span]] = {}
    for use in uses:
        if isinstance(use, PatternUse) and use.method == "get":
            continue
        if isinstance(use, PatternUse):
            tables.setdefault((use.site.resolve(), use.place.path), []).append(use)
        elif any(entry_axes(entry) for entry in use.spec.entries):
            splitting.setdefault(use.place.path, []).append(use.place.resolve())
    for (_, path), tries in tables.items():
        if any(one.subject is None or one.environment.entry is not None for one in tries):
            continue
        specific = [one for one in tries if not one.anything]
        names = list(dict.fromkeys(one.subject for one in specific))
        first = next(_beside(specific, splitting.get(path, ())), None)
        if first is not None and len(names) > 1 and not any(one.matched for one in specific):
            yield first, _problem(first, len({one.pattern for one in specific}), names)


def _beside(tries: Iterable[PatternUse], specs: Iterable[Span]) -> Iterator[PatternUse]:
    """Yield the tries whose pattern has one of the specs on its own line or the next one."""
    lines = {(spec.line - below, spec.cell) for spec in specs for below in (0, 1)}
    for one in tries:
        span = one.place.resolve()
        if (span.line, span.cell) in lines:
            yield one


def _problem(first: PatternUse, count: int, names: Sequence[str | None]) -> Problem:
    none = f"none of these {count} patterns matches" if count > 1 else "this pattern does not match"
    return Problem(
        f'{none} any of the {len(names)} names that are tried, such as "{names[0]}": '
        "their specs are used for nothing",
        first.place,
        severity=Severity.WARNING,
    )


RULE = ProjectRule(
    code="SHL603",
    name="rules-that-match-nothing",
    summary="No pattern in a table of specs matches any name",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(PatternUse, SpecUse),
    check=check,
    rests_on_absence=True,
)
