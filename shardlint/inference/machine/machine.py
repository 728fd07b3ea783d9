"""The interpreter as its handlers see it: one analysis, and the ways back into evaluating.

A handler of an expression or a statement, a cache of calls, or a loader of modules takes a `Machine`, asks it
to evaluate what is inside what it handles, and so need not import the interpreter, which stands on top of all
of them. Overlays see only the `Evaluator` in it, and nothing of how programs are written.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import libcst as cst

from shardlint.inference.domain.values import ClassValue, Function, ModuleValue, Native, Tag, Value
from shardlint.inference.evaluation.context import Context, Scope
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.machine.class_summaries import ConstructorSummary, TextWrites
from shardlint.inference.machine.code import Code
from shardlint.inference.machine.generator_body import GeneratorBody
from shardlint.inference.machine.stated_facts import StatedFacts
from shardlint.inference.machine.trace import CachedCall, Handed, Note
from shardlint.inference.store.identity_set import Once
from shardlint.inference.syntax.units import NodePlace, Unit
from shardlint.laws.core.dims import Dim
from shardlint.model.spans import Place, Span
from shardlint.model.uses import FileProblem

if TYPE_CHECKING:
    from shardlint.inference.evaluation.budget import Budget
    from shardlint.inference.machine.condition_ids import Tests
    from shardlint.inference.machine.variable_reads import Reads


class Modules(Protocol):
    """The modules of the project, and the values of imported names."""

    modules: dict[Path, Any]
    running: list[Any]
    loose: dict[str, ModuleValue]

    def import_module(self, interpreter: Machine, name: str) -> Value:
        """Import a module by its dotted name."""

    def submodule(self, interpreter: Machine, package: str, name: str) -> ModuleValue | None:
        """Import a module of a package of the project, if there is one."""

    def member(self, interpreter: Machine, module: ModuleValue, name: str) -> Value:
        """Return a member of a module of the project."""

    def external(self, interpreter: Machine, name: str) -> Value:
        """Return a name of a library."""

    def star_names(self, module: str) -> dict[str, Value]:
        """Return the names that a star imports from a library's module."""

    def replacement(self, interpreter: Machine, name: str) -> Value:
        """Return what stands for a name of JAX that the assumed release lacks."""

    def reference(
        self, interpreter: Machine, name: str, place: Place, exception: str = "AttributeError"
    ) -> bool:
        """Record a reference to a name of JAX; return whether the assumed release raises there."""

    def run_file(self, interpreter: Machine, path: Path) -> Any:
        """Return the module of a file, run before the program itself."""

    def data_file(self, here: Path, name: str, beside: bool) -> tuple[str, str] | None:
        """Return the path and the text of a data file of the project, None if it is not known."""

    def set_environment(self, interpreter: Machine, key: Value, value: Value) -> None:
        """Apply ``os.environ[key] = value``."""


class CallMemory(Protocol):
    """The cache of calls, as handlers see it."""

    def run(
        self, interpreter: Machine, function: Function, bound: dict[str, Value], place: Place, nested: int
    ) -> Value:
        """Return the result of a call with bound parameters: from the cache, or by running the function."""

    def key_of(self, scope: Scope, values: Iterable[Value | None]) -> Hashable:
        """Return the key of values as seen by code in a scope, valid until something changes; None if too
        large."""

    def objects_in(self, scope: Scope, values: Iterable[Any]) -> frozenset[int] | None:
        """Return the numbers of all mutable objects in values, as seen from a scope; None if a value is too
        large."""


class EscapedCode(Protocol):
    """The functions and classes out of sight, as handlers see them."""

    def settle(self) -> None:
        """Take what may change for changed, if functions and classes have gone out of sight."""

    def drop_noted(self) -> None:
        """Leave to be settled only what has not been noted yet: repeating changes loses the same again."""

    def apply(self, changes: Set[Any]) -> None:
        """Take changes for possible at any time from now on."""

    def note_changed(self, cls: ClassValue) -> None:
        """Read a class once more, if it is out of sight, since it gets another method."""

    def read_again(self, one: Function) -> None:
        """Read a function out of sight once more, since a name that it reads is bound."""


class Machine(Evaluator, Protocol):
    """One analysis, with all its state. See `Interpreter` for the attributes."""

    project: Modules
    budget: Budget
    tests: Tests
    muted: int
    mute_base: int
    start: int
    reads: Reads | None
    notes: Once[Note]
    deepest: int
    cut: bool
    ran: set[Hashable]
    ran_uncached: set[Hashable]
    cached_calls: Once[CachedCall]
    forks: int
    picked: frozenset[int]
    reached: set[Hashable]
    defined: dict[Hashable, tuple[Function, Context]]
    handed: Handed
    escaped: dict[Hashable, Value]
    unseen_changes: set[Any]
    constructed: dict[ClassValue, ConstructorSummary]
    outdated: dict[int, tuple[ClassValue, ConstructorSummary]]
    text_writes: dict[ClassValue, TextWrites]
    generator_bodies: dict[int, GeneratorBody]
    annotated: dict[int, dict[str, str]]
    stated_facts: dict[cst.CSTNode, StatedFacts]
    problems: Once[FileProblem]
    revealed: set[Span]
    sizes: dict[int, dict[str, Dim]]
    replaced: dict[int, frozenset[str]]
    wrappers: dict[int, tuple[Native, Context]]
    called_wrappers: set[int]

    # -- evaluating ---------------------------------------------------------------------------

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """Return the abstract value of an expression."""

    def execute_block(self, body: Sequence[cst.BaseStatement | cst.BaseSmallStatement]) -> bool:
        """Execute a block's statements in order; return whether control may reach what follows."""

    def run_function(
        self, function: Function, bound: dict[str, Value], called_at: Place | None = None
    ) -> Value:
        """Evaluate a function's body with bound parameters and return the result."""

    @property
    def code(self) -> EscapedCode:
        """Return the functions and classes out of sight."""

    @property
    def memory(self) -> CallMemory:
        """Return the cache of calls."""

    # -- state --------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """Return the scope of the running code."""

    def place(self, node: cst.CSTNode) -> NodePlace:
        """Return the place of a node of the running code."""

    @property
    def guarded(self) -> bool:
        """Return whether a test of the program decides if the current statement runs."""

    @property
    def supposes(self) -> bool:
        """Return whether no single one of the alternatives is certain to reach this point."""

    @property
    def limit(self) -> int:
        """Return the maximal depth of calls here."""

    def running(self, code: Code) -> int:
        """Return how often a function is on the stack."""

    def tick(self) -> None:
        """Spend a step. Raises Exhausted."""

    # -- variables ----------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """Return the value of a variable: every look-up of a name goes through here."""

    def find(self, name: str) -> Scope | None:
        """Return the scope that holds a name: every read of a variable goes through here."""

    def names_in(self, test: cst.BaseExpression) -> tuple[str, ...]:
        """Return the names that a test reads, cached by test."""

    # -- paths --------------------------------------------------------------------------------

    def silent(self) -> AbstractContextManager[None]:
        """Evaluate without recording uses."""

    def assuming(self, tag: Tag) -> AbstractContextManager[Tag | None]:
        """Evaluate a branch of an undecided test; yields None if it cannot be taken."""

    def diverge(self, doubtful: bool, guards: bool = False) -> None:
        """Mark the rest of this path as undecided, because another one has left the function or loop."""

    def in_unit(self, unit: Unit) -> AbstractContextManager[None]:
        """Evaluate nodes of another unit in the running scope."""

    def elsewhere(self) -> AbstractContextManager[None]:
        """Evaluate another module with its own branches and context, independent of the importer's."""

    # -- functions without known callers ------------------------------------------------------

    def define(self, function: Function) -> None:
        """Record a function of the program: if nothing reaches it, it is an entry point."""

    def called(self, native: Native) -> None:
        """Record that a wrapper is called."""
