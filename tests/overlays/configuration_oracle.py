"""Values that shardlint knows of a configuration, beside those that OmegaConf has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from shardlint.api import source_from_text
from shardlint.inference.domain.builtin_bases import HELD
from shardlint.inference.domain.values import (
    NONE,
    Const,
    DictValue,
    Instance,
    Integer,
    ListValue,
    Native,
    Tuple,
    Unknown,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.machine.module_run import ModuleRun
from shardlint.inference.programs.module_loader import Project
from shardlint.inference.programs.program import run_module, while_evaluating
from shardlint.model.origins import plain, plain_kind

#: What stands for a value that OmegaConf refuses to give.
RAISES = object()


@dataclass
class Counts:
    """How many values were known, and how many were not."""

    known: int = 0
    unknown: int = 0


def evaluated(text: str, path: Path | None = None) -> dict[str, Value]:
    """Return what a program passes to ``probe(name, value)``, evaluated with its defaults."""
    found: dict[str, Value] = {}
    source = source_from_text(str(path or "program.py"), text)
    interpreter = Interpreter(InferenceSettings(devices=8, defaults=True), Project((), run_module))
    run = ModuleRun("__main__", source)
    interpreter.project.modules[Path(source.path)] = run

    def probe(call: Call) -> Value:
        name, value = call.args
        assert isinstance(name, Const)
        found[name.value] = value
        return NONE

    run.scope.variables["probe"] = Native("probe", probe)
    with while_evaluating():
        assert not run_module(interpreter, run)
    return found


def compare(value: Value | None, real: Any, counts: Counts, where: str = "") -> None:
    """Fail where shardlint knows a value that is another one than the real one."""
    if real is RAISES or value is None or isinstance(value, Unknown | Integer):
        counts.unknown += real is not RAISES
        return
    if isinstance(value, Instance) and value.cls.members is not None:
        assert value is value.cls.members[real.name], where
        counts.known += 1
        return
    if isinstance(value, Instance):
        assert isinstance(real, Mapping | Sequence), where
        _compare_config(value, real, counts, where)
        return
    if isinstance(value, DictValue):
        if value.items is None:
            counts.unknown += 1
            return
        assert isinstance(real, Mapping) and list(real) == list(value.items), (where, list(value.items), real)
        for key, item in value.items.items():
            compare(item, item_of(real, key), counts, f"{where}.{key}")
        return
    if isinstance(value, ListValue | Tuple):
        if value.items is None:
            counts.unknown += 1
            return
        assert isinstance(real, Sequence) and len(real) == len(value.items), (where, len(value.items), real)
        for number, item in enumerate(value.items):
            compare(item, item_of(real, number), counts, f"{where}[{number}]")
        return
    assert isinstance(value, Const), (where, value)
    counts.known += 1
    assert plain_kind(value.value) is type(real), (where, value.value, real)
    told = plain(value.value)
    assert told == real or (told != told and real != real), (where, told, real)


def _compare_config(value: Instance, real: Any, counts: Counts, where: str) -> None:
    assert isinstance(real, DictConfig | ListConfig), (where, real)
    assert value.cls.name == type(real).__name__, (where, real)
    if HELD in value.attributes and not value.forgotten:
        compare(value.attributes[HELD], real, counts, where)
    else:
        counts.unknown += 1


def item_of(real: Any, key: Any) -> Any:
    """Return an item of a real container, `RAISES` if that has none."""
    try:
        return real[key]
    except OmegaConfBaseException:
        return RAISES


def real_probes(text: str) -> dict[str, Any]:
    """Run a program and return what it passes to ``probe(name, value)``."""
    found: dict[str, Any] = {}
    space: dict[str, Any] = {"__name__": "__main__", "probe": found.__setitem__}
    exec(compile(text, "program.py", "exec", dont_inherit=True), space)
    return found


def as_yaml(tree: Any) -> str:
    """Return a tree as the YAML of a file."""
    return OmegaConf.to_yaml(OmegaConf.create(tree))
