"""Settings of an analysis, chosen by its caller."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Protocol

from shardlint.laws.core.values import Mesh
from shardlint.laws.versions import ASSUMED, Release
from shardlint.support.lazy_dataclass import dataclass

#: A logical name and where it goes: a mesh axis, several, or none.
LogicalRules = tuple[tuple[str, str | tuple[str, ...] | None], ...]


class Answers(Protocol):
    """The answers of a JAX about its functions; `release` is that JAX.

    Compared by identity: what is evaluated with more answers may have another result.
    """

    @property
    def release(self) -> str:
        """Return the release of the JAX that is asked."""

    def covers(self, function: str) -> bool:
        """Return whether JAX can be asked about a function, given its canonical name."""

    def get(self, question: str) -> Any:
        """Return the answer to a question as data, None where there is none."""


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
    ``answers`` are those of a JAX about functions that no overlay knows, None if none is asked.
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
    answers: Answers | None = None


@dataclass(slots=True)
class Noticed:
    """Dependencies of an analysis's result besides the program.

    ``turns`` are the releases at which the result may change; ``asks_mesh`` means that a mesh matters which
    the program does not define, ``asks_defaults`` that it has defaults for what it is run with.
    ``questions`` are those to a JAX that it depends on, with or without answer.
    """

    turns: set[Release] = field(default_factory=set)
    asks_mesh: bool = False
    asks_defaults: bool = False
    questions: set[str] = field(default_factory=set)
