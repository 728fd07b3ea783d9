"""What JAX said of fixed programs: stored, so that JAX is asked of a program once a release.

An answer is stored under the digest of the program and of what runs it, and of the releases installed:
a changed program is asked anew by itself, each time. With ``SHARDLINT_ASK_JAX=new`` such answers are stored;
with ``SHARDLINT_ASK_JAX=1`` all are asked anew, and stored:

    rm tests/data/jax_answers.json; SHARDLINT_ASK_JAX=1 python -m pytest tests/facts tests/placement …

A run of the tests ends with the number of programs whose answers were not stored. `test_jax_answers.py` asks
JAX for a sample each time.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STORE = ROOT / "tests" / "data" / "jax_answers.json"
RUNNER = ROOT / "docs" / "tools" / "run_examples.py"
#: What an answer may depend on.
LIBRARIES = ("jax", "jaxlib", "flax", "optax", "equinox", "jaxtyping", "numpy")

#: With this set to 1, JAX is asked of all programs, and the answers are stored; with "new", new answers are.
ANEW = "SHARDLINT_ASK_JAX"
#: How many programs JAX was asked of in this process, since their answers are not stored.
asked_of = 0

#: The folders of an environment, as JAX's messages name them.
_PACKAGES = re.compile(r"/[^\s\"']*/site-packages/")

#: Runs programs by name, and returns what became of each, as JSON has it.
Ask = Callable[[Mapping[str, str]], Mapping[str, Any]]


def answers(programs: Mapping[str, str], ask: Ask, runner: str) -> dict[str, Any]:
    """Return what JAX says of each program, from the store where it has been asked.

    Args:
        programs: all that decides an answer, by name.
        ask: asks JAX; is called once, with the programs of which nothing is stored.
        runner: the text of what `ask` runs, since the answers depend on it too.
    """
    global asked_of
    anew, storing = os.environ.get(ANEW) == "1", os.environ.get(ANEW) in ("1", "new")
    keys = {name: digest(text, runner) for name, text in programs.items()}
    known = {} if anew else stored()
    unknown = {name: text for name, text in programs.items() if keys[name] not in known}
    asked = {name: portable(answer) for name, answer in ask(unknown).items()} if unknown else {}
    asked_of += len(unknown)
    if storing and asked:
        _store({keys[name]: answer for name, answer in asked.items()})
    return {name: asked[name] if name in unknown else known[key] for name, key in keys.items()}


def portable(answer: Any) -> Any:
    """Return an answer as it is stored: as JSON has it, without the folders of this machine."""
    return json.loads(_PACKAGES.sub("", json.dumps(answer).replace(f"{ROOT}/", "")))


def answer(program: str, ask: Callable[[], Any], runner: str) -> Any:
    """Return what JAX says of one program, of which ``ask`` asks it in this process."""
    return answers({program: program}, lambda _: {program: ask()}, runner)[program]


def jax_raises(programs: Mapping[str, str]) -> dict[str, Any]:
    """Return what JAX raises in each program, run by itself: None where it runs."""
    return answers(programs, ask_jax, runner())


def are_stored(programs: Iterable[str]) -> bool:
    """Return whether JAX need not be asked what it raises in programs."""
    known = stored()
    return os.environ.get(ANEW) != "1" and all(digest(text, runner()) in known for text in programs)


@cache
def runner() -> str:
    """Return the text of the program that runs programs."""
    return RUNNER.read_text(encoding="utf-8")


def ask_jax(programs: Mapping[str, str]) -> dict[str, Any]:
    """Run programs under JAX now, and return what each raises."""
    run = subprocess.run(
        [sys.executable, str(RUNNER)],
        input=json.dumps(dict(programs)),
        # Messages hold sets.
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])["outcomes"]
    return outcomes


def digest(program: str, runner: str) -> str:
    """Return the key of a program's answer."""
    return hashlib.sha256(f"{runner}\0{program}".encode()).hexdigest()[:20]


@cache
def releases() -> str:
    """Return the releases installed of what an answer may depend on."""
    return " ".join(f"{name}={_release(name)}" for name in LIBRARIES)


def stored() -> dict[str, Any]:
    """Return the answers of the releases installed, by digest."""
    found: dict[str, Any] = _read().get(releases(), {})
    return found


def _release(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _read() -> dict[str, dict[str, Any]]:
    return _parsed(STORE.stat().st_mtime_ns) if STORE.exists() else {}


@lru_cache(maxsize=1)
def _parsed(_: int) -> dict[str, dict[str, Any]]:
    """Return what the store holds since it was last written."""
    every: dict[str, dict[str, Any]] = json.loads(STORE.read_text(encoding="utf-8"))
    return every


def _store(new: Mapping[str, Any]) -> None:
    """Add answers to the store, to which other workers may add at the same time."""
    with open(__file__, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        every = _read()
        every.setdefault(releases(), {}).update(new)
        STORE.write_text(_written(every), encoding="utf-8")


def _written(every: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the store's text: an answer a line."""
    groups = [
        f'"{group}": {{\n' + ",\n".join(f'"{key}": {json.dumps(said[key])}' for key in sorted(said)) + "\n}"
        for group, said in sorted(every.items())
    ]
    return "{\n" + ",\n".join(groups) + "\n}\n"
