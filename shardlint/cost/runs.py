"""Compile what a fixture compiles, in a process of its own, and read what XLA made of it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shardlint.confirm.child_process import Child
from shardlint.confirm.connection import WORKER
from shardlint.confirm.fixtures.expectations import read_expectations
from shardlint.confirm.fixtures.runs import RUNNER, FixtureRun, UnitRun, run_fixture
from shardlint.confirm.installed import installed_release
from shardlint.cost.chips import Slice
from shardlint.cost.programs import read_programs
from shardlint.cost.source_lines import SourceLines
from shardlint.cost.values import Compilation, Part
from shardlint.laws.versions import Release

COMPILER = WORKER / "compiling.py"
#: The oldest JAX whose modules name a stack behind each operation.
OLDEST = Release.parse("0.8.3")


_ONLY_COMPILES = (
    "chips of a topology compile and cannot run: let jax.ShapeDtypeStruct stand for arrays, "
    "and .lower() for calls"
)


class CannotCompile(Exception):
    """The interpreter has no JAX that says what it compiles; the message states why."""


def require_jax(python: str | None) -> None:
    """Raise CannotCompile if an interpreter has a JAX that is too old. None is known of some interpreters."""
    release = installed_release(python)
    if release is not None and release < OLDEST:
        raise CannotCompile(f"{python or sys.executable} has JAX {release}: this needs JAX {OLDEST} or newer")


def compile_file(
    path: str,
    *,
    python: str | None = None,
    devices: int | None = None,
    timeout: float = 600.0,
    memory: int = 8 << 30,
    started: Callable[[Child], None] | None = None,
    slice_: Slice | None = None,
) -> Compilation:
    """Run a program or a notebook and return what it compiles, on this many fake devices.

    Its own code is executed. ``devices`` are by default what the file asks for, else 8; with a ``slice_`` the
    chips of a TPU slice stand in for them, which can compile and not run. The other arguments are those of
    `run_fixture`.
    """
    last: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="shardlint-") as folder:
        run = run_fixture(
            path,
            python=python,
            timeout=timeout,
            memory=memory,
            started=started,
            devices=devices,
            program=[str(COMPILER), folder, str(RUNNER), *([slice_.topology] if slice_ else [])],
            last=last.update,
        )
        programs = read_programs(Path(folder), SourceLines(run.path, path))
    failures = (*_failures(run, path), *last.get("uncompiled", ()))
    if failures and slice_ is not None and run.problem is None:
        failures = (*failures, _ONLY_COMPILES)
    return Compilation(path, tuple(programs), tuple(map(_part, run.units)), failures, run.jax, slice_)


def _part(unit: UnitRun) -> Part:
    place = unit.place
    return Part(unit.name, place.line, place.end_line, place.cell)


def _failures(run: FixtureRun, path: str) -> list[str]:
    """Return why parts of a fixture did not run to their end, unless it announces that they raise."""
    try:
        announced = [one for one in read_expectations(Path(path)) if not one.silent]
    except (OSError, ValueError):
        announced = []
    told = [f"{path}: {run.problem}"] if run.problem is not None else []
    for unit in run.units:
        if unit.exception is None:
            continue
        if any(unit.place.holds(one.cell, one.line) for one in announced) and unit.kind != "top level":
            continue
        where = f", line {unit.line}" if unit.line else ""
        message = f": {unit.message}" if unit.message else ""
        told.append(f"{path}: {unit.name} raises {unit.exception}{where}{message}")
    return told
