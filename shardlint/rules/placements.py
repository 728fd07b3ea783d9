"""Questions that several rules ask of placements."""

from __future__ import annotations

from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.uses import Placement


def splits(use: Placement) -> bool | None:
    """Return whether some axis splits an array; None where that is not known."""
    mesh, spec = use.mesh, use.spec
    if not isinstance(mesh, Mesh) or not isinstance(spec, Spec) or not isinstance(use.verdict, Accepted):
        return None
    axes = [axis for entry in spec.entries for axis in entry_axes(entry) if axis in mesh.names]
    return any(equal(mesh.size_of(axis), 1) is False for axis in axes)
