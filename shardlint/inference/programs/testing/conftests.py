"""The `conftest.py` files that pytest runs before a module of tests, and the plugins that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import Value, as_items, as_str
from shardlint.inference.programs.testing.runner import is_test_file
from shardlint.source.workspace import file_access

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine
    from shardlint.inference.machine.module_run import ModuleRun
    from shardlint.inference.programs.module_loader import Project

_NAME = "conftest.py"
#: Files that tell where a project begins: pytest looks no further up.
_ROOTS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", ".git")
_DEEPEST = 6


def run_conftests(interpreter: Machine, project: Project, path: str) -> list[ModuleRun]:
    """Run what pytest runs before a module of tests; return the modules, nearest first."""
    if not is_test_file(path):
        return []
    found = [project.run_file(interpreter, one) for one in reversed(list(_paths(Path(path))))]
    plugins = [name for run in found for name in _names(run.scope.variables.get("pytest_plugins"))]
    named = [project.locate(Path(path), name) for name in plugins]
    more = [project.run_file(interpreter, one) for one in named if one is not None]
    return [*reversed(found), *more]


def _paths(path: Path) -> Iterator[Path]:
    """Yield the files of a module's folder and those above it, up to the root of the project."""
    for folder in list(path.parents)[:_DEEPEST]:
        if file_access.is_file(str(folder / _NAME)):
            yield folder / _NAME
        if any(file_access.is_file(str(folder / root)) for root in _ROOTS):
            return


def _names(value: Value | None) -> Iterator[str]:
    texts = [as_str(value), *map(as_str, as_items(value) or ())]
    yield from (text for text in texts if text is not None)
