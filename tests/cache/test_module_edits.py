"""Edits of modules: what a cached check and an editor say of their importers is what a fresh run says.

Random edits, and some whose effect on an importer is not where the importer looks.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_project import checked
from module_edits import FILES, OPEN, edited
from support.sizes import size

from shardlint.api import Linter, load_settings, source_from_text
from shardlint.engine import analyzer
from shardlint.ide.session import forget, recorded, staying
from shardlint.inference.programs import session
from shardlint.model.findings import Finding

#: Random projects, with so many edits each.
PROJECTS, EDITS = size("SHARDLINT_MODULE_EDITS", 4, 24), 10

_HEAD = "import jax, jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"


class Project:
    """A project in a folder, with some of its files open in an editor."""

    def __init__(self, folder: Path, files: dict[str, str], opened: tuple[str, ...]) -> None:
        self.folder = folder
        (folder / ".git").mkdir()
        for name, text in files.items():
            self.write(name, text)
        self._linters = {name: self._linter(name, editing=True) for name in opened}

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def _linter(self, name: str, editing: bool) -> Linter:
        settings = dataclasses.replace(load_settings(str(self.folder / name), devices=8), editing=True)
        return Linter(settings, analyzer=staying()) if editing else Linter(settings)

    def cached(self) -> tuple[int, str]:
        """The exit code and the output of a check with the cache."""
        return checked(self.folder, "--jobs", "1")

    def fresh(self) -> tuple[int, str]:
        """The same of a check without it."""
        return checked(self.folder, "--jobs", "1", "--no-cache")

    def in_editor(self) -> dict[str, list[str]]:
        """What the editor says of each open file."""
        return {name: self._said(linter, name) for name, linter in self._linters.items()}

    def in_new_editor(self) -> dict[str, list[str]]:
        """What one that has just been started would say."""
        forget()
        return {name: self._said(self._linter(name, editing=False), name) for name in self._linters}

    def _said(self, linter: Linter, name: str) -> list[str]:
        path = self.folder / name
        return told(linter.check_source(source_from_text(str(path), path.read_text())))


def told(findings: list[Finding]) -> list[str]:
    """Findings without the addresses of objects."""
    return [re.sub(r" at 0x\w+|id=\d+", "", repr(finding)) for finding in findings]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The files that are evaluated, as they are."""
    found: list[str] = []
    work, begin = analyzer.work_on, session.Resumable._begin

    def noted(source, settings):
        found.append(Path(source.path).name)
        return work(source, settings)

    def begun(self, source):
        found.append(Path(source.path).name)
        begin(self, source)

    monkeypatch.setattr(analyzer, "work_on", noted)
    monkeypatch.setattr(session.Resumable, "_begin", begun)
    yield found


@pytest.mark.parametrize("seed", range(PROJECTS))
def test_random_edits_of_modules(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    project = Project(tmp_path, FILES, OPEN)
    project.cached(), project.in_editor()
    for _ in range(EDITS):
        name = chance.choice([*FILES, "base.py"])
        text = (tmp_path / name).read_text()
        project.write(name, FILES[name] if chance.random() < 0.1 else edited(name, text, chance))
        assert project.cached() == project.fresh()
        assert project.in_editor() == project.in_new_editor()


#: Edits after which no importer of `base` is evaluated again, one after another.
UNSEEN = {
    "a comment": ("import jax\n", "# A comment.\nimport jax  # and another\n\n\n"),
    "a comment in what runs": ("(2, 4), AXES)", "(2, 4), AXES)  # two by four"),
    "an unused function": ("\n\nclass Layer:", "\n\ndef fresh(x, y=None):\n    return x\n\n\nclass Layer:"),
    "an unused number": ("ROWS = 8\n", "ROWS = 8\nFRESH = 7\n"),
    "another unused number": ("FRESH = 7\n", "FRESH = 8\n"),
    "the body of an unread method": ("return x + self.width", "x += 1\n\n        return x * self.width"),
    "a function that nobody calls": ("def size_large():\n    return ROWS * 2\n", ""),
    "a number instead of a function": ("def fresh(x, y=None):\n    return x\n", "fresh = 3\n"),
}


def test_what_nobody_reads_evaluates_nothing(tmp_path: Path, evaluated: list[str]) -> None:
    files = {**FILES, "layers.py": FILES["layers.py"].replace("self.layer.other(1)", "6")}
    opened = ("main.py", "layers.py", "far.py")
    project = Project(tmp_path, files, opened)
    assert '"SHL202"' in project.cached()[1]
    project.in_editor()
    for what, (old, new) in UNSEEN.items():
        text = (tmp_path / "base.py").read_text()
        assert old in text, what
        project.write("base.py", text.replace(old, new, 1))
        evaluated.clear()
        cached, said = project.cached(), project.in_editor()
        assert set(evaluated) <= {"base.py"}, what
        assert cached == project.fresh(), what
        assert said == project.in_new_editor(), what


#: A module and a file that uses it, and an edit of the module that matters although nothing that it changes
#: is called: `base` before, the file, what is replaced by what, and whether something is found after it.
CASES = {
    "a method sets what another reads": (
        "class Base:\n    rows = 6\n\n    def other(self, x):\n        return x\n",
        "class Wide(base.Base):\n    def go(self):\n"
        '        return jax.device_put(jnp.ones((self.rows, 2)), NamedSharding(mesh, P("model")))\n',
        ("return x", "self.rows = x"),
    ),
    "a function mentions an axis": (
        "def other(x):\n    return x\n",
        'again = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 4), ("rows", "columns"))\n'
        'table = jnp.zeros((8192, 4096), device=NamedSharding(again, P("rows")))\n',
        ("return x", "return 'columns'"),
    ),
    "a new function mentions an axis": (
        "def other(x):\n    return x\n",
        'again = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 4), ("rows", "columns"))\n'
        'table = jnp.zeros((8192, 4096), device=NamedSharding(again, P("rows")))\n',
        ("def", "def fresh():\n    return ('columns',)\n\n\ndef"),
    ),
    "a number comes behind what needs it": (
        "N = 6\nsize = N\n",
        'jax.device_put(jnp.ones(base.size), NamedSharding(mesh, P("model")))\n',
        ("N = 6\nsize = N\n", "size = N\nN = 6\n"),
    ),
    "a function is defined once more": (
        "def size():\n    return 6\n",
        'jax.device_put(jnp.ones(base.size()), NamedSharding(mesh, P("model")))\n',
        ("return 6\n", "return 6\n\n\ndef size():\n    return 8\n"),
    ),
    "a string with lines like comments": (
        'TEXT = """\n# 6\n"""\n',
        'jax.device_put(jnp.ones(int(base.TEXT.strip()[2:])), NamedSharding(mesh, P("model")))\n',
        ("# 6", "# 8"),
    ),
    "a string with blank lines": (
        'TEXT = """12\n\n34"""\n',
        'jax.device_put(jnp.ones(len(base.TEXT)), NamedSharding(mesh, P("model")))\n',
        ("\n\n", "\n"),
    ),
    "a blank line ends a statement": (
        "def size():\n    n = 8\n    n = 2 \\\n    \n    +4\n    return n\n",
        'jax.device_put(jnp.ones(base.size()), NamedSharding(mesh, P("model")))\n',
        ("    \n", ""),
    ),
    "the type of a name that only a star binds": (
        "def other():\n    return 0\n",
        "from base import *\n\njax.device_put(jnp.ones(range_()), NamedSharding(mesh, P('model')))\n",
        ("def other():\n    return 0\n", "def range_():\n    return 6\n"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_edit_that_matters_elsewhere(tmp_path: Path, case: str) -> None:
    base, text, (old, new) = CASES[case]
    text = f'{_HEAD}import base, numpy as np\n\nmesh = jax.make_mesh((2, 4), ("data", "model"))\n{text}'
    project = Project(tmp_path, {"base.py": base, "main.py": text}, ("main.py",))
    before = project.cached(), project.in_editor()
    project.write("base.py", base.replace(old, new, 1))
    after = project.cached(), project.in_editor()
    assert after == (project.fresh(), project.in_new_editor())
    assert before[0] != after[0] and before[1] != after[1]
    project.write("base.py", base)
    assert (project.cached(), project.in_editor()) == before


def test_a_file_that_asks_for_what_came_later(tmp_path: Path, evaluated: list[str]) -> None:
    """An editor keeps the old module for a file until that asks for what is new in it."""
    head = f'{_HEAD}import base\n\nmesh = jax.make_mesh((2, 4), ("data", "model"))\n'
    text = f'{head}\n\ndef f():\n    jax.device_put(jnp.ones(base.N), NamedSharding(mesh, P("model")))\n'
    project = Project(tmp_path, {"base.py": "N = 6\n", "main.py": text}, ("main.py",))
    assert len(project.in_editor()["main.py"]) == 1
    project.write("base.py", "# Sizes.\nN = 6\n\n\ndef eight():\n    return 8\n")
    evaluated.clear()
    with recorded() as record:
        said = project.in_editor()
    assert not evaluated and record.holds() and said == project.in_new_editor()
    for size_now in ("base.N + 4", "base.eight()", "base.eight() - 1"):
        project.write("main.py", text.replace("base.N", size_now))
        assert project.in_editor() == project.in_new_editor()
    # What it was made with is not taken for what is there now.
    project.write("base.py", "N = 6\n")
    assert project.in_editor() == project.in_new_editor()
    project.write("base.py", "N = 6\n\n\ndef nine():\n    return 9\n")
    evaluated.clear()
    for width in ("base.N", "base.N + 1"):
        project.write("main.py", f"{text}TOP = 1\n".replace("base.N", width))
        said = project.in_editor()
    assert evaluated == ["main.py"] and said == project.in_new_editor()
