"""Meshes to assume where a program's mesh is not known."""

from __future__ import annotations

from shardlint.laws.core.values import AxisType, Mesh
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Deployment:
    """A mesh to assume where a program's is not known.

    ``name`` is the configured one, None for a mesh given on the command line. ``typed`` is true if its axis
    types were configured: otherwise nothing is claimed that depends on them.
    """

    name: str | None
    mesh: Mesh
    typed: bool = False

    def __str__(self) -> str:
        return f"{self.mesh}" if self.name is None else f"{self.name} {self.mesh}"

    @property
    def explicit(self) -> Mesh:
        """Return the mesh with all axes Explicit."""
        return self.mesh.with_types(dict.fromkeys(self.mesh.names, AxisType.EXPLICIT))
