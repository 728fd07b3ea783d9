"""Judge mutants: what shardlint says of each, beside what JAX does, by the unit that it happens in.

A mutant *raises about sharding* when a unit that ran in the original raises, and JAX or a library on it
raised: the frames behind the program's own last frame are the library's. So a program's own assertions, names
that Python does not find and arrays that NumPy refuses do not count. Two sorts need a closer look:

- what JAX says of the shapes of operands that do not fit each other is not about sharding: it would say so on
  one device too. It is in the body of a `shard_map`, which sees shards. Of an edited shape, only what speaks
  of sharding counts;
- a name or a keyword that an API does not have is refused by Python at the call: it counts for edits of
  calls.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutation_programs import Program, holding
from mutation_text import Edit

from shardlint.api import Linter, Settings
from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span

WORKER = Path(__file__).with_name("mutation_worker.py")
DEVICES = 8
#: What JAX says of shapes that do not fit each other, on any mesh. (Of operands whose shardings do not fit it
#: says something else, and raises ShardingTypeError.)
_OF_SHAPES = re.compile(
    r"incompatible shapes for broadcasting|Incompatible shapes|contracting dim|annot reshape|reshape total"
    r"|must have the same shape|size of label|same number of dimensions|requires shapes|batch dimensions"
    r"|[Cc]annot concatenate|concatenate operands|feature_group_count|inconsistent sizes for array axes"
    r"|out of bounds for array of dimension"
)
_OF_SHARDING = re.compile(
    r"[Ss]hard|[Ss]pec(?!if|ial)|mesh|[Pp]artition|\bP\(|all_to_all|axis_size|psum|all_gather"
)
#: What Python says of what an API does not have.
_OF_NAMES = re.compile(
    r"unexpected keyword|missing \d+ required|positional argument|module '(jax|flax)|from 'jax"
    r"|incompatible (function|constructor) arguments|'P' object has no attribute"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A mutant, what JAX did (``raises``, ``runs``, ``other``), and whether shardlint is right of it.

    ``false`` are the errors in units that ran; ``found`` says whether a unit that raises has one.
    """

    program: Program
    edit: Edit | None
    outcome: str
    exception: str = ""
    found: bool = False
    errors: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The verdict as JSON has it."""
        edit = self.edit
        return {
            "path": self.program.path,
            "kind": edit.kind if edit else "none",
            "edit": str(edit) if edit else "",
            "outcome": self.outcome,
            "exception": self.exception,
            "found": self.found,
            "errors": self.errors,
            "false": self.false,
        }


class Worker:
    """A warm process that runs programs, see `mutation_worker`."""

    def __init__(self, cache: str) -> None:
        environment = {
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}",
            "JAX_TRACEBACK_FILTERING": "off",  # JAX's own frames tell whose an exception is.
            "JAX_COMPILATION_CACHE_DIR": cache,  # A mutant compiles nearly what its original does.
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a request."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


class Workers:
    """Several of them, for as many threads."""

    def __init__(self, count: int) -> None:
        self.pool = ThreadPoolExecutor(count)
        self.cache = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.all = [Worker(self.cache.name) for _ in range(count)]
        self.free: SimpleQueue[Worker] = SimpleQueue()
        for worker in self.all:
            self.free.put(worker)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)
        for worker in self.all:
            worker.close()
        self.cache.cleanup()

    def run(
        self, program: Program, units: Sequence[dict[str, Any]], timeout: float, trace: bool = False
    ) -> Future[dict[str, Any]]:
        """Run units of a program; the answer is as `mutation_worker` describes it."""
        folder = str(Path(program.path).resolve().parent)
        request = {
            "sources": program.sources(),
            "units": units,
            "timeout": timeout,
            "trace": trace,
            "folder": folder,
        }
        return self.pool.submit(self._ask, request)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        worker = self.free.get()
        try:
            return worker.ask(request)
        finally:
            self.free.put(worker)


@dataclass
class Original:
    """A program as it stands: which of its units run, and the errors in those (there should be none)."""

    program: Program
    units: list[dict[str, Any]]
    #: All units of the program, also those that fail.
    layout: list[dict[str, Any]] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    #: What the others raise.
    failing: dict[str, tuple[str, str]] = field(default_factory=dict)
    problem: str = ""

    @staticmethod
    def of(program: Program, workers: Workers, timeout: float) -> Original:
        """Run a program."""
        units, _ = program.layout()
        # A program may fail where it stands, and the cells behind it run all the same.
        answer = workers.run(program, [{**u, "fails": u["kind"] == "cell"} for u in units], timeout).result()
        failed = {run["unit"]: run["exception"] for run in answer["runs"]}
        original = Original(program, [], units)
        original.running = {name for name, exception in failed.items() if exception is None}
        original.failing = {
            r["unit"]: (r["exception"], r["message"]) for r in answer["runs"] if r["exception"]
        }
        for unit in units:
            if unit["name"] in failed and (unit["kind"] == "cell" or unit["name"] in original.running):
                original.units.append({**unit, "fails": unit["name"] not in original.running})
        if answer["lost"]:
            original.problem = "it took too long"
        elif "top level" in failed and "top level" not in original.running:
            original.problem = f"its top level raises {failed['top level']}"
        elif not original.running:
            original.problem = "nothing of it runs"
        return original

    def concerned(self, edit: Edit) -> list[dict[str, Any]]:
        """The units to run for an edit: in a case, that one; else all. None where the original fails."""
        home = holding(self.layout, None if edit.cell < 0 else edit.cell, edit.line)
        if home is None or home["name"] not in self.running:
            return []
        if home["kind"] == "case":
            return [
                unit for unit in self.units if unit["kind"] == "top level" or unit["name"] == home["name"]
            ]
        return self.units


class Judge:
    """Sets shardlint's verdict of mutants beside JAX's."""

    def __init__(self, workers: Workers, timeout: float) -> None:
        self.workers = workers
        self.timeout = timeout
        self.linter = Linter(Settings(devices=DEVICES))

    def errors(self, program: Program) -> list[Finding]:
        """The errors that shardlint finds."""
        return [f for f in self.linter.check_source(program.source()) if f.severity is Severity.ERROR]

    def original(self, original: Original) -> Verdict:
        """An original is judged as a mutant that nothing was done to."""
        answer = self.workers.run(original.program, original.units, self.timeout)
        return self._verdict(original, original.program, None, original.units, answer)

    def mutants(self, original: Original, edits: Sequence[Edit]) -> Iterator[Verdict]:
        """Judge mutants, in order; some run while others are analyzed."""
        ahead: list[tuple[Program, Edit, list[dict[str, Any]], Future[dict[str, Any]]]] = []
        for edit in edits:
            units = original.concerned(edit)
            mutant = original.program.edited(edit.cell, edit.start, edit.end, edit.text)
            if units and _parses(mutant, edit.cell):
                units = _moved(units, mutant)
                ahead.append((mutant, edit, units, self.workers.run(mutant, units, self.timeout)))
        for mutant, edit, units, answer in ahead:
            yield self._verdict(original, mutant, edit, units, answer)

    def _verdict(
        self,
        original: Original,
        mutant: Program,
        edit: Edit | None,
        units: list[dict[str, Any]],
        answer: Future[dict[str, Any]],
    ) -> Verdict:
        errors = self.errors(mutant)
        result = answer.result()
        all_units, _ = mutant.layout()
        ran = {run["unit"] for run in result["runs"] if run["exception"] is None} & original.running
        raised = [r for r in result["runs"] if r["exception"] and r["unit"] in original.running]
        # A unit that fails in any case fails otherwise: what it comes by before may be why.
        otherwise = any(
            run["exception"]
            and original.failing.get(run["unit"]) not in (None, (run["exception"], run["message"]))
            for run in result["runs"]
        )
        about = [run for run in raised if _about_sharding(run, edit)]
        outcome = "raises" if about else "other" if raised or result["lost"] else "runs"
        found, suspects = False, []
        for error in errors:
            span = _within(mutant, error)
            home = holding(all_units, span.cell, span.line)
            name = home["name"] if home else ""
            # What stands outside of cases, every case may use: it is wrong if one of them raises.
            shared = home is None or home["kind"] != "case"
            calls = [holding(all_units, at.cell, at.line) for at in _calls(mutant, error)]
            if about and (name in {run["unit"] for run in about} or (shared and name in ran)):
                found = True
            elif (
                name in ran
                and not (shared and (raised or otherwise))
                and all(unit is None or unit["name"] in ran for unit in calls)
            ):
                suspects.append(error)
        if suspects:
            lines = self.workers.run(mutant, units, 4 * self.timeout, trace=True).result()["lines"]
            suspects = [error for error in suspects if _executed(mutant, error, lines)]
        said = f"{about[0]['exception']}: {about[0]['message']}" if about else ""
        if not about and raised:
            said = f"{raised[0]['exception']}: {raised[0]['message']}"
        return Verdict(mutant, edit, outcome, said, found, _told(errors), _told(suspects))


def _within(program: Program, error: Finding) -> Span:
    """Where an error stands in a program; of one in a module that it imports, what else it points at."""
    places = [error.span, *(related.span for related in error.related)]
    return next((place for place in places if Path(place.path) == Path(program.path)), error.span)


def _calls(program: Program, error: Finding) -> list[Span]:
    """The calls that an error says it comes at, where it stands in what is called."""
    return [
        related.span
        for related in error.related
        if related.message.endswith(" is called here") and Path(related.span.path) == Path(program.path)
    ]


def _told(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(f"{_at(f)}: {f.code} {f.message}" for f in findings)


def _at(finding: Finding) -> str:
    span = finding.span
    return f"line {span.line}" if span.cell is None else f"cell {span.cell}, line {span.line}"


def _parses(program: Program, cell: int) -> bool:
    try:
        ast.parse(next(text for index, _, text in program.sources() if index == cell))
    except (SyntaxError, ValueError):
        return False
    return True


def _moved(units: list[dict[str, Any]], mutant: Program) -> list[dict[str, Any]]:
    """Units where they stand in the mutant."""
    places = {unit["name"]: unit for unit in mutant.layout()[0]}
    return [{**places[unit["name"]], "fails": unit["fails"]} for unit in units if unit["name"] in places]


def _about_sharding(run: dict[str, Any], edit: Edit | None) -> bool:
    group = edit.kind.partition(":")[0] if edit else ""
    if run["library"]:
        if not run["mapped"] and _OF_SHAPES.search(run["message"]):
            return False
        return group != "shape" or bool(_OF_SHARDING.search(run["message"]))
    return group in ("call", "specs", "sharding", "collective", "mesh", "names") and bool(
        _OF_NAMES.search(run["message"])
    )


def _executed(program: Program, error: Finding, lines: Sequence[Sequence[int]]) -> bool:
    """Whether the statement that an error stands in was executed, and the calls that it comes at."""
    places = [_within(program, error), *_calls(program, error)]
    return all(_ran(program, place, lines) for place in places)


def _ran(program: Program, span: Span, lines: Sequence[Sequence[int]]) -> bool:
    """Whether the statement at a place was executed. What stands in a decorator speaks of the function's
    calls: it is whether there were any."""
    cell = -1 if span.cell is None else span.cell
    text = next(text for index, _, text in program.sources() if index == cell)
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    around = [node for node in statements if node.lineno <= span.line <= (node.end_lineno or node.lineno)]
    for node in statements:
        if isinstance(node, ast.FunctionDef) and span.line in range(_first(node), node.lineno):
            body = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            return any(at == cell and line in body for at, line in lines)
    if not around:
        return True
    home = min(around, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)
    # Of a function or a loop, which holds statements of its own, the line itself is what is executed.
    last = span.end_line if hasattr(home, "body") else home.end_lineno or home.lineno
    return any(at == cell and home.lineno <= line <= last for at, line in lines)


def _first(node: ast.FunctionDef) -> int:
    """The first line of a function's definition: that of its decorators, if it has some."""
    return min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
