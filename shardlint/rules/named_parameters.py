"""Parameters that a model gives names, found again by path and shape where their arrays have none."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Spec, entry_axes
from shardlint.model.uses import ParameterUse, Use

#: An array of a tree: the steps of its path, and its shape.
Leaf = tuple[tuple[str, ...], Shape]


class NamedParameters:
    """The parameters among some uses that have names, if no other one of the same path and shape has none."""

    def __init__(self, uses: Iterable[Use]) -> None:
        named: dict[object, ParameterUse] = {}
        bare: set[object] = set()
        for use in uses:
            if isinstance(use, ParameterUse) and use.path:
                if _has_names(use):
                    named.setdefault((use.path, use.shape), use)
                else:
                    bare.add((use.path, use.shape))
        self._named = {key: use for key, use in named.items() if key not in bare}

    def of(self, leaf: Leaf) -> ParameterUse | None:
        """Return the parameter whose path is the longest end of that of an array; None if there is none."""
        steps, shape = leaf
        ends = ((steps[at:], shape) for at in range(len(steps)))
        return next((self._named[end] for end in ends if end in self._named), None)


def _has_names(use: ParameterUse) -> bool:
    return isinstance(use.names, Spec) and any(map(entry_axes, use.names.entries))
