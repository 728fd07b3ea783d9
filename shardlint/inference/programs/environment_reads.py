"""Dependence on variables of the environment, for which a program has defaults (`os.environ.get`).

A program is evaluated once more with its defaults if its own statements or entry points depend on them. Most
programs only import a module that asks for some: of such a module, the variables are known that depend on
what it asked. A statement depends on the environment if it asks, or reads such a variable; then what it binds
and what it may change does, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shardlint.inference.domain.kinds import CHANGING
from shardlint.inference.domain.values import ClassValue
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.monkeypatches import library_set_by
from shardlint.inference.machine.machine import Machine
from shardlint.inference.machine.module_run import ModuleRun
from shardlint.inference.machine.variable_reads import ENVIRONMENT, Reads, holder_of, noting_reads
from shardlint.inference.overlays.command_lines.defaults import ASKED
from shardlint.inference.overlays.registry import knows_library
from shardlint.inference.semantics.variables import watching
from shardlint.inference.store.effect_log import EFFECTS


def is_environmental(reads: Reads) -> bool:
    """Return whether something that read these variables depends on the environment."""
    return any(
        anchor is ENVIRONMENT
        or (
            isinstance(anchor, Scope)
            and (holder := holder_of(anchor, name)) is not None
            and name in holder.environmental
        )
        for anchor, name in reads
    )


@contextmanager
def noting_environment(interpreter: Machine, run: ModuleRun) -> Iterator[None]:
    """Note which variables of a module depend on the environment after a statement at its top level.

    Where that is more than its variables, all programs that import the module may depend on it.
    """
    scope, i = run.scope, interpreter
    before, journal, epoch = _state(i), set(EFFECTS.journal), EFFECTS.epoch
    with watching(scope) as written, noting_reads(i) as reads:
        yield
    if is_environmental(reads):
        scope.environmental |= written.keys()
        # What it may have changed.
        changed = list(_objects(reads, classes=EFFECTS.epoch != epoch))
        scope.environmental |= {name for holder, name in changed if holder is scope}
        others = any(name not in holder.environmental for holder, name in changed)
        others = others or bool(EFFECTS.journal.keys() - journal - {scope.born})
        if run.name == "__main__" or others or before != _state(i):
            i.switches.add(ASKED)


def _objects(reads: Reads, *, classes: bool) -> Iterator[tuple[Scope, str]]:
    """Yield the variables among those read that hold what can be changed, with classes or without."""
    kinds = (*CHANGING, ClassValue) if classes else CHANGING
    for anchor, name in reads:
        holder = holder_of(anchor, name) if isinstance(anchor, Scope) else None
        if holder is not None and isinstance(holder.variables[name], kinds):
            yield holder, name


def _state(interpreter: Machine) -> tuple[object, ...]:
    """Return what a statement may set for all that follows it; names of libraries that no overlay knows
    make no difference."""
    i = interpreter
    switches = frozenset(one for one in i.switches if knows_library(library_set_by(one) or "builtins"))
    return i.context, i.device_count, switches, i.path, i.assumed
