"""The evaluator as values and overlays see it: what they may ask of it, and nothing of how it works."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from shardlint.inference.domain.values import (
    ClassValue,
    Function,
    Instance,
    ModuleValue,
    Native,
    Tag,
    Value,
)
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.store.identity_set import Once
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions import Release
from shardlint.model.spans import Place
from shardlint.model.uses import Environment, Use


class Unseen(Protocol):
    """What is made of code that is not followed."""

    def call(
        self, function: Function, args: Sequence[Value], kwargs: dict[str, Value], reason: str
    ) -> Unknown:
        """Call a function of the program that is not followed: whatever it names may be changed."""

    def note_special_methods(self, cls: ClassValue, held: dict[str, Value]) -> None:
        """Python may call the special methods of an object at any time from now on."""

    def hand(self, value: Value) -> None:
        """Code that is not seen gets a value: one to call may run now and at any time from now on."""

    def run(self, text: str | None) -> None:
        """A text runs here that is not followed; None if it is not known."""


class Evaluator(Protocol):
    """One analysis. ``context`` and ``device_count`` are what the program has set so far; ``path`` are the
    undecided branches around what runs now, ``doubtful`` those that may never be taken, ``bodies`` those that
    are bodies of generators; ``switches`` name global settings of libraries that the program has changed;
    ``turns`` are the releases from which on JAX answers a question that was asked otherwise,
    ``versions_read`` how often the program read the version of JAX (see `releases`); ``asks_mesh`` is whether
    a mesh that the program does not tell matters (see `deployment_mesh`); ``muted`` is not 0 while nothing is
    recorded. ``variants`` says which of how many possible values is followed, ``assumed`` the outcomes of
    undecided tests. ``uses`` are those that the running function recorded so far. ``making`` is an object
    whose constructor is called next.
    """

    context: Context
    device_count: Dim
    variants: tuple[int, int]
    assumed: Tag
    path: tuple[int, ...]
    doubtful: set[int]
    bodies: set[int]
    switches: set[str]
    turns: set[Release]
    versions_read: int
    asks_mesh: bool
    muted: int
    uses: Once[Use]
    making: Instance | None

    def forked(
        self, repeats: bool = False, guards: bool = True, doubtful: bool = False
    ) -> AbstractContextManager[None]:
        """Evaluate a path that may not be taken: changes to older objects make them unknown."""

    @property
    def settings(self) -> InferenceSettings:
        """What the user decides."""

    def call(
        self,
        function: Value,
        args: Sequence[Value],
        kwargs: dict[str, Value],
        place: Place,
        opaque: bool = False,
        places: dict[int | str, Place] | None = None,
    ) -> Value:
        """Call any value at ``place``; ``opaque`` and ``places`` as in `call.Call`."""

    def set_variable(self, scope: Any, name: str, value: Value) -> None:
        """Set a variable of any scope."""

    @property
    def running_module(self) -> ModuleValue:
        """The module whose code runs."""

    @property
    def local_names(self) -> ModuleValue | ClassValue | None:
        """The module or class whose variables are those of the code that runs; None in a function."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing is recorded now."""

    def note_held(self, value: Value) -> None:
        """Note that what an object of the evaluator's own holds is read."""

    def attribute(self, value: Value, name: str, place: Place) -> Value:
        """Read an attribute of any value."""

    @property
    def unseen(self) -> Unseen:
        """For code that is not followed."""

    def plain_attribute(self, value: Instance, name: str, place: Place) -> Value:
        """Read an attribute of an object as `object.__getattribute__` does."""

    def item(self, value: Value, key: Value, place: Place) -> Value:
        """Read ``value[key]`` of any value."""

    def operation(self, name: str, a: Value, b: Value, place: Place) -> Value:
        """Evaluate ``a <op> b`` on any values; ``name`` is the operator's (``Add``)."""

    def comparison(self, name: str, a: Value, b: Value) -> Value:
        """Evaluate one comparison of any values; ``name`` is the operator's (``LessThan``)."""

    def import_module(self, name: str, place: Place) -> Value:
        """Import a module by its full dotted name at ``place``."""

    def parameter_names(self, function: Value) -> list[str]:
        """The parameters that a function of the program takes by position; none of other values."""

    def written(self, place: Place) -> str | None:
        """What stands at a place, if it is a name, an attribute or an item: ``params["kernel"]``."""

    def computes(self, place: Place | None) -> bool:
        """Whether what stands at a place is no literal."""

    def running_method(self) -> tuple[ClassValue, Value] | None:
        """The class whose method runs and the method's first argument, or None elsewhere."""

    def learn(self, place: Place, shape: Shape) -> None:
        """What stands at a place is an array of this shape: a call takes it that takes nothing else."""

    def wrapped(self, native: Native) -> Native:
        """Note a wrapper of a program's function: if nobody calls it, it is an entry of its own."""

    def record(self, use: Use) -> None:
        """Keep a use, unless nothing is to be recorded now."""

    @property
    def is_called(self) -> bool:
        """Whether a module's own code led here, not a function that nobody calls."""

    def sees(self, place: Place, other: Place) -> bool:
        """Whether the code that runs at a place shows the other: one function around both, or the module."""

    def environment(self) -> Environment:
        """The environment for a use that is recorded now."""

    def within(self, **changes: Any) -> AbstractContextManager[None]:
        """Evaluate under a changed context; afterwards what it changed is as before."""

    def path_since(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """The undecided paths that lie between one and what runs now."""

    def repeated(self, forks: tuple[int, ...]) -> bool:
        """Whether a loop of unknown length is among these paths."""

    def certain(self, path: tuple[int, ...]) -> bool:
        """Whether an object made on this path surely undergoes what happens now."""

    def set_environment(self, key: Value, value: Value) -> None:
        """Learn from ``os.environ[key] = value``."""
