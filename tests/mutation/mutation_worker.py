"""A process that runs programs on fake devices: warm, and each program in a fork of its own.

JSON lines in: ``{"sources", "units", "trace", "timeout", "folder"}``; one line out for each: the runs of the
units, with what `attempt` says, up to one that fails where the original did not.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import linecache
import os
import select
import signal
import sys
import time
import traceback
import types
from typing import Any

from shardlint.confirm.fixtures import runner

LIBRARIES = ("jax", "jax.numpy", "numpy", "flax.linen", "flax.nnx", "optax")
#: Whose checks these are: a program's own exceptions, and numpy's, say nothing about sharding.
OWNERS = ("jax", "jaxlib", "flax", "optax", "equinox", "haiku", "orbax")


def serve() -> None:
    """Answer requests until there are none. The backend starts in the forks only: it does not survive one."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        out.write(json.dumps(forked(json.loads(line))) + "\n")
        out.flush()


def forked(request: dict[str, Any]) -> dict[str, Any]:
    """Run a request in a fork, and kill it when its time is over."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            with os.fdopen(writer, "w") as pipe:
                json.dump(run(request), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    deadline, answer, over = time.monotonic() + request["timeout"], b"", False
    while not over:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        data = os.read(reader, 1 << 16) if ready else b""
        answer, over = answer + data, not data
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return json.loads(answer)
    except ValueError:
        return {"runs": [], "lines": [], "lost": True}


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run units in order. What raised in the original may raise again; what did not ends the run."""
    if any("jax_num_cpu_devices" in text for _, _, text in request["sources"]):
        os.environ.pop("XLA_FLAGS", None)
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    texts = {cell: (name, text) for cell, name, text in request["sources"]}
    cells = {name: cell for cell, (name, _) in texts.items()}
    module.__file__ = next(iter(cells))
    sys.argv = [module.__file__]
    executed: set[tuple[int, int]] = set()
    if request["trace"]:
        sys.settrace(functools.partial(_follow, cells, executed))
    runs: list[dict[str, Any]] = []
    for unit in request["units"]:
        runs.append({"unit": unit["name"], **attempt(functools.partial(perform, unit, module, texts), cells)})
        if runs[-1]["exception"] and unit["kind"] != "case" and not unit["fails"]:
            break
    sys.settrace(None)
    return {"runs": runs, "lines": sorted(executed), "lost": False}


def perform(unit: dict[str, Any], module: types.ModuleType, texts: dict[int, tuple[str, str]]) -> None:
    """Run one unit in the program's module."""
    if unit["kind"] == "case":
        module.__dict__[unit["name"]]()
        return
    name, text = texts[unit["cell"]]
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), module.__dict__)


def attempt(action: functools.partial[None], cells: dict[str, int]) -> dict[str, Any]:
    """Run something of the program's, and say what it raised, where, and whether a library raised it.

    It did when its frames are the ones that follow the program's last. ``mapped`` is whether a `shard_map` is
    among them all.
    """
    result: dict[str, Any] = {
        "exception": None,
        "message": "",
        "library": False,
        "mapped": False,
    }
    try:
        action()
    except SystemExit as error:
        if error.code not in (None, 0):
            result["exception"] = "SystemExit"
    except BaseException as error:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        mine = max((i for i, file in enumerate(files) if file in cells), default=-1)
        after = next((file for file in files[mine + 1 :] if not _of_python(file)), "")
        result |= {
            "exception": type(error).__name__,
            "message": (str(error).strip().splitlines() or [""])[0][: runner.MESSAGE_LIMIT],
            "library": any(f"{os.sep}site-packages{os.sep}{owner}{os.sep}" in after for owner in OWNERS),
            "mapped": any(file.endswith(f"{os.sep}shard_map.py") for file in files),
        }
    return result


def _of_python(file: str) -> bool:
    return "site-packages" not in file and (file.startswith((sys.base_prefix, "<")))


def _follow(cells: dict[str, int], executed: set[tuple[int, int]], frame: Any, event: str, _: object) -> Any:
    """A trace function that remembers the lines of the program's own that were executed."""
    cell = cells.get(frame.f_code.co_filename)
    if cell is None:
        return None
    executed.add((cell, frame.f_lineno))
    return functools.partial(_follow, cells, executed)


if __name__ == "__main__":
    serve()
