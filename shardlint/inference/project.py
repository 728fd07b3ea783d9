"""A project: finding modules, running them once, and what its files say about devices."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.files.sources import Source, read_source
from shardlint.findings import Fix
from shardlint.inference.context import Scope
from shardlint.inference.effects import changed
from shardlint.inference.joins import options
from shardlint.inference.reading import note_variable
from shardlint.inference.releases import state_of
from shardlint.inference.rewriting import fix_of
from shardlint.inference.values import Const, MeshValue, ModuleValue, Value, as_str
from shardlint.laws.dims import Dim
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.versions import Release
from shardlint.spans import Place
from shardlint.uses import ApiReference

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter
    from shardlint.inference.relevance import Relevance
    from shardlint.inference.syntax import Part

_HOST_DEVICES = re.compile(r"--?xla_force_host_platform_device_count=(\d+)")
#: Packages that are libraries even when a folder of that name lies beside the file.
_LIBRARIES = frozenset(
    "jax jaxlib numpy flax optax orbax chex haiku equinox jaxtyping einops functools dataclasses typing "
    "os sys math itertools collections contextlib abc enum builtins".split()
)


class ModuleRun:
    """One module of the project: its text in parts, and its scope as far as it has run."""

    __slots__ = (
        "asks_mesh", "device_count", "mesh", "name", "parts", "relevance", "scope", "source", "switches",
        "turns",
    )  # fmt: skip

    def __init__(self, name: str, source: Source) -> None:
        self.name, self.source = name, source
        self.scope = Scope(self)
        self.parts: list[Part] = []
        self.relevance: Relevance | None = None
        #: What importing it changes for the whole program.
        self.mesh: MeshValue | Unknown | None = None
        self.device_count: Dim | None = None
        self.switches: frozenset[str] = frozenset()
        #: From which releases on JAX may make something else of it.
        self.turns: frozenset[Release] = frozenset()
        #: Whether a mesh that it does not tell matters.
        self.asks_mesh = False


#: Modules that programs imported, so that the next one need not run them again.
Key = tuple[Path, tuple[int, int] | None, Hashable, Hashable]
_shared: dict[Key, ModuleRun] = {}
_MAX_SHARED = 4_000


def refresh() -> None:
    """Forget the modules that programs share when a file of one of them has changed.

    All of them: what a module holds may come from any other.
    """
    if any(_stamp(path) != stamp for path, stamp, *_ in _shared):
        _shared.clear()


def _spelled(root: Path, here: Path) -> Path:
    """A folder as the path of the file that asks begins: no file may go by two paths."""
    whole = Path(os.path.abspath(root))
    for folder in here.parents:
        base = Path(os.path.abspath(folder))
        if whole.is_relative_to(base):
            return folder / whole.relative_to(base)
    return whole


def _stamp(path: Path) -> tuple[int, int] | None:
    """What tells that a file's text is the same, None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _identity(path: Path, interpreter: Interpreter) -> Key:
    """What a module's values depend on: its text, as the file system tells it, and the settings."""
    return (path, _stamp(path), interpreter.device_count, interpreter.settings)


class Project:
    """The modules around the files that are analyzed; ``execute`` runs one."""

    def __init__(self, roots: tuple[str, ...], execute: Callable[[Interpreter, ModuleRun], object]) -> None:
        self._execute = execute
        self.roots = tuple(Path(root) for root in roots)
        self.modules: dict[Path, ModuleRun] = {}
        self.running: list[ModuleRun] = []
        self._found: dict[tuple[Path, str], Path | None] = {}
        #: Modules of packages without ``__init__.py``, by the dotted names they were imported by.
        self.loose: dict[str, ModuleValue] = {}

    # -- modules ------------------------------------------------------------------------------

    def import_module(self, interpreter: Interpreter, name: str) -> Value:
        """Return a module by its dotted name, relative to the running one where it has dots."""
        here = Path(interpreter.scope.root.module.source.path)
        if name.split(".")[0] in _LIBRARIES:
            return self.external(name)
        path = self._locate(here, name)
        if path is None:
            return Unknown(f"module `{name}` is not seen") if name.startswith(".") else self.external(name)
        run = self._run(interpreter, path, name)
        return ModuleValue(name, run)

    def submodule(self, interpreter: Interpreter, package: str, name: str) -> ModuleValue | None:
        """Return a module of a package that has no ``__init__.py``, None where there is none.

        Only what holds such a module is taken for such a package: a folder may share a library's name.
        """
        full = f"{package}{name}" if package.endswith(".") else f"{package}.{name}"
        if full.split(".")[0] in _LIBRARIES:
            return None
        path = self._locate(Path(interpreter.scope.root.module.source.path), full)
        return None if path is None else ModuleValue(full, self._run(interpreter, path, full))

    def member(self, interpreter: Interpreter, module: ModuleValue, name: str) -> Value:
        """Return an attribute of a module: a variable, or a submodule."""
        run: ModuleRun = module.run
        if name in run.scope.variables:
            note_variable(interpreter, run.scope, name, run.scope)
            return run.scope.variables[name]
        path = Path(run.source.path)
        if path.name == "__init__.py" and (found := _module_file(path.parent / name)) is not None:
            return ModuleValue(f"{module.name}.{name}", self._run(interpreter, found, name))
        return Unknown(f"`{module.name}.{name}` is not seen")

    def _run(self, interpreter: Interpreter, path: Path, name: str) -> ModuleRun:
        run = self.modules.get(path)
        if run is not None:
            return run
        changed(0)
        key = _identity(path, interpreter)
        run = _shared.get(key)
        if run is None:
            run = self.modules[path] = ModuleRun(name, read_source(str(path)))
            before, switches = interpreter.context.mesh, interpreter.switches
            turns, interpreter.turns = interpreter.turns, set()
            interpreter.switches = set()
            with interpreter.silent(), interpreter.elsewhere():
                self._execute(interpreter, run)
            after = interpreter.context.mesh
            run.mesh = after if after is not before else None
            run.device_count, run.switches = interpreter.device_count, frozenset(interpreter.switches)
            interpreter.switches |= switches
            run.turns, run.asks_mesh = frozenset(interpreter.turns), interpreter.asks_mesh
            interpreter.turns |= turns
            if len(_shared) >= _MAX_SHARED:
                _shared.clear()
            _shared[key] = run
        elif self.modules.setdefault(path, run) is run:
            interpreter.switches |= run.switches
            interpreter.turns |= run.turns
            interpreter.asks_mesh |= run.asks_mesh
            if run.device_count is not None:
                interpreter.device_count = run.device_count
            if run.mesh is not None:
                interpreter.context = replace(interpreter.context, mesh=run.mesh)
        return run

    def _locate(self, here: Path, name: str) -> Path | None:
        key = (here.parent, name)
        if key not in self._found:
            self._found[key] = self._search(here, name)
        return self._found[key]

    def _search(self, here: Path, name: str) -> Path | None:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name.lstrip(".").split(".") if part]
        if dots:
            folder = here.parent
            for _ in range(dots - 1):
                folder = folder.parent
            return _module_file(folder.joinpath(*parts))
        # Beside the file, then in each folder above it up to the package's root, then in the roots.
        folders = [here.parent, *list(here.parents)[1:5], *(_spelled(root, here) for root in self.roots)]
        return next((found for folder in folders if (found := _module_file(folder.joinpath(*parts)))), None)

    def external(self, name: str) -> Value:
        """Return a library's name, in its canonical spelling."""
        from shardlint.inference.overlays import canonical

        return canonical(name)

    def star_names(self, module: str) -> dict[str, Value]:
        """What ``from module import *`` binds, as far as the overlays know."""
        from shardlint.inference.overlays import names_under

        return {name: self.external(f"{module}.{name}") for name in names_under(module)}

    # -- versions -----------------------------------------------------------------------------

    def reference(
        self, interpreter: Interpreter, name: str, place: Place, exception: str = "AttributeError"
    ) -> bool:
        """Record a reference to a name, or an argument ``f(x=)``, that only some releases of JAX have.

        The others raise ``exception``. Returns whether that is what the assumed release does.
        """
        state = state_of(interpreter, name)
        if state is None or (state.there and not state.deprecated):
            return False
        if state.name != name and state_of(interpreter, name.rpartition(".")[0]) is not None:
            # Parts of what is gone or deprecated are reported with it.
            return False
        verdict: Accepted | Rejected | Undecided = Accepted()
        if not state.there:
            # On a branch that a version check may guard, nothing is claimed.
            guarded = Undecided("a version check may guard this")
            verdict = guarded if interpreter.guarded else Rejected(Cause.REMOVED, exception, "reference")
        environment, release = interpreter.environment(), interpreter.settings.release
        fix = None if interpreter.is_silent else _fix(interpreter, place, name)
        interpreter.record(
            ApiReference(
                place=place, environment=environment, verdict=verdict, name=name, release=release, fix=fix
            )
        )
        return isinstance(verdict, Rejected)

    # -- devices ------------------------------------------------------------------------------

    def set_environment(self, interpreter: Interpreter, key: Value, value: Value) -> None:
        """Learn the number of devices from ``os.environ["XLA_FLAGS"] = ...``."""
        if as_str(key) != "XLA_FLAGS":
            return
        for option in options(value):
            text = option.value if isinstance(option, Const) else None
            found = _HOST_DEVICES.search(text) if isinstance(text, str) else None
            if found:
                interpreter.device_count = int(found[1])
                interpreter.switches.add("cpu devices")


def _fix(interpreter: Interpreter, place: Place, name: str) -> Fix | None:
    """What to write for a name that JAX calls otherwise."""
    span, source = place.resolve(), interpreter.scope.root.module.source
    text = next((cell.text for cell in source.cells if cell.index == span.cell), None)
    return None if text is None or span.path != source.path else fix_of(text, span, name)


def _module_file(path: Path) -> Path | None:
    """The file of a module or package at this path without suffix."""
    # A path without a name (`from .. import x` above everything) can only be a package.
    beside = (path.with_name(f"{path.name}.py"),) if path.name else ()
    for candidate in (*beside, path / "__init__.py"):
        try:
            if candidate.is_file():
                return candidate
        except (OSError, ValueError):
            return None
    return None
