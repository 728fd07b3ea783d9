"""Evaluates a program text; ``probe(number, value)`` in it tells what is known of a value."""

from __future__ import annotations

from pathlib import Path

from shardlint.api import source_from_text
from shardlint.inference.domain.values import NONE, Const, Native, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.machine.module_run import ModuleRun
from shardlint.inference.programs.module_loader import Project
from shardlint.inference.programs.program import run_module
from shardlint.model.uses import Use


def evaluate(text: str) -> tuple[dict[int, Value], list[Use]]:
    """The values at the probes, and all uses."""
    found: dict[int, Value] = {}

    def probe(call: Call) -> Value:
        number, value = call.args
        assert isinstance(number, Const)
        found[number.value] = value
        return NONE

    interpreter = Interpreter(InferenceSettings(devices=8), Project((), run_module))
    run = ModuleRun("__main__", source_from_text("program.py", text))
    interpreter.project.modules[Path("program.py")] = run
    run.scope.variables["probe"] = Native("probe", probe)
    assert not run_module(interpreter, run)
    return found, interpreter.uses
