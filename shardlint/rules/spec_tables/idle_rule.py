"""# idle-rule (SHL612)

## What it does
Finds a pattern in a table of specs that matches none of the names it is tried on, because an earlier and
wider pattern takes its names, or while a name like those that the table is for is left to no pattern. In a
dict of specs (`SPECS.get(name, P())`) it finds a name that is never asked for, while arrays of two dimensions
or more are left whole for names that the dict does not have. Of linen's logical axis rules it finds one that
stands behind another of the same name which has no mesh axis: an information.

## Why is this bad?
Where the first match counts, the rule of all kernels before that of one kernel is the rule of both. And where
a layer was renamed, its pattern stays behind: the parameter gets the spec that is left over, which is mostly
`P()`, and is whole on every device.

## Example
```python
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
RULES = [
    (r".*kernel", P()),
    (r"attn/kernel", P(None, "model")),
]


def spec_of(name):
    return next((spec for pattern, spec in RULES if re.search(pattern, name)), P())


params = {"attn/kernel": jnp.ones((64, 64)), "mlp/kernel": jnp.ones((64, 64)), "mlp/bias": jnp.ones(64)}
params = {name: jax.device_put(x, NamedSharding(mesh, spec_of(name))) for name, x in params.items()}
```

## Use instead
```python
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
RULES = [
    (r"attn/kernel", P(None, "model")),
    (r".*kernel", P()),
]


def spec_of(name):
    return next((spec for pattern, spec in RULES if re.search(pattern, name)), P())


params = {"attn/kernel": jnp.ones((64, 64)), "mlp/kernel": jnp.ones((64, 64)), "mlp/bias": jnp.ones(64)}
params = {name: jax.device_put(x, NamedSharding(mesh, spec_of(name))) for name, x in params.items()}
```

## What JAX says
Nothing: it is given the specs, and not the table (JAX 0.10.2). Reported are patterns with a spec that splits
something. A pattern that matches nothing, with a name left over that ends as those do for which it was
written, is an information: the name may be left on purpose. So is a name of a dict; nothing is said of a dict
that is asked for a name which is not known, or by functions that nothing calls.

## References
- https://github.com/jax-ml/jax/issues/16679
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.findings import Group, Severity
from shardlint.model.spans import Span
from shardlint.model.uses import LogicalAxesUse, PatternUse, Placement, SpecUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings


def check(
    uses: Sequence[PatternUse | SpecUse | Placement | LogicalAxesUse], settings: RuleSettings
) -> Iterable[tuple[Use, Problem]]:
    """Report each pattern, or name, with a spec that splits something, and that decides about no name."""
    tables: dict[tuple[Span, str], list[PatternUse]] = {}
    lookups: list[PatternUse] = []
    specs = _Specs()
    whole = False
    for use in uses:
        if isinstance(use, LogicalAxesUse):
            yield from _shadowed(use)
        elif isinstance(use, Placement):
            whole = whole or _is_left_whole(use)
        elif isinstance(use, SpecUse):
            specs.add(use)
        elif use.method == "get":
            lookups.append(use)
        else:
            tables.setdefault((use.site.resolve(), use.place.path), []).append(use)
    for tries in tables.values():
        if not any(one.subject is None or one.environment.entry is not None for one in tries):
            yield from _idle(_Table(tries, specs))
    if whole:
        yield from _never_asked_for(lookups, specs)


def _shadowed(use: LogicalAxesUse) -> Iterator[tuple[Use, Problem]]:
    """Yield a logical axis rule behind one of the same name that has no mesh axis."""
    if use.mistake is Mistake.SHADOWED:
        text = (
            f'this rule is not reached: an earlier one maps "{use.text}" to no mesh axis, and the first rule '
            "of a name counts"
        )
        yield use, Problem(text, use.place, severity=Severity.INFO)


class _Specs:
    """The specs that a program writes, by line."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, int, int | None], dict[int, Spec]] = {}

    def add(self, use: SpecUse) -> None:
        """Add a spec at its place."""
        span = use.place.resolve()
        self._lines.setdefault((use.place.path, span.line, span.cell), {})[span.column] = use.spec

    def after(self, use: PatternUse, lines: int = 1) -> Spec | None:
        """Return the first spec from a pattern on, on its line, or on one of the next ``lines``."""
        span = use.place.resolve()
        for below in range(lines + 1):
            held = self._lines.get((use.place.path, span.line + below, span.cell), {})
            columns = [column for column in held if below or column >= span.column]
            if columns:
                return held[min(columns)]
        return None


def _is_left_whole(use: Placement) -> bool:
    """Return whether an array of two dimensions or more is placed whole on a mesh of several devices."""
    mesh, spec = use.mesh, use.spec
    if not isinstance(mesh, Mesh) or not isinstance(spec, Spec) or not isinstance(use.shape, tuple):
        return False
    several = any(size != 1 for size in mesh.sizes)
    return several and len(use.shape) > 1 and all(entry is None for entry in spec.entries)


def _never_asked_for(lookups: Sequence[PatternUse], specs: _Specs) -> Iterator[tuple[Use, Problem]]:
    """Yield each name of a dict of specs that is never looked up, where other names are left to a default."""
    rows: dict[tuple[str, Span], list[PatternUse]] = {}
    for one in lookups:
        rows.setdefault((one.place.path, one.place.resolve()), []).append(one)
    for tries in rows.values():
        use = tries[0]
        spec = specs.after(use, lines=0)
        open_ = any(one.matched or one.subject is None or one.environment.entry is not None for one in tries)
        if open_ or spec is None or not any(entry_axes(entry) for entry in spec.entries):
            continue
        names = sorted({one.subject for one in tries if one.subject is not None})
        left = f'"{names[0]}"' if len(names) == 1 else f'"{names[0]}" and {len(names) - 1} more'
        yield (
            use,
            Problem(
                f'"{use.pattern}" is never asked for, and {left}, which the table does not have, '
                f"{'is' if len(names) == 1 else 'are'} left to a default: was it renamed?",
                use.place,
                severity=Severity.INFO,
            ),
        )


class _Table:
    """The patterns of one table, in the order of their first tries, with the names that each matched."""

    def __init__(self, tries: Sequence[PatternUse], specs: _Specs) -> None:
        self.rows: dict[str, PatternUse] = {}
        self.tried: dict[str, set[str]] = {}
        self.taken: dict[str, set[str]] = {}
        for one in tries:
            self.rows.setdefault(one.pattern, one)
            assert one.subject is not None
            self.tried.setdefault(one.pattern, set()).add(one.subject)
            self.taken.setdefault(one.pattern, set()).update([one.subject] if one.matched else [])
        self.specs = {pattern: specs.after(use) for pattern, use in self.rows.items()}

    def splits(self, pattern: str) -> bool:
        """Return whether the spec beside a pattern splits something."""
        spec = self.specs[pattern]
        return spec is not None and any(entry_axes(entry) for entry in spec.entries)

    def would_match(self, pattern: str, names: set[str]) -> set[str]:
        """Return the names that a pattern matches, as it is tried; names longer than its own are left out."""
        longest = 2 * max(map(len, self.tried[pattern]))
        match = getattr(re.compile(pattern), self.rows[pattern].method)
        return {name for name in names if len(name) <= longest and match(name) is not None}


def _idle(table: _Table) -> Iterator[tuple[Use, Problem]]:
    matched = {name for pattern in table.rows if table.splits(pattern) for name in table.taken[pattern]}
    endings = set(map(_ending, matched))
    specific = [pattern for pattern, use in table.rows.items() if not use.anything]
    every = {name for names in table.tried.values() for name in names}
    left = sorted(every - {name for pattern in specific for name in table.taken[pattern]})
    for pattern, use in table.rows.items():
        if table.taken[pattern] or use.anything or not table.splits(pattern):
            continue
        hidden = _hidden(table, pattern)
        if hidden is not None:
            earlier, name = hidden
            yield (
                use,
                Problem(
                    f'this pattern is not reached: "{earlier}", which stands before it, takes "{name}"',
                    use.place,
                    severity=Severity.WARNING,
                ),
            )
            continue
        ours = [name for name in left if name in table.tried[pattern]]
        like = [name for name in ours if _ending(name) in endings and _ending(name) in pattern]
        if like and len(every) > 1:
            yield (
                use,
                Problem(
                    f"this pattern matches none of the {len(every)} names that are tried, and no pattern "
                    f'takes "{like[0]}": was it renamed?',
                    use.place,
                    severity=Severity.INFO,
                ),
            )


def _hidden(table: _Table, pattern: str) -> tuple[str, str] | None:
    """Return a wider pattern with another spec that takes names which a pattern would match, and such a
    name."""
    for earlier, names in table.taken.items():
        if table.specs[earlier] is None or not table.tried[pattern] <= table.tried[earlier]:
            continue
        ours = table.would_match(pattern, names - table.tried[pattern])
        if ours and ours < names and table.specs[earlier] != table.specs[pattern]:
            return earlier, min(ours)
    return None


def _ending(name: str) -> str:
    """Return the last key of a path: ``kernel`` of ``mlp/kernel`` and of ``['mlp']['kernel']``."""
    return (re.findall(r"\w+", name) or [""])[-1]


RULE = ProjectRule(
    code="SHL612",
    name="idle-rule",
    summary="A pattern, or a name, in a table of specs decides about no name",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(PatternUse, SpecUse, Placement, LogicalAxesUse),
    check=check,
    rests_on_absence=True,
)
