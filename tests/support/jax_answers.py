"""What JAX said of fixed questions: stored, so that JAX is asked each of them once a release.

An answer is stored under the digest of the question and of the text of what asks it, and of the releases
installed: a changed program is asked anew by itself, each time. With ``SHARDLINT_ASK_JAX=new`` such answers
are stored; with ``SHARDLINT_ASK_JAX=1`` all are asked anew, and stored:

    rm tests/data/jax_answers/*; SHARDLINT_ASK_JAX=1 python -m pytest -n 2

`answers` is for programs that a process of their own runs, `asks_jax` for functions that ask in the process
of the tests. A run ends with the number of questions whose answers were not stored. So that a store that is
out of date shows, some are asked in each run whatever is stored: `asks_jax` asks every fiftieth, by its
digest, and `test_jax_answers.py` some programs, which differ from run to run.
"""

from __future__ import annotations

import ast
import atexit
import fcntl
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
#: A file for each kind of question.
STORES = ROOT / "tests" / "data" / "jax_answers"
RUNNER = ROOT / "docs" / "tools" / "run_examples.py"
#: What an answer may depend on.
LIBRARIES = ("jax", "jaxlib", "flax", "optax", "equinox", "jaxtyping", "numpy")

#: With this set to 1, JAX is asked of all programs, and the answers are stored; with "new", new answers are.
ANEW = "SHARDLINT_ASK_JAX"
#: How many programs JAX was asked of in this process, since their answers are not stored.
asked_of = 0
#: What was asked in this process and is to be stored, by store and digest.
_new: dict[str, dict[str, Any]] = defaultdict(dict)

#: The folders of an environment, as JAX's messages name them.
_PACKAGES = re.compile(r"/[^\s\"']*/site-packages/")

#: A set of strings, which `repr` shows in another order in each process.
_SET = re.compile(r"\{('[^'{}:]*'(?:, '[^'{}:]*')*)\}")

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
    keys = {name: digest(text, runner) for name, text in programs.items()}
    known = {} if os.environ.get(ANEW) == "1" else stored()
    unknown = {name: text for name, text in programs.items() if keys[name] not in known}
    asked = {name: portable(answer) for name, answer in ask(unknown).items()} if unknown else {}
    asked_of += len(unknown)
    keep("programs", {keys[name]: answer for name, answer in asked.items()})
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


def asks_jax(
    store: str,
    *modules: ModuleType,
    encode: Callable[[Any], Any] = lambda answer: answer,
    decode: Callable[[Any], Any] = lambda answer: answer,
    every: int = 50,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let the answers of a function that asks JAX in this process come from a store.

    The question is the function's name, the text of its module, and its arguments, as `repr` shows them.

    Args:
        store: where the answers are: the name of a folder of tests.
        modules: others on whose text the answers depend.
        encode: makes of an answer what Python has literals for.
        decode: makes an answer of that.
        every: of how many questions one is asked in each run although its answer is stored.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        files = (function.__code__.co_filename, *(str(module.__file__) for module in modules))
        text = "\0".join([function.__name__, *(Path(file).read_text(encoding="utf-8") for file in files)])

        @functools.wraps(function)
        def stored_answer(*args: Any, **options: Any) -> Any:
            global asked_of
            key = digest(_SET.sub(_in_order, repr((args, options))), text)
            known = stored(store).get(key) if os.environ.get(ANEW) != "1" else None
            if known is not None and int(key[:8], 16) % every:
                return decode(ast.literal_eval(known))
            said = literal(encode(function(*args, **options)))
            if known is None:
                asked_of += 1
                keep(store, {key: said})
            else:
                assert said == known, (
                    f"JAX says otherwise than {STORES.name}/{store}.json: {ANEW}=1 stores it"
                )
            return decode(ast.literal_eval(said))

        return stored_answer

    return decorate


def literal(value: Any) -> str:
    """Return how Python writes a value of literals, with sets in order.

    Raises TypeError for a value that has no literal.
    """
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(literal, value)))}}}" if value else "set()"
    if type(value) is list:
        return f"[{', '.join(map(literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if type(value) is dict:
        return f"{{{', '.join(f'{literal(key)}: {literal(item)}' for key, item in value.items())}}}"
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no literal")


def _in_order(shown: re.Match[str]) -> str:
    return f"{{{', '.join(sorted(shown[1].split(', ')))}}}"


@lru_cache(maxsize=64)
def _hashed(runner: str) -> Any:
    return hashlib.sha256(f"{runner}\0".encode())


def digest(program: str, runner: str) -> str:
    """Return the key of a program's answer."""
    whole = _hashed(runner).copy()
    whole.update(program.encode())
    return str(whole.hexdigest()[:20])


@cache
def releases() -> str:
    """Return the releases installed of what an answer may depend on."""
    return " ".join(f"{name}={_release(name)}" for name in LIBRARIES)


def stored(store: str = "programs") -> dict[str, Any]:
    """Return the answers of the releases installed, by digest."""
    found: dict[str, Any] = _read(store).get(releases(), {})
    return found


def keep(store: str, new: Mapping[str, Any]) -> None:
    """Have answers stored at the end of the process, if they are to be."""
    if os.environ.get(ANEW) in ("1", "new"):
        _new[store].update(new)


def _release(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


@cache
def _read(store: str) -> dict[str, dict[str, Any]]:
    path = STORES / f"{store}.json"
    every: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return every


@atexit.register
def flush() -> None:
    """Add what was asked to the stores, to which other workers may add at the same time."""
    STORES.mkdir(exist_ok=True)
    with open(__file__, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for store, new in _new.items():
            _read.cache_clear()
            every = _read(store)
            every.setdefault(releases(), {}).update(new)
            (STORES / f"{store}.json").write_text(_written(every), encoding="utf-8")
    _new.clear()


def _written(every: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the store's text: an answer a line."""
    groups = [
        f'"{group}": {{\n' + ",\n".join(f'"{key}": {json.dumps(said[key])}' for key in sorted(said)) + "\n}"
        for group, said in sorted(every.items())
    ]
    return "{\n" + ",\n".join(groups) + "\n}\n"
