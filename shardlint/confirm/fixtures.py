"""Run fixtures: programs and notebooks that announce what is wrong with them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shardlint.confirm.processes import Child, ChildLost
from shardlint.support.lazy_dataclass import dataclass

RUNNER = Path(__file__).with_name("runner.py")
DEFAULT_DEVICES = 8
_DEVICES = re.compile(r"#\s*shardlint:[^\n]*?\bdevices\s*=\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a fixture, both ends included; ``cell`` as in `Span`."""

    cell: int | None
    line: int
    end_line: int

    def holds(self, cell: int | None, line: int) -> bool:
        """Whether a line is among these."""
        return cell == self.cell and self.line <= line <= self.end_line


@dataclass(frozen=True, slots=True)
class UnitRun:
    """What one part of a fixture did: its ``top level``, a ``case`` or a ``cell`` (``kind``).

    ``exception`` is the class it raised, with the names of its bases; ``frames`` are the places in
    the fixture it was raised through, innermost last. ``ran`` is false when it was never reached.
    """

    name: str
    kind: str
    place: Lines
    ran: bool = False
    exception: str | None = None
    bases: tuple[str, ...] = ()
    message: str = ""
    frames: tuple[Lines, ...] = ()
    stdout: str = ""

    @property
    def line(self) -> int | None:
        """The line that raised: where the innermost frame inside the fixture stood."""
        return self.frames[-1].line if self.frames else None


@dataclass(frozen=True, slots=True)
class FixtureRun:
    """What a fixture did. ``statements`` are the lines of each statement at top level.

    ``jax`` is the version it imported. ``problem`` says why the run ended early, when it did.
    """

    path: str
    units: tuple[UnitRun, ...] = ()
    statements: tuple[Lines, ...] = ()
    jax: str | None = None
    problem: str | None = None


def run_fixture(
    path: str | Path,
    *,
    python: str | None = None,
    timeout: float = 120.0,
    memory: int = 8 << 30,
    started: Callable[[Child], None] | None = None,
) -> FixtureRun:
    """Run a fixture in a process of its own, on as many fake devices as it asks for (else 8).

    ``timeout`` is in seconds for the whole run, ``memory`` in bytes of resident memory.
    The fixture's own code is executed, with its folder as the working directory. ``started`` is given the
    process, which may be closed by another thread.
    """
    path = Path(path).resolve()
    asked = _DEVICES.search(path.read_text(encoding="utf-8", errors="replace"))
    devices = int(asked[1]) if asked else DEFAULT_DEVICES
    deadline = time.monotonic() + timeout
    command = [python or sys.executable, str(RUNNER)]
    child = None
    units: list[UnitRun] = []
    statements: tuple[Lines, ...] = ()
    jax = None
    try:
        child = Child("the fixture", command, devices=devices, memory=memory, cwd=path.parent)
        if started is not None:
            started(child)
        child.send({"path": str(path)})
        plan = child.receive(timeout)
        statements = tuple(_lines(*numbers) for numbers in plan["statements"])
        units = [_planned(unit) for unit in plan["units"]]
        for number, planned in enumerate(units):
            result = child.receive(max(0.0, deadline - time.monotonic()))
            jax = result["jax"] or jax
            units[number] = _ran(planned, result)
            if planned.kind == "top level" and result["exception"]:
                break
    except ChildLost as reason:
        return FixtureRun(str(path), tuple(units), statements, jax, str(reason))
    finally:
        if child is not None:
            child.close()
    return FixtureRun(str(path), tuple(units), statements, jax)


def _lines(cell: int, line: int, end_line: int) -> Lines:
    return Lines(None if cell < 0 else cell, line, end_line)


def _planned(unit: dict[str, Any]) -> UnitRun:
    return UnitRun(unit["name"], unit["kind"], _lines(unit["cell"], unit["line"], unit["end_line"]))


def _ran(planned: UnitRun, result: dict[str, Any]) -> UnitRun:
    return UnitRun(
        planned.name,
        planned.kind,
        planned.place,
        ran=True,
        exception=result["exception"],
        bases=tuple(result["bases"]),
        message=result["message"],
        frames=tuple(_lines(*numbers) for numbers in result["frames"]),
        stdout=result["stdout"],
    )
