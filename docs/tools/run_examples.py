"""Run programs from standard input through JAX on 8 fake devices, each by itself.

Self-contained: any interpreter with jax runs it. Reads a JSON object of name to program and writes one:
``jax``, the release, and ``outcomes``, of name to null where the program ran, else to the ``classes`` of the
exception that it raised, the most derived first, the first line of its ``message``, and the ``lines`` of the
program that were being executed, the innermost last.
"""

import json
import os
import re
import sys
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["JAX_PLATFORMS"] = "cpu"

#: What another run, or another machine, says otherwise: addresses, files, the values of arrays.
_NOISE = re.compile(r" at 0x[0-9a-f]+| \((?:/|[A-Z]:)[^)]*\)|\[\[.*")


def run(program: str) -> "dict | None":
    """Execute one program in a thread of its own, where no other has set a mesh."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_executed, program).result()


def _executed(program: str) -> "dict | None":
    try:
        exec(compile(program, "<example>", "exec"), {"__name__": "__main__"})
    except Exception as error:
        lines = str(error).strip().splitlines()
        message = _NOISE.sub("", lines[0].strip()) if lines else ""
        return {
            "classes": [cls.__name__ for cls in type(error).__mro__],
            "message": message,
            "lines": _lines(error),
        }
    return None


def _lines(error: Exception) -> "list[int]":
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == "<example>"]
    return lines or [getattr(error, "lineno", 1)]


if __name__ == "__main__":
    import jax

    warnings.simplefilter("ignore")
    outcomes = {name: run(program) for name, program in json.load(sys.stdin).items()}
    print(json.dumps({"jax": jax.__version__, "outcomes": outcomes}))
