"""The evaluator as values and overlays see it: an interface without implementation."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import field, replace
from typing import Any, Protocol

from shardlint.inference.domain.histories import Gone
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Function,
    Instance,
    MeshValue,
    ModuleValue,
    Native,
    Tag,
    Value,
)
from shardlint.inference.evaluation.context import Context, Frame, LoopState
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.store.identity_set import Once
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions import Release
from shardlint.model.spans import Place
from shardlint.model.uses import Environment, Use
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Donation:
    """An argument of a jitted function, and those of its arrays, by path, that the call deletes."""

    value: Value
    lost: dict[str, Gone]

    def doubted(self) -> Donation:
        """Return a donation that may not have been made."""
        return Donation(self.value, {path: replace(gone, certain=False) for path, gone in self.lost.items()})


class Unseen(Protocol):
    """The effects of code that is not followed."""

    def call(
        self, function: Function, args: Sequence[Value], kwargs: dict[str, Value], reason: str
    ) -> Unknown:
        """Call a function of the program without following it: whatever it names may change."""

    def note_special_methods(self, cls: ClassValue, held: dict[str, Value]) -> None:
        """Record that Python may call the special methods of an object at any time from now on."""

    def note_changed(self, cls: ClassValue) -> None:
        """Record that a class gets another method."""

    def hand(self, value: Value) -> None:
        """Pass a value to unseen code: a callable may run now and at any time from now on."""

    def run(self, text: str | None) -> None:
        """Execute a text that is not followed; None if the text is unknown."""


@dataclass(slots=True)
class FedBack:
    """Arguments of jitted functions whose place results take.

    ``on_mesh`` is where a jitted function was called last, if it ran on the mesh of an argument. ``loose``
    are the paths of arrays that lay nowhere, by the place of that call and the argument's name, ``laid`` the
    arrays that lay on a mesh at the first of these calls, ``hosted`` the paths of those on the host.
    """

    on_mesh: Place | None = None
    loose: dict[tuple[Place, str], frozenset[str]] = field(default_factory=dict)
    laid: dict[tuple[Place, str], dict[str, Array]] = field(default_factory=dict)
    hosted: dict[tuple[Place, str], frozenset[str]] = field(default_factory=dict)


class Evaluator(Protocol):
    """One analysis. ``context`` and ``device_count`` are what the program has set so far; ``path`` are the
    undecided branches around what runs now, ``doubtful`` those that may never be taken, ``bodies`` those that
    are bodies of generators; ``switches`` name global settings of libraries that the program has changed;
    ``viewed`` describe the arrays that numpy may view on the host, ``views`` those of what runs now;
    ``turns`` are the releases from which on JAX answers a question that was asked otherwise,
    ``versions_read`` how often the program read the version of JAX (see `releases`); ``asks_mesh`` is whether
    a mesh that the program does not tell matters (see `deployment_mesh`); ``questions`` are those to a JAX
    about functions that no overlay knows (see `asked_functions`); ``muted`` is not 0 while nothing is
    recorded. ``variants`` says which of how many possible values is followed, ``assumed`` the outcomes of
    undecided tests. ``uses`` are those that the running function recorded so far. ``making`` is an object
    whose constructor is called next, ``donations`` what the call that runs was donated. ``fed_back``
    tells of arguments of jitted functions whose place results take.
    """

    context: Context
    device_count: Dim
    variants: tuple[int, int]
    assumed: Tag
    path: tuple[int, ...]
    frames: list[Frame]
    doubtful: set[int]
    bodies: set[int]
    switches: set[str]
    viewed: set[str]
    views: set[str]
    turns: set[Release]
    versions_read: int
    asks_mesh: bool
    questions: set[str]
    muted: int
    uses: Once[Use]
    making: Instance | None
    donations: list[Donation]
    fed_back: FedBack

    def forked(
        self, repeats: bool | LoopState = False, guards: bool = True, doubtful: bool = False
    ) -> AbstractContextManager[None]:
        """Evaluate a path that may not be taken: mutation of older objects makes them unknown.

        With ``repeats`` it may be taken any number of times, as passes of a loop that run until nothing
        changes any more, if that is given; ``guards`` means that a test decides, and ``doubtful`` that the
        test may never have this outcome.
        """

    @property
    def settings(self) -> InferenceSettings:
        """Return the settings of the analysis."""

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

    def change_in_place(self, array: Value, shape: Shape | None, place: Place | None) -> None:
        """Give a numpy array, or a value that may be one, another shape or dtype at ``place``.

        ``shape`` is None where it is not known, or something else changes.
        """

    def only_reads(self, place: Place, name: str) -> bool:
        """Return whether the running function only reads the vector that the expression at a place makes.

        The expression is a call of ``name``, or an operator or item if that is empty.
        """

    def jits_anew(self, place: Place, function: Value) -> bool:
        """Return whether `jax.jit`, called at ``place``, gets another function in each of several runs of the
        code around it, by the text of the running function or module."""

    @property
    def running_module(self) -> ModuleValue:
        """Return the module whose code runs."""

    @property
    def local_names(self) -> ModuleValue | ClassValue | None:
        """Return the module or class whose variables are the locals of the running code; None in a
        function."""

    @property
    def frame(self) -> Frame:
        """Return the innermost running frame."""

    @property
    def is_silent(self) -> bool:
        """Return whether recording is off."""

    def note_query(self, overlooked: MeshValue | None) -> None:
        """Record that the running function asked for the mesh in force; ``overlooked`` is one that is set
        otherwise, so that the answer was an empty mesh."""

    def note_contents(self, value: Value) -> None:
        """Record a read of the contents of an evaluator's own object."""

    def attribute(self, value: Value, name: str, place: Place) -> Value:
        """Read an attribute of any value."""

    @property
    def unseen(self) -> Unseen:
        """Return the handler of code that is not followed."""

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

    def data_file(self, name: str, beside: bool) -> tuple[str, str] | None:
        """Return the path and the text of a data file of the project; None if none is found, or several.

        A relative name is looked up ``beside`` the running module; else in the folders in which a program may
        be started.
        """

    def parameter_names(self, function: Value) -> list[str]:
        """Return the positional parameters of a function of the program; none for other values."""

    def returns_fixed_item(self, function: Value) -> bool:
        """Return whether a function of the program returns the same item or slice of something whatever its
        first argument is."""

    def first_annotation(self, function: Value) -> Value | None:
        """Return the value that a function's first parameter is annotated with, where that is a name."""

    def written(self, place: Place) -> str | None:
        """Return the text at a place, if it is a name, an attribute or an item: ``params["kernel"]``."""

    def written_items(self, place: Place, functions: Set[str]) -> tuple[str | None, ...]:
        """Return such texts of a tuple's or list's items at a place, or of a call's arguments."""

    def computes(self, place: Place | None) -> bool:
        """Return whether the expression at a place is not a literal."""

    def running_method(self) -> tuple[ClassValue, Value] | None:
        """Return the class whose method runs and the method's first argument, or None elsewhere."""

    def learn(self, place: Place, shape: Shape) -> None:
        """Narrow the value at a place to an array of this shape, since a call accepts nothing else."""

    def wrapped(self, native: Native) -> Native:
        """Record a wrapper of a program's function: if it is never called, it is an entry point."""

    def record(self, use: Use) -> None:
        """Record a use, unless recording is off."""

    @property
    def is_called(self) -> bool:
        """Return whether module-level code led here, rather than an entry point."""

    def sees(self, place: Place, other: Place) -> bool:
        """Return whether the code at one place can see the other: they share a function, or the module."""

    def environment(self) -> Environment:
        """Return the environment of a use recorded now."""

    def within(self, **changes: Any) -> AbstractContextManager[None]:
        """Evaluate under a changed context, and restore the changed fields afterwards."""

    def path_since(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the undecided paths between a path and the current one."""

    def loops_among(self, forks: tuple[int, ...]) -> list[LoopState | None]:
        """Return the loops of unknown length among these paths; None for what repeats a path otherwise."""

    def certain(self, path: tuple[int, ...]) -> bool:
        """Return whether an object created on this path certainly undergoes the current event."""

    def enter(self, manager: Value, place: Place) -> Value:
        """Enter a context manager for as long as the caller runs, and return what ``as`` would bind."""

    def entered(self, manager: Value, place: Place) -> AbstractContextManager[Value]:
        """Evaluate inside a context manager, as in a ``with`` statement."""

    def set_environment(self, key: Value, value: Value) -> None:
        """Apply ``os.environ[key] = value``."""
