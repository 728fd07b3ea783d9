"""What the caller of inference decides."""

from __future__ import annotations

from dataclasses import dataclass

from shardlint.laws.values import Mesh
from shardlint.laws.versions import NEWEST, Release


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    """``devices`` is how many devices there are, if known; ``mesh`` the mesh to assume where a
    program takes one from its caller; ``roots`` the folders imports are resolved in, besides each
    file's own. ``exhaustive`` evaluates every function, whether or not it can matter. ``release`` is the
    release of JAX that runs the program.
    """

    devices: int | None = None
    mesh: Mesh | None = None
    roots: tuple[str, ...] = ()
    exhaustive: bool = False
    release: Release = NEWEST
