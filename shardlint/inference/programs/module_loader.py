"""A project: its modules, found and run once, and its settings about devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import Const, External, ModuleValue, Value, as_str
from shardlint.inference.evaluation.budget import Budget
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.monkeypatches import set_library_name
from shardlint.inference.evaluation.release_queries import state_of, version_named
from shardlint.inference.machine.module_run import Effect, ModuleRun
from shardlint.inference.machine.variable_reads import Reads, note_variable, read_of
from shardlint.inference.overlays.jax.configuration import set_by_environment
from shardlint.inference.overlays.registry import canonical, names_under, transfer
from shardlint.inference.programs.data_files import data_file
from shardlint.inference.programs.worlds import World, leave
from shardlint.inference.store.effect_log import EFFECTS, born, changed, depends
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.versions.equivalents import EQUIVALENT
from shardlint.laws.versions.queries import has_members
from shardlint.model.spans import Place
from shardlint.model.uses import ApiReference
from shardlint.source.sources import read_source
from shardlint.source.workspace import file_access
from shardlint.source.workspace.module_paths import import_folders, module_file, package_files

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

_HOST_DEVICES = re.compile(r"--?xla_force_host_platform_device_count=(\d+)")
#: Packages that are libraries even if a folder of that name lies beside the file.
LIBRARIES = frozenset(
    "jax jaxlib numpy flax optax orbax chex haiku equinox jaxtyping einops functools dataclasses typing "
    "os sys math itertools collections contextlib abc enum builtins".split()
)


#: Modules that programs imported, so that the next program need not run them again.
Key = tuple[Path, file_access.Stamp | None, Hashable, Hashable]
_shared: dict[Key, ModuleRun] = {}
_MAX_SHARED = 4_000


def refresh() -> None:
    """Drop the modules that programs share if a file of one of them has changed.

    All of them, since the contents of a module may come from any other.
    """
    if any(file_access.stamp(str(path)) != stamp for path, stamp, *_ in _shared):
        forget()


def drop_touched() -> None:
    """Stop sharing modules that were changed in ways that cannot be undone, and their importers."""
    touched = EFFECTS.touched
    lost = {id(run) for run in _shared.values() if any(number in run.made for number in touched)}
    for key, run in list(_shared.items()) if lost else ():
        if not lost.isdisjoint(map(id, run.within.values())):
            del _shared[key]
    touched.clear()


def forget() -> None:
    """Drop the modules that programs share."""
    leave()
    _shared.clear()


def _identity(path: Path, interpreter: Machine) -> Key:
    """Return what a module's values depend on: the stamp of its file and the settings."""
    return (path, file_access.stamp(str(path)), interpreter.device_count, interpreter.settings)


class Located(NamedTuple):
    """The file of a module, those of the packages around it, and the accesses that found them."""

    path: Path | None
    packages: tuple[Path, ...]
    looked: file_access.FileAccesses


class Project:
    """The modules around the analysed files; ``execute`` runs one."""

    def __init__(
        self,
        roots: tuple[str, ...],
        execute: Callable[[Machine, ModuleRun], object],
    ) -> None:
        self._execute = execute
        self.roots = tuple(Path(root) for root in roots)
        self.modules: dict[Path, ModuleRun] = {}
        #: Whether it may share modules with other programs.
        self.shares = True
        self.world = World(self.modules)
        self.running: list[ModuleRun] = []
        #: The imported modules that are still running.
        self._begun: list[ModuleRun] = []
        self._located: dict[tuple[Path, str], Located] = {}
        #: Modules of packages without ``__init__.py``, by the dotted name of their import.
        self.loose: dict[str, ModuleValue] = {}

    def release(self) -> None:
        """Undo the program's changes to shared modules for good, and forget its modules."""
        self.world.release()
        self.modules.clear()
        self.loose = {}

    # -- modules ------------------------------------------------------------------------------

    def import_module(self, interpreter: Machine, name: str) -> Value:
        """Return a module by its dotted name; leading dots are relative to the running module."""
        here = Path(interpreter.scope.root.module.source.path)
        if name.split(".")[0] in LIBRARIES:
            return self.external(interpreter, name)
        if name == "__main__":
            return self._program()
        path = self.locate(here, name)
        if path is None:
            return (
                Unknown(f"module `{name}` is not seen")
                if name.startswith(".")
                else self.external(interpreter, name)
            )
        return ModuleValue(name, self._run_with_packages(interpreter, here, path, name))

    def _program(self) -> Value:
        """Return the main module."""
        found = next((run for run in self.modules.values() if run.name == "__main__"), None)
        return Unknown("the program") if found is None else ModuleValue("__main__", found)

    def submodule(self, interpreter: Machine, package: str, name: str) -> ModuleValue | None:
        """Return a module of a package without ``__init__.py``, or None.

        A folder counts as such a package only if it contains the module: it may share a library's name.
        """
        full = f"{package}{name}" if package.endswith(".") else f"{package}.{name}"
        if full.split(".")[0] in LIBRARIES:
            return None
        here = Path(interpreter.scope.root.module.source.path)
        path = self.locate(here, full)
        if path is None:
            return None
        return ModuleValue(full, self._run_with_packages(interpreter, here, path, full))

    def member(self, interpreter: Machine, module: ModuleValue, name: str) -> Value:
        """Return an attribute of a module: a variable, or a submodule."""
        run: ModuleRun = module.run
        file_access.note_name(run.source.path, name)
        note_variable(interpreter, run.scope, name, run.scope)
        if name in run.scope.variables:
            if run.scope.may_change(name):
                return Unknown(f"`{run.name}.{name}` may change")
            return run.scope.variables[name]
        path = Path(run.source.path)
        if path.name == "__init__.py" and (found := _module_file(path.parent, [name])) is not None:
            return ModuleValue(f"{module.name}.{name}", self._run(interpreter, found, name))
        return Unknown(f"`{module.name}.{name}` is not seen")

    def run_file(self, interpreter: Machine, path: Path) -> ModuleRun:
        """Return the module of a file, run before the program itself."""
        return self._run(interpreter, path, path.stem)

    def _run_with_packages(self, interpreter: Machine, here: Path, path: Path, name: str) -> ModuleRun:
        """Run a module that was located, after the packages around it, as Python does."""
        for package in self._located[here.parent, name].packages:
            self._run(interpreter, package, package.parent.name)
        return self._run(interpreter, path, name)

    def _run(self, interpreter: Machine, path: Path, name: str) -> ModuleRun:
        run = self.modules.get(path)
        if run is None:
            changed(0)
            self.world.attribute(self._begun[-1] if self._begun else None)
            key = _identity(path, interpreter)
            run, known = _shared.get(key) if self.shares else None, set(self.modules.values())
            if run is None or not self.world.takes(run):
                run = self._first_run(interpreter, path, name)
                if run.alone and self.shares:
                    if len(_shared) >= _MAX_SHARED:
                        _shared.clear()
                    _shared[key] = run
                new = [run]
            else:
                # Some of its imports may have run before it, in its program.
                new = sorted(set(run.within.values()) - known, key=lambda one: one.made.stop)
            EFFECTS.imported = born()
            for one in new:
                self._take_over(interpreter, one)
                _replace(interpreter, one)
        elif run in self._begun:
            # The module that begins an import cycle determines what the others see of each other.
            for inner in self._begun[self._begun.index(run) + 1 :]:
                inner.alone = False
        elif run.devices_before != interpreter.device_count:
            for outer in self._begun:
                outer.alone = False
        _replace(interpreter, run)
        if self._begun and path not in self._begun[-1].imported:
            importer = self._begun[-1]
            importer.imported[path] = run
            importer.effects.append(run)
            if not run.closed:
                importer.oldest = min(importer.oldest, run.oldest)
        file_access.include(run.accesses)
        return run

    def _first_run(self, interpreter: Machine, path: Path, name: str) -> ModuleRun:
        """Run a module as if nothing else had run, except modules that already did."""
        i, before, first = interpreter, interpreter.context, born()
        EFFECTS.imported = first
        outer = (i.frames, i.budget, i.assumed, i.variants, i.switches, i.turns, i.asks_mesh)
        questions, i.questions = i.questions, set()
        views, i.views, i.viewed = (i.views, i.viewed), set(), set()
        replaced, i.replaced = i.replaced, {}
        handed, i.handed = i.handed, {}
        reads, i.reads, start, i.start = i.reads, {}, i.start, first
        entry, EFFECTS.entry = EFFECTS.entry, 0
        loose, running, self.loose, self.running = self.loose, self.running, {}, []
        with file_access.recording() as read:
            run = self.modules[path] = ModuleRun(name, read_source(str(path)), i.device_count)
            run.accesses = read
            self._begun.append(run)
            i.frames, i.budget, i.assumed, i.variants, i.switches = [], Budget(), frozenset(), (0, 1), set()
            i.turns, i.asks_mesh = set(), False
            try:
                with i.silent(), i.elsewhere():
                    self._execute(i, run)
                after = i.context
                run.changes = {
                    key: value
                    for key in ("mesh", "logical_rules")
                    if (value := getattr(after, key)) is not getattr(before, key)
                }
                run.device_count, run.switches = i.device_count, frozenset(i.switches)
                run.turns, run.asks_mesh, run.loose = frozenset(i.turns), i.asks_mesh, self.loose
                run.questions, run.views = frozenset(i.questions), frozenset(i.views)
            finally:
                i.frames, i.budget, i.assumed, i.variants, i.switches, i.turns, i.asks_mesh = outer
                i.questions = questions
                i.views, i.viewed = views
                run.replaced, i.replaced = i.replaced, replaced
                run.handed, i.handed = i.handed, handed
                own, i.reads, i.start = i.reads, reads, start
                EFFECTS.entry = entry
                self.loose, self.running = loose, running
                self._begun.pop()
        if run.oldest == run.scope.born:
            _close_cycle(run)
        run.alone &= run.closed and all(_is_as_alone(one, run) for one in run.within.values())
        self.world.attribute(run)
        _note_dependencies(i, run, own or {})
        run.made = range(first, born())
        run.alone &= self.world.is_as_alone(run)
        return run

    def _take_over(self, interpreter: Machine, run: ModuleRun) -> None:
        """Apply a module's changes to program-wide state."""
        interpreter.switches |= run.switches
        interpreter.views |= run.views
        interpreter.viewed |= run.views
        interpreter.turns |= run.turns
        interpreter.asks_mesh |= run.asks_mesh
        interpreter.questions |= run.questions
        interpreter.handed |= run.handed | interpreter.handed
        self.loose.update(run.loose)
        if run.device_count is not None:
            interpreter.device_count = run.device_count
        if run.changes:
            interpreter.context = replace(interpreter.context, **run.changes)

    def locate(self, here: Path, name: str) -> Path | None:
        """Return the file of a module by its dotted name, as imported by the file ``here``; None if not
        found."""
        key = (here.parent, name)
        found = self._located.get(key)
        if found is None:
            with file_access.recording() as looked:
                path = self._search(here, name)
                packages = () if path is None else tuple(map(Path, package_files(str(path), name)))
            found = self._located[key] = Located(path, packages, looked)
        file_access.include(found.looked)
        return found.path

    def _search(self, here: Path, name: str) -> Path | None:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name.lstrip(".").split(".") if part]
        if dots:
            folder = here.parent
            for _ in range(dots - 1):
                folder = folder.parent
            return _module_file(folder, parts)
        found = (_module_file(folder, parts) for folder in import_folders(here, self.roots))
        return next(filter(None, found), None)

    def external(self, interpreter: Machine, name: str) -> Value:
        """Return a library's name in its canonical spelling."""
        return version_named(interpreter, name) or canonical(name)

    def star_names(self, module: str) -> dict[str, Value]:
        """Return the names that ``from module import *`` binds, as far as the overlays know."""
        return {name: canonical(f"{module}.{name}") for name in names_under(module)}

    # -- data ---------------------------------------------------------------------------------

    def data_file(self, here: Path, name: str, beside: bool) -> tuple[str, str] | None:
        """Return the path and the text of a data file in the project, None if it is not known."""
        for run in self._begun:
            # Only modules' own files decide whether programs may share them.
            run.alone = False
        return data_file(here, self.roots, name, beside)

    # -- versions -----------------------------------------------------------------------------

    def replacement(self, interpreter: Machine, name: str) -> Value:
        """Return what stands for a name that the release lacks: what is known of it, or of what replaces it.

        The use of the name is reported; what follows is evaluated as if it had been repaired.
        """
        value = canonical(name)
        if not isinstance(value, External) or transfer(value.name) is not None or has_members(name):
            return value
        if name in EQUIVALENT:
            return canonical(EQUIVALENT[name])
        return Unknown(f"JAX has no `{name}`")

    def reference(
        self, interpreter: Machine, name: str, place: Place, exception: str = "AttributeError"
    ) -> bool:
        """Record a reference to a name, or an argument ``f(x=)``, that only some JAX releases have.

        The others raise ``exception``. Return whether the assumed release does.
        """
        state = state_of(interpreter, name)
        if state is None or (state.there and not state.deprecated):
            return False
        if state.there and interpreter.context.deprecation_known:
            # It is for releases that lack what replaces it, or whoever wrote it has read the warning.
            return False
        if state.name != name and state_of(interpreter, name.rpartition(".")[0]) is not None:
            # Parts of a removed or deprecated name are reported with it.
            return False
        verdict: Accepted | Rejected | Undecided = Accepted()
        if not state.there:
            # On a branch that a version check may guard, nothing is reported.
            guarded = Undecided("a version check may guard this")
            verdict = guarded if interpreter.guarded else Rejected(Cause.REMOVED, exception, "reference")
        environment, release = interpreter.environment(), interpreter.settings.release
        interpreter.record(
            ApiReference(place=place, environment=environment, verdict=verdict, name=name, release=release)
        )
        return isinstance(verdict, Rejected)

    # -- devices ------------------------------------------------------------------------------

    def set_environment(self, interpreter: Machine, key: Value, value: Value) -> None:
        """Read the number of devices from ``os.environ["XLA_FLAGS"] = ...``; note that others are set."""
        if interpreter.settings.defaults:
            set_library_name(interpreter, f"os.environ.{as_str(key) or '*'}")
        set_by_environment(interpreter, as_str(key))
        if as_str(key) != "XLA_FLAGS":
            return
        for option in options(value):
            text = option.value if isinstance(option, Const) else None
            found = _HOST_DEVICES.search(text) if isinstance(text, str) else None
            if found:
                interpreter.device_count = int(found[1])
                interpreter.switches.add("cpu devices")


def _replace(interpreter: Machine, run: ModuleRun) -> None:
    """Apply the attributes that an imported module's classes redefine: once in each evaluation."""
    if run.replaced and run.scope.born not in interpreter.replaced:
        # Later imports need not repeat this, but depend on it.
        depends(run.scope.born)
        interpreter.replaced[run.scope.born] = frozenset()
        for number, names in run.replaced.items():
            known = interpreter.replaced.get(number)
            # Modules share these sets: each contains those of all its imports.
            if known is None or known < names:
                interpreter.replaced[number] = names
            elif not names <= known:
                interpreter.replaced[number] = known | names


def _module_file(folder: Path, parts: Sequence[str]) -> Path | None:
    found = module_file(str(folder), parts)
    return None if found is None else Path(found)


def _note_dependencies(interpreter: Machine, run: ModuleRun, reads: Reads) -> None:
    """Note what a module that has run depends on in modules that ran before, given its reads of variables."""
    values = [read_of(anchor, name) if isinstance(anchor, Scope) else anchor for anchor, name in reads]
    names = {name for _, name in reads}
    changes = [step for step in run.effects if isinstance(step, Effect)]
    for change in changes:
        if isinstance(change.thing, Scope):
            names |= change.names
            values += [change.before["variables"].get(name) for name in change.names]
        else:
            values.append(list(change.before.values()))
    run.read = frozenset(names)
    met = interpreter.memory.objects_in(run.scope, values)
    run.met = None if met is None else met | {change.thing.born for change in changes}


def _close_cycle(run: ModuleRun) -> None:
    """Set the transitive imports of a module that imports none still running, and of those in cycles with it.

    The latter import this one in turn, so all have the same.
    """
    run.within = {Path(run.source.path): run}
    waiting = [run]
    while waiting:
        for path, one in waiting.pop().imported.items():
            if path in run.within:
                continue
            if one.closed:
                run.within.update(one.within)
            else:
                run.within[path] = one
                waiting.append(one)
    for one in run.within.values():
        if not one.closed:
            one.within, one.closed = run.within, True
            one.begun_by = None if one is run else run


def _is_as_alone(one: ModuleRun, importer: ModuleRun) -> bool:
    """Return whether an import of a module would be the same had nothing run before that module."""
    if one.alone or one.scope.born > importer.scope.born:
        return True
    # It is in a cycle that began before; the same module must begin it here.
    return one.begun_by is not None and one.begun_by.alone and _begins(one.begun_by, importer)


def _begins(first: ModuleRun, importer: ModuleRun) -> bool:
    """Return whether a module would be the first one of its cycle that another's imports reach."""
    waiting, seen = [importer], set[ModuleRun]()
    while waiting:
        one = waiting.pop()
        if one is first or one.begun_by is first:
            return one is first
        if one not in seen:
            seen.add(one)
            waiting += reversed(one.imported.values())
    return True
