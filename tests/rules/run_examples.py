"""Run programs from standard input through JAX on 8 fake devices, each by itself.

Reads a JSON object of name to program and writes one of name to the classes of the exception that the
program raised, the most derived first, or null when it ran.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"


def run(program: str) -> list[str] | None:
    """Execute one program in a thread of its own, where no other has set a mesh.

    Returns the classes of what it raises, or None.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_executed, program).result()


def _executed(program: str) -> list[str] | None:
    try:
        exec(compile(program, "<example>", "exec"), {"__name__": "__main__"})
    except Exception as error:
        return [cls.__name__ for cls in type(error).__mro__]
    return None


if __name__ == "__main__":
    print(json.dumps({name: run(program) for name, program in json.load(sys.stdin).items()}))
