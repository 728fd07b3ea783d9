"""Which test modules are fast: those that neither ask JAX nor start a process, nor take long.

A program document is fast where JAX's answers to it are stored. Of a module that is read from what it, and
the helpers that it imports, import and execute; `Watch` fails the tests of which this does not tell. Such a
module, and one that takes more than some 20 seconds, says ``pytestmark = pytest.mark.slow``.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from support.documents import read_programs
from support.jax_answers import are_stored

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent

#: Libraries that load JAX, and those that start processes.
JAX = frozenset({"jax", "jaxlib", "flax", "optax", "equinox", "chex"})
PROCESSES = frozenset(
    {
        "subprocess",
        "multiprocessing",
        "pytest_lsp",
        "shardlint.confirm.confirmer",
        "shardlint.confirm.fixtures.runs",
        "shardlint.cost.runs",
    }
)

#: Where helpers are found, besides the folder of who imports them.
HELPERS = (
    TESTS,
    ROOT / "docs" / "tools",
    TESTS / "fixes",
    TESTS / "media",
    ROOT / "shardlint/confirm/worker",
)

#: The fixture that asks JAX.
_ASKS_JAX = "ask_jax"

#: In the text of a program: where such texts are executed, JAX is asked.
_IMPORTS_JAX = re.compile(r"\b(?:import|from) (?:jax|flax|optax)\b")

_STARTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "os.system", "os.exec"})


@cache
def is_fast(module: Path) -> bool:
    """Return whether no test of a module needs JAX or a process, as far as imports tell."""
    if module.suffix == ".md":
        return are_stored([program.text for program in read_programs(module)])
    waiting, seen = [module, module.with_name("conftest.py")], set()
    while waiting:
        path = waiting.pop()
        if path in seen or path == TESTS / "conftest.py" or not path.is_file():
            continue
        seen.add(path)
        imported = _imported(path)
        if imported is None or not imported.isdisjoint(JAX | PROCESSES):
            return False
        for folder in (path.parent, *HELPERS):
            waiting += [folder / name.replace(".", "/") for name in imported]
            waiting += [folder / (name.replace(".", "/") + ".py") for name in imported]
    return True


@cache
def _imported(path: Path) -> frozenset[str] | None:
    """Return the names that a file imports, and the first parts of them; None if it is slow itself."""
    names: set[str] = set()
    is_slow = executes = mentions_jax = False
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            executes |= node.id == "exec"
        elif isinstance(node, ast.Constant):
            mentions_jax |= isinstance(node.value, str) and bool(_IMPORTS_JAX.search(node.value))
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.arg):
            is_slow |= node.arg == _ASKS_JAX
        elif isinstance(node, ast.Attribute):
            is_slow |= ast.unparse(node).endswith("mark.slow")
    if is_slow or (executes and mentions_jax):
        return None
    return frozenset(names | {name.partition(".")[0] for name in names})


class Watch:
    """An audit hook that raises where a test that counts as fast imports JAX or starts a process."""

    def __init__(self) -> None:
        self.armed = False
        self.seen: list[str] = []
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.armed:
            return
        if event == "import":
            name = str(arguments[0])
            if name.partition(".")[0] not in JAX and not name.startswith("multiprocessing.popen_"):
                return
            said = f"imports {name}"
        elif event in _STARTS:
            said = f"starts a process ({event})"
        else:
            return
        self.seen.append(said)
        raise AssertionError(f"a test that counts as fast {said}")

    @contextmanager
    def over(self, test: str) -> Iterator[None]:
        """Watch while a test runs, and fail for what it caught itself."""
        self.seen.clear()
        self.armed = True
        try:
            yield
        finally:
            self.armed = False
        assert not self.seen, f"{test} counts as fast (tests/support/fast.py) but {', '.join(self.seen)}"
