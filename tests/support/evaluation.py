"""The top level of a program, evaluated by itself, with functions of a test's own in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from shardlint.api import source_from_text
from shardlint.inference.domain.values import NONE, Native, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.machine.module_run import ModuleRun
from shardlint.inference.programs.module_loader import Project
from shardlint.inference.programs.program import run_module
from shardlint.model.uses import Use


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The variables of a module at its end, and the uses that were recorded."""

    variables: dict[str, Value]
    uses: list[Use]


def evaluate_module(
    text: str,
    probes: Mapping[str, Callable[[Call], None]] | None = None,
    variables: Mapping[str, Value] | None = None,
    devices: int | None = 8,
) -> Evaluation:
    """Evaluate the top level of a program.

    Args:
        text: the program.
        probes: what is called where the program calls a function of that name.
        variables: others that it finds as it starts.
        devices: how many JAX has.

    Raises AssertionError where the program cannot be read.
    """
    interpreter = Interpreter(InferenceSettings(devices=devices), Project((), run_module))
    run = ModuleRun("__main__", source_from_text("program.py", text))
    interpreter.project.modules[Path("program.py")] = run
    run.scope.variables |= {name: _native(name, probe) for name, probe in (probes or {}).items()}
    run.scope.variables |= variables or {}
    problems = run_module(interpreter, run)
    assert not problems, problems
    return Evaluation(run.scope.variables, interpreter.uses)


def _native(name: str, probe: Callable[[Call], None]) -> Native:
    def called(call: Call) -> Value:
        probe(call)
        return NONE

    return Native(name, called)
