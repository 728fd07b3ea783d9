"""Files that are data run nothing, end no run, and are written to only if they are ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hostile import contents, is_clean
from support.command import run_decoded as run

from shardlint.cli.commands import main

GOOD = """\
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

NamedSharding(jax.make_mesh((2, 4), ("data", "model")), P("rows"))
"""
CODE = json.dumps(GOOD)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one mistake in `good.py`."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "good.py").write_text(GOOD)
    return tree


def notebook(source: str, rest: str = "") -> str:
    return f'{{"cells": [{{"cell_type": "code", "source": {source}{rest}}}], "nbformat": 4}}'


#: Notebooks and programs, and what is said of each besides the findings of the others.
FILES: dict[str, tuple[str, bytes, str]] = {
    "deep JSON": ("x.ipynb", b'{"jax": "sharding", "cells": ' + b"[" * 100_000, "SHL003"),
    "deep JSON that ends": ("x.ipynb", b"[" * 200_000 + b'"jax NamedSharding"', "SHL003"),
    "a huge number": ("x.ipynb", notebook(CODE, f', "execution_count": {"9" * 10_000}').encode(), "SHL003"),
    "a NUL in JSON": ("x.ipynb", notebook(CODE).encode().replace(b"[", b"[\0"), "SHL003"),
    "a NUL in a cell": ("x.ipynb", notebook(json.dumps(GOOD + "\0")).encode(), "SHL001"),
    "half a pair": ("x.ipynb", notebook(CODE.replace("rows", "\\ud800")).encode(), "SHL103"),
    "keys given twice": ("x.ipynb", notebook('"x"', f', "source": {CODE}').encode(), "SHL103"),
    "no cells": ("x.ipynb", b'{"worksheets": [{"cells": 5}], "nbformat": 3, "x": "NamedSharding"}', ""),
    "odd cells": (
        "x.ipynb",
        notebook(CODE).replace("[", '[NaN, 1e999, null, [], {"cell_type": []}, ', 1).encode(),
        "SHL103",
    ),
    "a NUL": ("x.py", GOOD.encode() + b"\0", "SHL001"),
    "an encoding that is undefined": ("x.py", b"# coding: undefined\n" + GOOD.encode(), "SHL002"),
    "an encoding that is none": ("x.py", b"# coding: zlib\n" + GOOD.encode(), "SHL002"),
    "an encoding that is a module": ("x.py", b"# coding: evil\n" + GOOD.encode(), "SHL002"),
    "an encoding with escapes": (
        "x.py", b"# coding: unicode_escape\n" + GOOD.replace("rows", "\\ud800").encode(), "SHL103"
    ),
    "names of hosts": ("x.py", b"# coding: punycode\n" + GOOD.encode(), "SHL002"),
    "brackets": ("x.py", GOOD.encode() + b"(" * 100_000, "SHL00"),
    "a huge whole number": ("x.py", GOOD.encode() + b"x = P(" + b"9" * 10_000 + b")\n", "SHL103"),
    "a huge power": ("x.py", GOOD.encode() + b"jax.numpy.zeros(9 ** 9 ** 9 ** 9)\n", "SHL103"),
    "a huge text": ("x.py", GOOD.encode() + b"P('x' * 10 ** 12, [0] * 10 ** 12)\n", "SHL103"),
}  # fmt: skip


@pytest.mark.parametrize("what", FILES)
def test_a_hostile_file_ends_no_run(what: str, tree: Path) -> None:
    name, data, said = FILES[what]
    (tree / name).write_bytes(data)
    (tree / "evil.py").write_text(f"open({str(tree.parent / 'canary')!r}, 'w')")
    before = contents(tree)
    done = run(tree, "check", "--output-format", "concise")
    assert "good.py:4" in done.stdout
    assert done.returncode == 1, done.stderr
    assert not said or any(line.startswith(name) and said in line for line in done.stdout.splitlines()), (
        done.stdout
    )
    assert is_clean(tree)
    assert contents(tree) == before


def test_hostile_files_are_not_written_to_and_told_of_in_every_format(tree: Path) -> None:
    for number, (name, data, _) in enumerate(FILES.values()):
        (tree / f"{number}{name}").write_bytes(data)
    before = contents(tree)
    run(tree, "check", "--fix", "--unsafe-fixes")
    assert contents(tree) == before
    for format_ in ("full", "json", "sarif"):
        done = run(tree, "check", "--output-format", format_)
        assert done.returncode == 1, done.stderr
        for number, (name, _, said) in enumerate(FILES.values()):
            assert not said or f"{number}{name}" in done.stdout, (format_, name, said)


# -- configuration ---------------------------------------------------------------------------------

TOML: dict[str, str] = {
    "deep arrays": "a = " + "[" * 20_000,
    "deep arrays that end": "exclude = " + "[" * 20_000 + "]" * 20_000,
    "deep tables": "logical-axes." + ".".join("a" * 5_000) + " = 1",
    "a huge number": "devices = " + "9" * 10_000,
    "a huge hexadecimal number": "devices = 0x" + "f" * 10_000,
    "a NUL": 'exclude = ["\0"]',
    "no UTF-8": 'exclude = ["\udcff"]',
    "a huge mesh": "meshes.a = {x = 0x" + "f" * 10_000 + "}",
}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *(("shardlint.toml", what) for what in TOML),
        ("pyproject.toml", "deep arrays"),
        ("pyproject.toml", "a NUL"),
    ],
)
def test_a_hostile_configuration_is_told_of(name: str, what: str, tree: Path) -> None:
    head = "[tool.shardlint]\n" if name.startswith("pyproject") else ""
    (tree / name).write_bytes((head + TOML[what] + "\n").encode(errors="surrogateescape"))
    done = run(tree, "check")
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"shardlint: {name}"), done.stderr[:500]
    assert len(done.stderr) < 2000


#: What is the user's to say. A tree that could say it would choose what is executed, or written.
OURS = [
    "output-file", "cache-dir", "fix", "unsafe-fixes", "add-ignores", "write-baseline", "python", "jobs",
    "confirm.python", "report.python", "server.python", "exit-zero", "run", "trusted", "extend", "plugins",
]  # fmt: skip


@pytest.mark.parametrize("key", OURS)
def test_a_configuration_does_not_say_what_is_run_or_written(
    key: str, tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, _, name = key.rpartition(".")
    section = f"[tool.shardlint{'.' * bool(table)}{table}]"
    (tree / "pyproject.toml").write_text(f'{section}\n{name} = "{tree}/good.py"\n')
    before = contents(tree)
    monkeypatch.chdir(tree)
    code = main(["check"])
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert "unknown key" in said.err
    assert contents(tree) == before


def _laughs(merging: bool) -> str:
    lines = ["a0: &a0 {k: v}" if merging else "a0: &a0 [ha, ha]"]
    for number in range(1, 20):
        before = ", ".join([f"*a{number - 1}"] * 10)
        made = f"{{<<: [{before}]}}" if merging else f"[{before}]"
        lines.append(f"a{number}: &a{number} {made}")
    return "\n".join([*lines, "rules: [[embed, *a19]]" if not merging else "rules: *a19"])


YAML: dict[str, str] = {
    "a call": "rules: !!python/object/apply:os.system ['touch ../canary']",
    "an object": "rules: !!python/object/new:os.system ['touch ../canary']",
    "a module": "rules: !!python/module:evil",
    "a name": "rules: !!python/name:evil.x",
    "laughter": _laughs(False),
    "merged laughter": _laughs(True),
    "a list in itself": "rules: &a [[embed, *a]]",
    "a table in itself": "rules: &a {embed: *a}",
    "depth": "rules: " + "[" * 100_000,
    "a huge number": "rules: " + "9" * 10_000,
    "a truth that is none": "rules: !!bool x",
    "a whole number that is none": "rules: !!int ''",
    "a time that is none": "rules: !!timestamp x",
    "a time before time": "rules: 0001-01-01 00:00:00 +23:00",
    "a NUL": "rules: \0",
    "a key that is no key": "? [a]\n: b",
    "more axes than there are": "rules: &r ["
    + "&p [embed, &x ["
    + "m, " * 5_000
    + "]]"
    + ", *p" * 5_000
    + "]",
    "more rules than there are": "rules: [&p [embed, m]" + ", *p" * 100_000 + "]",
}


#: From 6.0.4 on PyYAML takes each key of merges once, so that they do not grow.
_MERGES_ONCE = tuple(map(int, yaml.__version__.split(".")[:3])) >= (6, 0, 4)


@pytest.mark.parametrize("what", YAML)
def test_a_hostile_rule_file_is_told_of(what: str, tree: Path) -> None:
    (tree / "rules.yml").write_text(YAML[what])
    (tree / "evil.py").write_text(f"open({str(tree.parent / 'canary')!r}, 'w')")
    (tree / "shardlint.toml").write_text('[logical-axes]\nfile = "rules.yml"\nkey = "rules"\n')
    done = run(tree, "check")
    assert is_clean(tree)
    assert len(done.stderr) < 2000
    if what == "merged laughter" and _MERGES_ONCE:
        assert (done.returncode, done.stderr) == (1, "")
        return
    assert done.returncode == 2, done.stdout
    assert "rules.yml" in done.stderr


# -- baseline and cache ----------------------------------------------------------------------------

ROW = {"path": "good.py", "code": "SHL103", "message": "m", "text": "t", "scope": ""}
BASELINES: dict[str, str] = {
    "depth": '{"version": 1, "findings": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a huge number": '{"version": 1, "findings": [], "x": ' + "9" * 10_000 + "}",
    "a huge count": json.dumps({"version": 1, "findings": [{**ROW, "count": 10**9}]}),
    "a class": '{"version": 1, "findings": [{"__class__": "os.system", "py/object": "evil.X"}]}',
    "a pickle": "\x80\x04cos\nsystem\n",
    "another file": "precious = 1\n",
}


@pytest.mark.parametrize("what", BASELINES)
def test_what_is_no_baseline_is_not_written_to(what: str, tree: Path) -> None:
    precious = tree.parent / "precious.json"
    precious.write_text(BASELINES[what])
    (tree / "shardlint.toml").write_text('baseline = "../precious.json"\n')
    done = run(tree, "check")
    assert (done.returncode, done.stdout) == (2, "")
    assert "precious.json" in done.stderr
    assert precious.read_text() == BASELINES[what]


def test_a_linked_cache_is_not_written_to(tree: Path) -> None:
    (tree.parent / "elsewhere").mkdir()
    (tree / ".shardlint_cache").symlink_to("../elsewhere", target_is_directory=True)
    assert run(tree, "check").returncode == 1
    assert not list((tree.parent / "elsewhere").iterdir())


def test_nothing_is_written_beside_the_tree(tree: Path) -> None:
    before = contents(tree.parent)
    assert run(tree, "check").returncode == 1
    assert (tree / ".shardlint_cache").is_dir()
    assert contents(tree.parent).keys() - {"program.py"} == before.keys() - {"program.py"}
