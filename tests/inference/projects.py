"""Reads small projects in pairs (``projects/README.md``), and has the real JAX run them on eight devices."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PRELUDE = """\
import functools
from functools import partial
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
def put(x, *names):
    return jax.device_put(x, NamedSharding(mesh, P(*names)))
"""
FOLDER = Path(__file__).parent / "projects"

#: Runs ``main.py`` of each folder that standard input names; what it imports is forgotten afterwards.
_RUN = """
import json, os, runpy, sys
import jax
for line in sys.stdin:
    folder, main = json.loads(line)
    path, modules, raised = list(sys.path), set(sys.modules), None
    sys.path[:0] = [os.path.dirname(main), folder, os.path.join(folder, "src")]
    try:
        runpy.run_path(main, run_name="__main__")
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", None) or folder).startswith(folder):
            del sys.modules[name]
    print(json.dumps([folder, raised]), flush=True)
"""


@dataclass(frozen=True)
class Project:
    """One project: its two programs, as texts by path, and the code of the mistake in the first."""

    name: str
    code: str
    main: str
    broken: dict[str, str]
    fixed: dict[str, str]
    needs: str | None

    @property
    def runs_here(self) -> bool:
        """Whether the libraries it imports are installed."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write both programs below a folder; return those folders."""
        for kind, files in (("broken", self.broken), ("fixed", self.fixed)):
            for path, text in files.items():
                file = folder / kind / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return folder / "broken", folder / "fixed"


def read_projects() -> list[Project]:
    """All projects of the folder. Raises ValueError when two have one name."""
    found = [
        _project(f"{file.stem}: {section.splitlines()[0]}", section.splitlines()[1:])
        for file in sorted(FOLDER.glob("*.txt"))
        for section in f"\n{file.read_text(encoding='utf-8')}".split("\n== ")[1:]
    ]
    if len({project.name for project in found}) < len(found):
        raise ValueError("two projects of one name")
    return found


def _project(header: str, lines: list[str]) -> Project:
    name, _, code = header.rpartition(": ")
    main, needs, path = "main.py", None, None
    texts: dict[str, dict[str, list[str]]] = {"<": {}, ">": {}}
    for line in lines:
        if line.startswith("# at "):
            main = line.removeprefix("# at ")
        elif line.startswith("# needs "):
            needs = line.removeprefix("# needs ")
        elif line.startswith("-- "):
            path = line.removeprefix("-- ")
            for files in texts.values():
                files[path] = []
        else:
            if path is None:
                path = main
                for files in texts.values():
                    files[path] = [*PRELUDE.splitlines()]
            for kind, files in texts.items():
                if line[:2] not in ("< ", "> "):
                    files[path].append(line)
                elif line[0] == kind:
                    # The mark stands in the first column; beside text without indentation it has its own.
                    files[path].append(f" {line[1:]}" if line[:3].endswith("  ") else line[2:])
    broken, fixed = (
        {path: "\n".join(text).rstrip() + "\n" for path, text in files.items()} for files in texts.values()
    )
    return Project(name, code, main, broken, fixed, needs)


def outcomes(programs: list[tuple[Path, str]]) -> dict[str, str | None]:
    """What each program (its folder and main file) raises in JAX, None for those that run."""
    asked = "".join(json.dumps([str(folder), str(folder / main)]) + "\n" for folder, main in programs)
    result = subprocess.run(
        [sys.executable, "-c", _RUN],
        input=asked,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    answers = (json.loads(line) for line in result.stdout.splitlines() if line.startswith('["'))
    return dict(answers)
