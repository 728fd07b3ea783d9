"""Changes of programs to the modules that they share: undone for the next program, done again for its own.

A module of the project runs once for all programs that import it, as if nothing else had run. What its import
changes in other modules, such as a registry, are its effects, which are done again where another program
imports it. All that a program and its imports have changed is the program's world. One world is present at a
time.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shardlint.inference.incremental.entry_result import alike
from shardlint.inference.machine.module_run import Effect, ModuleRun
from shardlint.inference.store.effect_log import EFFECTS, State, changing, held, restore

#: Stands for the program itself among those that changed a module.
_PROGRAM = 0


class World:
    """All changes of one program to modules that others may share.

    Args:
        modules: the modules that the program has imported.
    """

    def __init__(self, modules: dict[Path, ModuleRun]) -> None:
        self._modules = modules
        #: The changed objects, by number, each with its contents when its module had run.
        self._before: dict[int, tuple[Any, State]] = {}
        #: Their contents in this world, while another one is present.
        self._after: list[tuple[Any, State]] = []
        #: By the identity of a changed module: the identities of those whose import changed it.
        self._writers: dict[int, set[int]] = {}
        self._imported = 0

    def attribute(self, writer: ModuleRun | None) -> None:
        """Attribute what was changed since the last import to a module; None for the program itself."""
        for number, (thing, state) in EFFECTS.journal.items():
            owner = self.owner(number)
            if owner is not None:
                self._before.setdefault(number, (thing, state))
                self._writers.setdefault(id(owner), set()).add(_PROGRAM if writer is None else id(writer))
                if writer is not None:
                    writer.effects.append(Effect(thing, state, held(thing)))
        EFFECTS.journal.clear()

    def owner(self, number: int) -> ModuleRun | None:
        """Return the finished module that created an object, None for objects of the program."""
        owners = [run for run in self._modules.values() if number in run.made]
        return min(owners, key=lambda run: len(run.made), default=None)

    def is_as_alone(self, run: ModuleRun) -> bool:
        """Return whether nothing but a module and its imports has changed one of these."""
        within = set(map(id, run.within.values()))
        return all(owner not in within or by <= within for owner, by in self._writers.items())

    def takes(self, run: ModuleRun) -> bool:
        """Import a module that ran for another program, with its effects.

        Return False, and change nothing, if it would not be the same had it run in this world.
        """
        if any(self._modules.get(path, one) is not one for path, one in run.within.items()):
            return False
        effects: list[tuple[ModuleRun, Effect]] = []
        if not self.is_as_alone(run) or not self._fit(_effects_of(run, set(self._modules.values())), effects):
            return False
        self._modules.update(run.within)
        for writer, effect in effects:
            thing = effect.thing
            changing(thing)
            self._before.setdefault(thing.born, (thing, held(thing)))
            restore(thing, effect.after)
            owner = self.owner(thing.born)
            self._writers.setdefault(id(owner), set()).add(id(writer))
        EFFECTS.journal.clear()
        return True

    @staticmethod
    def _fit(effects: Iterable[tuple[ModuleRun, Effect]], found: list[tuple[ModuleRun, Effect]]) -> bool:
        """Add effects to ``found``; return False at one whose object holds something else than it did."""
        states: dict[int, State] = {}
        for writer, effect in effects:
            number = effect.thing.born
            if not alike(states.get(number) or held(effect.thing), effect.before):
                return False
            states[number] = effect.after
            found.append((writer, effect))
        return True

    def enter(self) -> None:
        """Make this world the present one."""
        global _present
        if _present is not self:
            leave()
            for thing, state in self._after:
                restore(thing, state)
            EFFECTS.imported = self._imported
            _present = self

    def leave(self) -> None:
        """Undo all changes; `enter` makes them again."""
        self.attribute(None)
        self._after = [(thing, held(thing)) for thing, _ in self._before.values()]
        for thing, state in self._before.values():
            restore(thing, state)
        self._imported, EFFECTS.imported = EFFECTS.imported, 0


_present: World | None = None


def leave() -> None:
    """Leave the present world, if any."""
    global _present
    if _present is not None:
        _present.leave()
        _present = None


def _effects_of(run: ModuleRun, done: set[ModuleRun]) -> Iterable[tuple[ModuleRun, Effect]]:
    """Yield the effects of importing a module where others are already imported, each with its writer."""
    if run in done:
        return
    done.add(run)
    for step in run.effects:
        if isinstance(step, ModuleRun):
            yield from _effects_of(step, done)
        else:
            yield run, step
