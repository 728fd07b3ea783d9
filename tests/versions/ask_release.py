"""Ask the JAX that runs this, and print what it said as one JSON object.

usage: python tests/versions/ask_release.py SECTION [START]

The section "pages" reads the rules' examples from standard input.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import older_jax

warnings.simplefilter("ignore")

#: What another run, or another machine, says otherwise: addresses, files, the values of arrays.
NOISE = re.compile(r" at 0x[0-9a-f]+| \((?:/|[A-Z]:)[^)]*\)|\[\[.*|(?:/[\w.+-]+){3,}")


def first_line(error: Exception) -> str:
    """Return the first line of a message, without what differs from run to run."""
    lines = str(error).strip().splitlines()
    return NOISE.sub("", lines[0].strip()) if lines else ""


def names() -> dict[str, Any]:
    """Return the surface, and what else is true of the release."""
    from surface import surface

    said = {"jax": version("jax"), "jaxlib": version("jaxlib"), "flax": version("flax")}
    return {"releases": said, "names": surface()}


def matrix() -> dict[str, Any]:
    """Return the cells, and the messages by their digest."""
    from matrix import measured

    messages: dict[str, str] = {}

    def stored(error: Exception) -> str:
        line = first_line(error)[:110]
        key = hashlib.sha256(line.encode()).hexdigest()[:4]
        assert messages.setdefault(key, line) == line
        return key

    cells = measured(stored)
    return {"matrix": cells, "messages": messages}


def cases(family: str, start: int) -> None:
    """Print a family's questions from one on, each before its answer: the process may die of one."""
    from questions import families

    for index, question in enumerate(families()[family]()):
        if index >= start:
            print(json.dumps([question.group, question.text]), flush=True)
            print(json.dumps(_answer(question.ask)), flush=True)


def _answer(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except Exception as error:
        return f"- {type(error).__name__} around"


def pages() -> dict[str, Any]:
    """Return what became of the programs on standard input, by name: None where one ran."""
    sys.path.insert(0, str(older_jax.ROOT / "docs" / "tools"))
    from run_examples import run

    said = {name: run(program) for name, program in json.load(sys.stdin).items()}
    return {name: one and f"{one['classes'][0]}: {one['message']}" for name, one in said.items()}


SECTIONS = {"names": names, "matrix": matrix, "pages": pages}

if __name__ == "__main__":
    if sys.argv[1] in SECTIONS:
        print(json.dumps(SECTIONS[sys.argv[1]]()))
    else:
        cases(sys.argv[1], int(sys.argv[2]))
