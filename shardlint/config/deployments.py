"""Meshes to assume where a program's is not known."""

from __future__ import annotations

from shardlint.laws.core.values import AxisType, Mesh
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Deployment:
    """A mesh to assume where a program's is not known.

    ``name`` is the configuration's, None for one given on the command line. ``typed`` tells whether the
    types of its axes were said: else nothing is claimed that depends on them.
    """

    name: str | None
    mesh: Mesh
    typed: bool = False

    def __str__(self) -> str:
        return f"{self.mesh}" if self.name is None else f"{self.name} {self.mesh}"

    @property
    def explicit(self) -> Mesh:
        """The mesh, were all its axes Explicit."""
        return self.mesh.with_types(dict.fromkeys(self.mesh.names, AxisType.EXPLICIT))
