"""Settings of an analysis, chosen by its caller."""

from __future__ import annotations

from dataclasses import field

from shardlint.laws.core.values import Mesh
from shardlint.laws.versions import ASSUMED, Release
from shardlint.support.lazy_dataclass import dataclass

#: A logical name and where it goes: a mesh axis, several, or none.
LogicalRules = tuple[tuple[str, str | tuple[str, ...] | None], ...]


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    """``devices`` is how many devices there are, if known; ``mesh`` the mesh to assume where a
    program takes one from its caller; ``roots`` the folders imports are resolved in, besides each
    file's own. ``exhaustive`` evaluates every function, whether or not it can matter. ``release`` is the
    release of JAX that runs the program; ``alone`` tells that no other one will be asked about. ``meshes``
    are all the meshes that have a name, for facts in comments; ``dims`` are sizes by the name of what the
    program leaves open (``d_model``, ``cfg.d_model``); ``logical_rules`` are Flax's rules for logical axis
    names where the program sets none itself. ``editing`` tells that an editor asks: where names are written,
    and what the arrays in bodies of shard_map are, is found too. ``defaults`` tells to assume that the
    program is run without arguments, and no environment variable is set that it has a default for.
    """

    devices: int | None = None
    mesh: Mesh | None = None
    roots: tuple[str, ...] = ()
    exhaustive: bool = False
    release: Release = ASSUMED
    alone: bool = True
    meshes: tuple[tuple[str, Mesh], ...] = ()
    dims: tuple[tuple[str, int], ...] = ()
    logical_rules: LogicalRules | None = None
    editing: bool = False
    defaults: bool = False


@dataclass(slots=True)
class Noticed:
    """Dependencies of an analysis's result besides the program.

    ``turns`` are the releases at which the result may change; ``asks_mesh`` means that a mesh matters which
    the program does not define, ``asks_defaults`` that it has defaults for what it is run with.
    """

    turns: set[Release] = field(default_factory=set)
    asks_mesh: bool = False
    asks_defaults: bool = False
