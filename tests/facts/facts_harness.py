"""What the tests of facts share: an interpreter without a program, findings of a text, JAX beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from support import checking
from support.jax_answers import answers

from shardlint.api import Linter, Settings, source_from_cells
from shardlint.inference.evaluation.context import Frame
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.machine.module_run import ModuleRun
from shardlint.inference.programs.module_loader import Project
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.model.findings import Finding
from shardlint.source.sources import source_from_text as read

SETUP = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
"""

#: The meshes that a configuration names in these tests.
MESHES = (
    ("v5e-8", Mesh(("data", "model"), (2, 4), (AxisType.AUTO,) * 2)),
    ("v5p-8", Mesh(("data", "model"), (8, 1), (AxisType.AUTO,) * 2)),
)

_RUN = """
import json, sys
for name, text, given in json.load(sys.stdin):
    import jax, jax.numpy as jnp, numpy as np, types
    world = {"__name__": "__main__"}
    exec("import jax, jax.numpy as jnp, numpy as np\\n" + given, world)
    try:
        exec(compile(text, name, "exec"), world)
        print(json.dumps([name, None]))
    except Exception as error:
        print(json.dumps([name, type(error).__name__]))
"""


def check(text: str, **settings: Any) -> list[Finding]:
    """Return what is found in a program after `SETUP`, on eight devices."""
    return checking.check(f"{SETUP}{text}\n", **settings)


def check_cells(cells: list[str]) -> list[Finding]:
    """Return what is found in a notebook of these cells, the first of them `SETUP`."""
    numbered = list(enumerate([SETUP, *cells]))
    return Linter(Settings(devices=8)).check_source(source_from_cells("program.ipynb", numbered))


def run_in_jax(programs: list[tuple[str, str, str]]) -> dict[str, str | None]:
    """Return what each program (name, text, what its unknown names are) raises on eight devices."""
    whole = {name: json.dumps([name, f"{SETUP}{text}\n", given]) for name, text, given in programs}
    return answers(whole, _ask, _RUN)


def _ask(programs: Mapping[str, str]) -> dict[str, str | None]:
    whole = [json.loads(program) for program in programs.values()]
    result = subprocess.run(
        [sys.executable, "-c", _RUN], input=json.dumps(whole),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    # JAX may print as well.
    return dict(json.loads(line) for line in result.stdout.splitlines() if line.startswith("["))


def interpreter() -> Interpreter:
    """An interpreter in the middle of an empty module."""
    made = Interpreter(InferenceSettings(), Project((), lambda *_: None))
    run = ModuleRun("__main__", read("empty.py", ""))
    made.frames.append(Frame(run.scope, None))
    return made
