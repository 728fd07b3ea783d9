"""Whatever lies in a tree, no command but those that say so executes any of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hostile import MODULES, contents, environment, is_clean, payload, run

MISTAKE = """\
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

NamedSharding(jax.make_mesh((2, 4), ("data", "model")), P("rows"))
"""


def write_notebook(path: Path, *cells: str) -> None:
    made = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in cells]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def program(tree: Path) -> str:
    """A program that is full of what an evaluator might be tempted to evaluate."""
    run = payload(tree)
    text = repr(run.strip())
    return f"""\
# coding: utf-8
from __future__ import annotations
{run}
import os, re
exec({text}); eval({text})
import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np

WIDTH = __import__("os").system("touch {tree.parent}/canary") or 10
SIZE = [exec({text}), 8][1]

def noted(x: "__import__('os').system('touch {tree.parent}/canary')") -> (lambda: exec({text}))():
    exec({text})
    return x

class Evil:
    exec({text})
    def __init_subclass__(cls): exec({text})
    def __getattr__(self, name): exec({text})
    def __index__(self): exec({text}); return 8

class Child(Evil, metaclass=eval("type")):
    @noted
    @property
    def spec(self): return P(f"{{exec({text})}}")

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
NamedSharding(mesh, P("rows"))
jax.device_put(np.zeros((Evil(), WIDTH)), NamedSharding(mesh, P(*eval({text}))))
RULES = [(r"(a+)+$", P("model")), (".*" * 40, P("rows"))]
# expect: SHL103 {text}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with programs, notebooks and configuration that would all leave a trace."""
    tree = tmp_path / "tree"
    (tree / "src" / "pkg").mkdir(parents=True)
    (tree / "prog.py").write_text(program(tree))
    (tree / "conftest.py").write_text(payload(tree))
    (tree / "setup.py").write_text(payload(tree))
    (tree / "src" / "pkg" / "__init__.py").write_text(payload(tree) + "from pkg.a import *\n")
    (tree / "src" / "pkg" / "a.py").write_text(program(tree))
    (tree / "user.py").write_text(f"import pkg, prog\nfrom prog import *\n{MISTAKE}")
    trace = f"touch {tree.parent}/canary"
    write_notebook(
        tree / "book.ipynb",
        f"!{trace}\n%run prog.py\n%load_ext evil\nfiles = !{trace}\n{payload(tree)}",
        f"%%bash\n{trace}",
        f"%%capture out\n%system {trace}\n{MISTAKE}",
    )
    (tree / "rules.yml").write_text("rules: [[embed, model]]\n")
    (tree / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
        '[project]\nname = "evil"\ndependencies = ["jax>=0.6", "evil @ file:///evil"]\n'
        '[tool.shardlint]\nbaseline = "known.json"\n'
        '[tool.shardlint.logical-axes]\nfile = "rules.yml"\nkey = "rules"\n'
        '[tool.shardlint.report]\ninit = "prog:noted"\n'
    )
    (tree / "known.json").write_text('{"version": 1, "findings": []}')
    return tree


COMMANDS: dict[str, list[list[str]]] = {
    "check": [[], ["--no-cache", "--jobs", "2"], ["--exhaustive"], ["--show-unresolved"]],
    "layout": [["prog.py"]],
    "coverage": [["."]],
    "report": [["."]],
    "config": [[]],
    "rules": [[]],
    "explain": [["SHL101"]],
}
RUNS = [[command, *arguments] for command, several in COMMANDS.items() for arguments in several]


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_nothing_of_the_tree_is_executed(arguments: list[str], tree: Path) -> None:
    before = contents(tree)
    done = run(tree, *arguments)
    assert done.returncode in (0, 1), done.stderr
    assert is_clean(tree)
    assert contents(tree) == before
    if arguments[0] == "check":
        assert "user.py" in done.stdout and "book.ipynb" in done.stdout, "it was looked at"


@pytest.mark.parametrize("option", ["--fix", "--diff", "--add-ignores", "--write-baseline=new.json"])
def test_nothing_is_executed_when_files_are_changed(option: str, tree: Path) -> None:
    run(tree, "check", option)
    assert is_clean(tree)


# -- modules that lie in the tree ------------------------------------------------------------------


@pytest.fixture
def modules(tree: Path) -> Path:
    """The tree with a module of its own in place of each that shardlint may import."""
    for name in MODULES:
        (tree / f"{name}.py").write_text(payload(tree))
    return tree


def test_the_trap_is_set(modules: Path) -> None:
    subprocess.run([sys.executable, "-c", "import yaml"], cwd=modules, env=environment(), capture_output=True)
    assert not is_clean(modules)


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_no_module_of_the_tree_is_imported(arguments: list[str], modules: Path) -> None:
    done = run(modules, *arguments)
    assert done.returncode in (0, 1), done.stderr
    assert is_clean(modules)


#: What Python's own `-m` imports before any line of shardlint runs.
_BEFORE = frozenset(sys.stdlib_module_names)


@pytest.mark.parametrize("arguments", [["check", "."], ["config"]], ids=" ".join)
def test_python_m_imports_no_library_from_the_tree(arguments: list[str], tree: Path) -> None:
    for name in set(MODULES) - _BEFORE:
        (tree / f"{name}.py").write_text(payload(tree))
    done = run(tree, *arguments, interpreter=["-m", "shardlint"])
    assert done.returncode in (0, 1), done.stderr
    assert is_clean(tree)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="-P is new in 3.11")
def test_python_p_m_imports_nothing_from_the_tree(modules: Path) -> None:
    done = run(modules, "check", ".", interpreter=["-P", "-m", "shardlint"])
    assert done.returncode in (0, 1), done.stderr
    assert is_clean(modules)
