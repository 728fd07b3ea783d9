"""Packages run before the modules in them, in Python's order, beside CPython on random trees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from shardlint.inference.domain.values import Const, ListValue
from shardlint.inference.evaluation.settings import InferenceSettings
from shardlint.inference.programs.module_loader import forget
from shardlint.inference.programs.program import Program, while_evaluating
from shardlint.source.sources import read_source

FOLDERS = ("", "a", "a/b", "a/b/c", "d", "d/e")


def tree(random: Random) -> dict[str, str]:
    """A tree of packages whose modules note that they run and import each other, also in cycles."""
    names = [f"{folder}/__init__" for folder in FOLDERS[1:]]
    # No two modules share a name: a file's own folder is searched first, as for a script.
    names += [f"{folder}/x{number}" for number, folder in enumerate(2 * FOLDERS) if random.random() < 0.7]
    names = [name.lstrip("/") for name in names]
    dotted = [name.removesuffix("/__init__").replace("/", ".") for name in names]

    def imports(where: str) -> str:
        target = random.choice(dotted)
        package = where.rpartition("/")[0].replace("/", ".")
        parent, _, last = target.rpartition(".")
        ways = [f"import {target}"]
        if parent:
            ways += [f"from {parent} import {last}", f"import {target} as m"]
        if package and target.startswith(f"{package}."):
            inner = target.removeprefix(f"{package}.")
            head, _, tail = inner.rpartition(".")
            ways += [f"from .{head} import {tail}", f"from .{head} import {tail} as m"]
        return random.choice(ways)

    texts = {"note": "LOG = []\n"}
    for name in names:
        lines = [imports(name) for _ in range(random.choice((0, 0, 1, 2)))]
        lines.insert(random.randint(0, len(lines)), f"note.LOG.append({name!r})")
        texts[name] = "import note\n" + "\n".join(lines) + "\n"
    texts["main"] = "import note\n" + "".join(f"{imports('main')}\n" for _ in range(3))
    return texts


def order(main: Path) -> list[str]:
    """The modules in the order in which we run them."""
    with while_evaluating():
        program = Program(read_source(str(main)), InferenceSettings())
    found = program.project.modules[main.parent / "note.py"].scope.variables["LOG"]
    assert isinstance(found, ListValue)
    assert found.items is not None
    return [item.value for item in found.items if isinstance(item, Const)]


@pytest.mark.parametrize("seed", range(60))
def test_modules_run_in_the_order_of_python(seed: int, tmp_path: Path) -> None:
    for name, text in tree(Random(seed)).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", "import main, note; print(*note.LOG)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        # A cycle that Python cannot import.
        assert "ImportError" in done.stderr or "AttributeError" in done.stderr, done.stderr
        return
    for _ in range(2):
        # The second time, from modules that programs share.
        assert order(tmp_path / "main.py") == done.stdout.split()
    forget()
