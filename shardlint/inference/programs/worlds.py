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

from shardlint.inference.domain.kinds import CHANGING
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.incremental.entry_result import alike
from shardlint.inference.machine.module_run import Effect, ModuleRun
from shardlint.inference.store.effect_log import EFFECTS, State, changed_for_all, changing, held, restore

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
        #: By changed module and number of the changed object: the identities of those that changed it.
        self._writers: dict[ModuleRun, dict[int, set[int]]] = {}
        self._imported = 0
        self._remade: list[tuple[int, int]] = []

    def attribute(self, writer: ModuleRun | None) -> None:
        """Attribute what was changed since the last import to a module; None for the program itself."""
        for number, (thing, state) in EFFECTS.journal.items():
            owner = self.owner(number)
            if owner is not None:
                self._before.setdefault(number, (thing, state))
                self._note_writer(owner, number, _PROGRAM if writer is None else id(writer))
                if writer is not None:
                    writer.effects.append(Effect(thing, state, held(thing)))
        EFFECTS.journal.clear()

    def owner(self, number: int) -> ModuleRun | None:
        """Return the finished module that created an object, None for objects of the program."""
        owners = [run for run in self._modules.values() if number in run.made]
        return min(owners, key=lambda run: len(run.made), default=None)

    def _note_writer(self, owner: ModuleRun, number: int, writer: int) -> None:
        self._writers.setdefault(owner, {}).setdefault(number, set()).add(writer)

    def is_as_alone(self, run: ModuleRun) -> bool:
        """Return whether a module and its imports that ran with it depend on nothing that others changed."""
        new = [
            one
            for path, one in run.within.items()
            if one.scope.born >= run.scope.born or self._modules.get(path) is not one
        ]
        within = set(run.within.values())
        known = set(map(id, within))
        for owner, changed in self._writers.items():
            if owner in within:
                path = Path(owner.source.path)
                others = {number for number, writers in changed.items() if not writers <= known}
                if others and any(path in one.within and self._depends(one, owner, others) for one in new):
                    return False
        return True

    def _depends(self, run: ModuleRun, owner: ModuleRun, changed: set[int]) -> bool:
        """Return whether a module, by itself, may depend on any of these changed objects of another one."""
        if owner.scope.born > run.scope.born:
            # It ran during this one's import, for which only reads of older modules are noted.
            return True
        if run.met is None or not changed.isdisjoint(run.met):
            return True
        for number in changed:
            thing, before = self._before[number]
            if isinstance(thing, Scope):
                change = Effect(thing, before, held(thing))
                if not change.names.isdisjoint(run.read) or change.is_open:
                    return True
            elif not isinstance(thing, CHANGING):
                # Reads of classes and wrappers are not noted.
                return True
        return False

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
            if not isinstance(thing, (*CHANGING, Scope)):
                changed_for_all(thing)
            self._before.setdefault(thing.born, (thing, held(thing)))
            restore(thing, effect.after)
            owner = self.owner(thing.born)
            if owner is not None:
                self._note_writer(owner, thing.born, id(writer))
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
            EFFECTS.imported, EFFECTS.remade = self._imported, self._remade
            _present = self

    def leave(self) -> None:
        """Undo all changes; `enter` makes them again."""
        self.attribute(None)
        self._after = [(thing, held(thing)) for thing, _ in self._before.values()]
        for thing, state in self._before.values():
            restore(thing, state)
        self._imported, EFFECTS.imported, EFFECTS.remade = EFFECTS.imported, 0, []

    def release(self) -> None:
        """Undo all changes, never to be made again."""
        if _present is self:
            leave()
        self._before.clear()
        self._writers.clear()
        self._after = []


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
