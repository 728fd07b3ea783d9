"""The decisive test: after each change, a run with the cache finds exactly what one without it finds."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_project import FILES, checked, codes, written

from shardlint.cache import validation

Change = Callable[[Path], object]


def text(name: str, old: str, new: str) -> Change:
    """A change of a text."""

    def change(folder: Path) -> None:
        before = (folder / name).read_text()
        assert old in before
        (folder / name).write_text(before.replace(old, new))

    return change


def new(name: str, content: str) -> Change:
    """A new file."""

    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)

    return change


def unseen(name: str, old: str, new: str) -> Change:
    """A change of a text that keeps its size and the time of its last change."""

    def change(folder: Path) -> None:
        path = folder / name
        before = path.stat()
        changed = path.read_text().replace(old, new)
        assert len(old) == len(new) and old in path.read_text()
        path.write_text(changed)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_mtime_ns == before.st_mtime_ns and path.stat().st_size == before.st_size

    return change


def gone(name: str) -> Change:
    """A file is removed."""
    return lambda folder: (folder / name).unlink()


def both(*changes: Change) -> Change:
    """Several changes."""

    def change(folder: Path) -> None:
        for one in changes:
            one(folder)

    return change


def link(name: str, target: str) -> Change:
    """A link in place of a file."""
    return both(gone(name), lambda folder: (folder / name).symlink_to(target))


_WRONG = FILES["main.py"].replace('"model"', '"tensor"')
_OTHER_AXES = 'AXES = ("data", "x")\n'
_SECTION = "[tool.shardlint]\n"
_CALLS = (
    "import jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
    'layers.place(jnp.ones(3), NamedSharding(layers.mesh, P("data")))\nTEXT'
)
_CALL = 'P("data", "model")))'

#: What is changed; and whether the findings are others after it.
CHANGES: dict[str, tuple[Change, bool]] = {
    "a constant": (text("sizes.py", "WIDTH = 62", "WIDTH = 64"), True),
    "a helper": (text("layers.py", "device_put(x, sharding)", "device_put(x[:3], sharding)"), True),
    "a mesh": (text("sizes.py", "(2, 4)", "(4, 2)"), True),
    "three imports away": (text("names.py", '"model"', '"tensor"'), True),
    "the file itself": (text("main.py", '"data", "model"', '"data", "tensor"'), True),
    "a configuration": (text("pyproject.toml", _SECTION, f'{_SECTION}ignore = ["SHL2"]\n'), True),
    "devices in it": (text("pyproject.toml", _SECTION, f"{_SECTION}devices = 4\n"), True),
    "a nearer configuration": (new("shardlint.toml", "devices = 4\n"), True),
    "what is required": (
        text("pyproject.toml", 'name = "x"', 'name = "x"\ndependencies = ["jax<0.6"]'),
        False,
    ),
    "a YAML rule": (text("rules.yml", "[embed, model]", "[embed, nowhere]"), True),
    "a module in the way": (new("pkg.py", "class tool:\n    SIZE = 7\n"), False),
    "a shadowing module": (new("deep/layers.py", "WIDTH = 8\nplace = mesh = None\n"), True),
    "a shadowing package": (new("deep/inner/layers/__init__.py", "WIDTH = 8\nplace = mesh = None\n"), True),
    "what a shadowing module imports": (new("deep/inner/names.py", _OTHER_AXES), False),
    "a module that was not there": (new("pkg/tool/__init__.py", "SIZE = 7\n"), False),
    "a package": (new("pkg/__init__.py", "from .tool import SIZE\n"), False),
    "a package of that name": (new("names/__init__.py", _OTHER_AXES), False),
    "a module is gone": (gone("names.py"), True),
    "a package takes its place": (both(gone("names.py"), new("names/__init__.py", _OTHER_AXES)), True),
    "a touch": (lambda folder: os.utime(folder / "names.py", (1, 1)), False),
    "nothing": (lambda folder: None, False),
    "size and time kept": (unseen("names.py", '"model"', '"mudel"'), True),
    "a new file": (new("other.py", _WRONG), True),
    "a file is gone": (gone("main.py"), True),
    "an ignored file": (new("ignored.py", _WRONG), False),
    "not ignored any more": (both(new("ignored.py", _WRONG), new(".gitignore", "")), True),
    "a repository of its own": (lambda folder: (folder / ".git").mkdir(), False),
    "a plain file matters": (text("plain.py", "import os", "import os, jax\njax.sharding.Mesh"), False),
    "a file begins to call": (text("wide.py", "TEXT", _CALLS), True),
    "a comment": (text("main.py", _CALL, f"{_CALL}  # shardlint: ignore[SHL2]"), True),
    "broken text": (text("sizes.py", "WIDTH = 62", "WIDTH = ("), True),
    "text that is none": (lambda folder: (folder / "sizes.py").write_bytes(b"\xff\xfe"), True),
    "a link": (both(new("elsewhere.py", _OTHER_AXES), link("names.py", "elsewhere.py")), True),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_seen(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARDLINT_CACHE_DIR", str(tmp_path / "cache"))
    project = written(tmp_path / "project")
    before = checked(project)
    assert before == checked(project, "--no-cache") == checked(project)
    assert ("main.py", "SHL202") in codes(before[1])
    change, tells = CHANGES[what]
    change(project)
    fresh = checked(project, "--no-cache")
    assert checked(project) == fresh
    assert checked(project) == fresh, "once more, from what the last run has kept"
    assert (fresh != before) >= tells, "the change tells nothing"


_WORDS = (
    "model",
    "tensor",
    "data",
    "62",
    "64",
    "8",
    "(2, 4)",
    "(4, 2)",
    "WIDTH",
    "mesh",
    "None",
    "P(",
    "embed",
    "#",
)


def _shaken(folder: Path, choose: random.Random) -> str:
    """Change something somewhere; return what."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    path = choose.choice(files)
    what = choose.choice(
        ("words", "words", "words", "words", "kept", "copy", "gone", "touch", "again", "folder")
    )
    if what == "copy":
        target = choose.choice(files).parent / choose.choice(
            [*(one.name for one in files), "__init__.py", "extra.py"]
        )
        if target.suffix == path.suffix and target.name != "pyproject.toml":
            target.write_bytes(path.read_bytes())
    elif what == "gone" and len(files) > 6 and path.name != "pyproject.toml":
        path.unlink()
    elif what == "touch":
        os.utime(path, ns=(choose.randrange(10**18), choose.randrange(10**18)))
    elif what == "again":
        written(folder)
    elif what == "folder":
        package = folder / choose.choice(("pkg", "deep", "names", "deep/inner/sizes", "layers"))
        if not package.is_file():
            package.mkdir(parents=True, exist_ok=True)
            (package / "__init__.py").write_text(choose.choice(("", _OTHER_AXES, "WIDTH = 8\n")))
    elif path.suffix in (".py", ".yml"):
        before, status = path.read_text(), path.stat()
        old, new = choose.choice(_WORDS), choose.choice(_WORDS)
        if what == "kept":
            new = new.ljust(len(old))[: len(old)]
        path.write_text(before.replace(old, new, 1))
        if what == "kept":
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return f"{what} {path.relative_to(folder)}"


@pytest.mark.parametrize("coarse", [20_000_000, 2_000_000_000], ids=["stamps", "texts"])
@pytest.mark.parametrize("seed", range(3))
def test_random_changes_are_seen(
    seed: int, coarse: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int = 12
) -> None:
    """By stamps, where a run trusts those of files that are older than 20 ms, and by texts."""
    monkeypatch.setattr(validation, "_COARSE", coarse)
    monkeypatch.setenv("SHARDLINT_CACHE_DIR", str(tmp_path / "cache"))
    project = written(tmp_path / "project")
    choose = random.Random(seed)
    done: list[str] = []
    for _ in range(steps):
        done += [_shaken(project, choose) for _ in range(choose.choice((1, 1, 1, 2)))]
        assert checked(project) == checked(project, "--no-cache"), done
