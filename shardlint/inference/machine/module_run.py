"""A module of the project that runs, or has run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shardlint.inference.domain.values import ModuleValue
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.machine.trace import Handed
from shardlint.inference.store.effect_log import State
from shardlint.inference.syntax.file_parts import Part, whole_units
from shardlint.inference.syntax.units import BrokenText
from shardlint.laws.core.dims import Dim
from shardlint.laws.versions import Release
from shardlint.source.sources import Source
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """A change that importing a module makes to an object of another one: its contents before and after."""

    thing: Any
    before: State
    after: State

    @property
    def names(self) -> set[str]:
        """Return the variables of a scope that it changed."""
        before, after = self.before["variables"], self.after["variables"]
        return {name for name in before | after if before.get(name) is not after.get(name)}

    @property
    def is_open(self) -> bool:
        """Return whether it changed which variables of a scope may change unseen."""
        return bool(self.before["volatile"] != self.after["volatile"])


class ModuleRun:
    """One module of the project: its text in parts, and its scope as far as it has run."""

    __slots__ = (
        "accesses",
        "alone",
        "asks_mesh",
        "begun_by",
        "changes",
        "closed",
        "complete",
        "device_count",
        "devices_before",
        "effects",
        "errors",
        "handed",
        "imported",
        "loose",
        "made",
        "met",
        "name",
        "oldest",
        "parts",
        "questions",
        "read",
        "replaced",
        "scope",
        "source",
        "switches",
        "turns",
        "views",
        "within",
    )  # fmt: skip

    def __init__(self, name: str, source: Source, devices_before: Dim | None = None) -> None:
        self.name, self.source = name, source
        self.scope = Scope(self)
        #: Errors by cell, and whether they are all in bodies of functions.
        self.errors: dict[int | None, tuple[BrokenText, ...]] = {}
        self.complete = True
        self.parts: list[Part] = []
        #: Program-wide effects of importing it: on the context, and on the number of devices.
        self.changes: dict[str, Any] = {}
        self.device_count: Dim | None = None
        self.switches: frozenset[str] = frozenset()
        self.views: frozenset[str] = frozenset()
        self.loose: dict[str, ModuleValue] = {}
        #: The attributes redefined by its classes and those of its imports (see `Interpreter.replaced`).
        self.replaced: dict[int, frozenset[str]] = {}
        self.handed: Handed = {}
        #: The releases at which its result may change.
        self.turns: frozenset[Release] = frozenset()
        #: Whether a mesh that it does not define matters.
        self.asks_mesh = False
        #: The questions to a JAX that it depends on.
        self.questions: frozenset[str] = frozenset()
        #: The number of devices when it began to run, and the files it read.
        self.devices_before = devices_before
        self.accesses = file_access.FileAccesses()
        #: Its imports and, once it has run, all transitive ones.
        self.imported: dict[Path, ModuleRun] = {}
        self.within: dict[Path, ModuleRun] = {}
        #: Whether these are known: no module of an import cycle still runs.
        self.closed = False
        #: The birth of the oldest module that its imports lead back to, as far as is known; else its own.
        self.oldest = self.scope.born
        #: The module that began the import cycle in which it ran; None for that module and outside cycles.
        self.begun_by: ModuleRun | None = None
        #: Whether it would be the same in a program that runs nothing else.
        self.alone = True
        #: The numbers of the objects that it and its imports created.
        self.made = range(0)
        #: The names of variables that it read of older scopes, and the numbers of the mutable objects in
        #: these and in what it changed; None if they are too many.
        self.read: frozenset[str] = frozenset()
        self.met: frozenset[int] | None = None
        #: Its imports, and its changes to other modules, in the order in which they came.
        self.effects: list[ModuleRun | Effect] = []

    @property
    def text(self) -> str:
        """Return all its text, as read (see `typos`), or as written if it is not read as a whole."""
        if self.complete and len(self.source.cells) == 1:
            return "".join(unit.glance for unit in whole_units(self.parts))
        return "".join(cell.text for cell in self.source.cells)
