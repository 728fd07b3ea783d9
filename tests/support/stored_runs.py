"""What JAX did in fixtures, from the store of its answers: a fixture that has not changed is not run anew."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shardlint.confirm.fixtures import runs
from shardlint.confirm.fixtures.runs import FixtureRun, Lines, UnitRun
from support.jax_answers import answer, portable

_run_fixture = runs.run_fixture

#: A set of strings, as a message shows it.
_SET = re.compile(r"\{('[^'{}:]*'(?:, '[^'{}:]*')*)\}")
#: Where an object lies in memory, as its text shows it.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def store_runs(patch: pytest.MonkeyPatch) -> None:
    """Let runs of fixtures in this process be answered from the store."""
    patch.setattr(runs, "run_fixture", stored_run)


def stored_run(path: str | Path, **options: Any) -> FixtureRun:
    """Return what JAX did in a fixture."""
    text = Path(path).read_text(encoding="utf-8")
    # What was evaluated is told of a run that is watched.
    question = f"watched\0{text}" if options.get("watched") else text

    said = answer(question, lambda: as_stored(_run_fixture(path, **options)), _runner())
    return FixtureRun(
        str(Path(path).resolve()),
        tuple(_unit(unit) for unit in said["units"]),
        tuple(Lines(**lines) for lines in said["statements"]),
        said["jax"],
        said["problem"],
    )


def as_stored(run: FixtureRun) -> Any:
    """Return a run as it is stored."""
    ran = asdict(run)
    del ran["path"]
    for unit in ran["units"]:
        unit["evaluated"] = sorted(unit["evaluated"])
        unit["message"] = _ADDRESS.sub("", _SET.sub(_in_order, unit["message"]))
    return portable(json.loads(json.dumps(ran).replace(f"{Path(run.path).parent}/", "")))


def _in_order(shown: re.Match[str]) -> str:
    """Return a set in a message in one order: JAX prints it in another one each time."""
    return f"{{{', '.join(sorted(shown[1].split(', ')))}}}"


def _unit(said: dict[str, Any]) -> UnitRun:
    parts = {
        "place": Lines(**said["place"]),
        "bases": tuple(said["bases"]),
        "frames": tuple(Lines(**lines) for lines in said["frames"]),
        "evaluated": frozenset(map(tuple, said["evaluated"])),
    }
    return UnitRun(**{**said, **parts})


@cache
def _runner() -> str:
    return runs.RUNNER.read_text(encoding="utf-8")
