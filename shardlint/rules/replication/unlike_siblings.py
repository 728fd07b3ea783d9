"""# unlike-siblings (SHL610)

## What it does
Finds arrays of a tree that lie whole on every device beside siblings of the same shape that are split, and
query, key and value kernels, or those of a gate and its input, that are split crosswise. And optimizer state
that lies whole on every device though the parameters that it is for are split.

## Why is this bad?
Kernels that stand beside each other and have one shape are laid out alike, as a rule. Where a table of
patterns says how, and one of them is renamed, its pattern matches no more: the rule that catches the rest
takes it, and every device holds it whole and computes with all of it.

## Example
```python
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
RULES = [(r"(query|key|value)/kernel", P(None, "model")), (r".*", P())]


def sharding_of(path, _):
    name = "/".join(key.key for key in path)
    return NamedSharding(mesh, next(spec for pattern, spec in RULES if re.search(pattern, name)))


kernel = jnp.ones((64, 64))
params = {name: {"kernel": kernel} for name in ("q_proj", "key", "value")}
params = jax.device_put(params, jax.tree_util.tree_map_with_path(sharding_of, params))
```

## Use instead
```python
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
RULES = [(r"(q_proj|key|value)/kernel", P(None, "model")), (r".*", P())]


def sharding_of(path, _):
    name = "/".join(key.key for key in path)
    return NamedSharding(mesh, next(spec for pattern, spec in RULES if re.search(pattern, name)))


kernel = jnp.ones((64, 64))
params = {name: {"kernel": kernel} for name in ("q_proj", "key", "value")}
params = jax.device_put(params, jax.tree_util.tree_map_with_path(sharding_of, params))
```

## What JAX says
Nothing: each array may have a layout of its own (JAX 0.10.2). Siblings have two dimensions or more, stand in
one call (or are the leaves for which `jax.tree.map` makes it), and differ in one name of their paths, the
last or the one before it. Of two that differ it is an information, since either may be meant.

## References
- https://github.com/keras-team/keras-hub/pull/2810
- https://github.com/AI-Hypercomputer/maxtext/issues/556
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import Placement, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings

_APIS = (Api.DEVICE_PUT, Api.JIT_IN, Api.JIT_OUT, Api.CONSTRAINT)
#: A key of a path in words: ``['kernel']``, ``.kernel``, ``[0]``; a name may be a path (``attn/kernel``).
_KEYS = re.compile(r"\['([^']+)'\]|\.(\w+)|\[(\d+)\]")


def check(uses: Sequence[Placement], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each whole array among siblings most of which are split."""
    calls: dict[tuple[Any, ...], dict[str, Placement]] = {}
    for use in uses:
        if _splits(use) is not None and use.variants == 1:
            calls.setdefault((use.place, use.environment.entry, use.mesh), {}).setdefault(use.subject, use)
    reported: set[int] = set()
    for tree in calls.values():
        for siblings in _families(tree.values()):
            for use, other in _crosswise(siblings):
                if id(use) not in reported:
                    reported.add(id(use))
                    yield use, _crossed(use, other)
            whole = [use for use in siblings if not _splits(use)]
            split = [use for use in siblings if _splits(use)]
            if not whole or len(split) < len(whole):
                continue
            for use in whole:
                if id(use) not in reported:
                    reported.add(id(use))
                    yield use, _problem(use, split[0], len(split) > len(whole))
    yield from _states(calls)


def _states(calls: Mapping[tuple[Any, ...], Mapping[str, Placement]]) -> Iterator[tuple[Use, Problem]]:
    """Yield the first array of each tree that lies whole, with the keys and shapes of one that is split."""
    parameters: dict[Hashable, tuple[int, Placement]] = {}
    for (_, *where), tree in calls.items():
        for use in tree.values():
            if _splits(use):
                depth, names = _names(use)
                parameters.setdefault((tuple(where), names, use.shape), (depth, use))
    for (_, *where), tree in calls.items():
        whole = []
        for use in tree.values():
            depth, names = _names(use)
            if depth < 2 or not names or _splits(use) is not False:
                continue
            # What is as deep in its tree is no state of the other one.
            above, held = parameters.get((tuple(where), names, use.shape), (depth, use))
            if above < depth:
                whole.append((use, held))
        if whole:
            use, held = whole[0]
            more = f", as {len(whole) - 1} more do" if len(whole) > 1 else ""
            yield (
                use,
                Problem(
                    f"{use.subject} lies whole on every device{more}; {held.subject}, of the same name and "
                    f"shape {use.shape}, is split by {held.spec}: state for a parameter is laid out as it is",
                    use.place,
                    severity=Severity.INFO,
                ),
            )


#: Names of what optimizers keep for each parameter.
_STATES = frozenset({"mu", "nu", "trace", "ema", "momentum", "sum_of_squares"})


def _keys(subject: str) -> tuple[str | int, ...]:
    """Return the keys of an array's path in its tree."""
    path = _KEYS.findall(subject.split(" of `")[0])
    return tuple(int(index) if index else one or other for one, other, index in path)


def _names(use: Placement) -> tuple[int, tuple[str | int, ...]]:
    """Return the path of an array from its first name on, and how many keys there are before it.

    An optimizer's state is a tuple of tuples, with a parameter's names at their ends; what has other names in
    front is another tree.
    """
    keys = _keys(use.subject)
    depth = next((i for i, key in enumerate(keys) if not isinstance(key, int)), len(keys))
    depth += depth < len(keys) and keys[depth] in _STATES
    return depth, keys[depth:]


def _families(tree: Iterable[Placement]) -> Iterator[list[Placement]]:
    """Yield the arrays of a tree that are siblings of each other."""
    families: dict[Hashable, list[Placement]] = {}
    for use in tree:
        path = _path(use.subject)
        for at in (len(path) - 1, len(path) - 2):
            # Arrays of different trees are no siblings: parameters and the moments of an optimizer, say. Nor
            # are items of a list, which may be the leaves of any tree.
            if at > 0 and isinstance(path[at], str):
                key = (at, path[:at], path[at + 1 :], use.shape)
                families.setdefault(key, []).append(use)
    yield from (family for family in families.values() if len(family) > 1)


#: Kernels that read the same input, and are laid out alike: by their names without ``_proj`` and ``w``.
_ROLES = ({"q", "k", "v", "query", "key", "value"}, {"gate", "up", "i_0", "i_1", "1", "3"})


def _crosswise(siblings: Sequence[Placement]) -> Iterator[tuple[Placement, Placement]]:
    """Yield each array with a sibling of its role that is split by the same axes in the other order: of both,
    the one that fewer arrays of the role are laid out like, or the later one."""
    paths = [
        {str(key).removesuffix("_proj").removeprefix("w") for key in _path(use.subject)} for use in siblings
    ]
    for role in _ROLES:
        alike = [use for use, path in zip(siblings, paths, strict=True) if len(path & role) == 1]
        layouts = [_entries(use) for use in alike]
        for (use, ours), (other, theirs) in itertools.combinations(zip(alike, layouts, strict=True), 2):
            if ours != theirs and ours == (*theirs[:-2], theirs[-1], theirs[-2]):
                rarer = layouts.count(ours) < layouts.count(theirs)
                yield (use, other) if rarer else (other, use)


def _entries(use: Placement) -> tuple[object, ...]:
    assert isinstance(use.spec, Spec) and isinstance(use.shape, tuple)
    return (*use.spec.entries, *(None,) * (len(use.shape) - len(use.spec.entries)))[: len(use.shape)]


def _crossed(use: Placement, other: Placement) -> Problem:
    return Problem(
        f"{use.subject} is split by {use.spec}, and {other.subject}, which reads the same input, "
        f"crosswise by {other.spec}",
        use.place,
        severity=Severity.INFO,
    )


def _path(subject: str) -> tuple[str | int, ...]:
    """Return the name of an array's tree, and the keys of its path there; indices are numbers."""
    tree = re.split(r"[\[.]", subject.split(" of `")[0].strip("`"))[0]
    parts = ([key] if isinstance(key, int) else key.split("/") for key in _keys(subject))
    return (tree, *(part for key in parts for part in key))


def _splits(use: Placement) -> bool | None:
    """Return whether some axis splits an array of two dimensions or more; None where that is not known."""
    mesh, spec = use.mesh, use.spec
    if not isinstance(mesh, Mesh) or not isinstance(spec, Spec) or not isinstance(use.verdict, Accepted):
        return None
    if use.api not in _APIS or not isinstance(use.shape, tuple) or len(use.shape) < 2:
        return None
    axes = [axis for entry in spec.entries for axis in entry_axes(entry)]
    if any(entry is not None and not entry_axes(entry) for entry in spec.entries):
        return None
    sizes = [mesh.size_of(axis) for axis in axes if axis in mesh.names]
    known = len(sizes) == len(axes) and all(isinstance(size, int) for size in (*sizes, *use.shape))
    return any(size != 1 for size in sizes) if known else None


def _problem(use: Placement, other: Placement, most: bool) -> Problem:
    return Problem(
        f"{use.subject} lies whole on every device; {other.subject}, of the same shape {use.shape}, is split "
        f"by {other.spec}. Where patterns choose the specs, does one still match its name?",
        use.place,
        severity=None if most else Severity.INFO,
    )


RULE = ProjectRule(
    code="SHL610",
    name="unlike-siblings",
    summary="An array lies whole on every device beside siblings of its shape that are split",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(Placement,),
    check=check,
)
