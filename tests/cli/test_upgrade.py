"""The command `upgrade`: its changes, output, fixes and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardlint.cli import main
from shardlint.laws.versions import NEWEST

PROGRAM = """\
import jax, jax.numpy as jnp
from jax.experimental.shard_map import shard_map
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("x",))
typed = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Explicit,))
x = jnp.zeros((8, 8), out_sharding=NamedSharding(typed, P("x")))

@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))

f(jnp.ones((8, 8)))

def g(x):
    if x is not None:
        return jax.tree_map(lambda y: y, x)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\ndependencies = ["jax>=0.7"]\n')
    (tmp_path / "a.py").write_text(PROGRAM)
    (tmp_path / "b.py").write_text("import os\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["upgrade", "--devices", "8", "-q", *words])
    out, err = capsys.readouterr()
    return code, out, err


def changes(capsys: pytest.CaptureFixture[str], *words: str) -> dict[tuple[str, str], tuple[str, int]]:
    found = json.loads(run(capsys, "--output-format", "json", *words)[1])
    return {(one["kind"], one["code"]): (one["since"], one["line"]) for one in found["changes"]}


def test_what_changes_since_the_release_that_the_project_requires(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert changes(capsys) == {
        ("breaks", "SHL701"): ("0.9.0", 11),
        ("breaks", "SHL802"): ("0.6.0", 17),
        ("silent", "SHL709"): ("0.11.0", 7),
        ("silent", "SHL805"): ("0.9.0", 5),
        ("deprecated", "SHL801"): ("0.8.0", 2),
    }
    assert changes(capsys, "--to", "0.7.2") == {("breaks", "SHL802"): ("0.6.0", 17)}
    assert changes(capsys, "--from", "0.10", "--to", "0.11.0") == {
        ("breaks", "SHL802"): ("0.6.0", 17),
        ("silent", "SHL709"): ("0.11.0", 7),
    }


def test_jax_is_quoted_once_for_each_cause(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("c.py", "d.py"):
        (project / name).write_text("import jax\n\njax.tree_map(abs, 1)\n")
    _, out, _ = run(capsys)
    assert out.count("`jax.tree_map` is gone") == 4 and out.count("jax.tree_map was removed in JAX") == 1


def test_without_a_requirement_the_oldest_release_is_taken_and_a_note_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "a"\n')
    main(["upgrade", "b.py"])
    assert "note: no requirement of JAX is found" in capsys.readouterr().err
    main(["upgrade", "b.py", "--from", "0.8.0"])
    assert "note:" not in capsys.readouterr().err


def test_the_text_ends_with_a_line_that_sums_up(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == 1
    assert out.startswith("a.py\n  breaks: ")
    assert "line 17 (all where reached)" in out
    assert out.splitlines()[-1] == (
        f"JAX 0.7.0 -> {NEWEST}: 2 break, 2 change silently, 1 become deprecated in 1 file; "
        "3 fixable with `--fix`."
    )


def test_a_fix_that_may_change_the_meaning_names_its_flag(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pjit` resolves bare specs with the mesh of ``with mesh:``, and `jit` does not."""
    (project / "a.py").write_text(
        "from jax.experimental.pjit import pjit\n\nstep = pjit(lambda x: x, out_shardings=None)\n"
    )
    out = run(capsys, "--fix")[1]
    assert "[SHL801, since JAX 0.8.0, fixable with --unsafe-fixes]" in out
    assert out.splitlines()[-1].endswith("in 1 file; 1 fixable with `--fix --unsafe-fixes`.")
    assert "nothing changes" in run(capsys, "--fix", "--unsafe-fixes")[1]
    assert (project / "a.py").read_text().startswith("from jax import jit as pjit\n")


def test_what_the_older_release_lacks_already_is_marked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys)[1]
    assert "[SHL802, since JAX 0.6.0, so in 0.7.0 already, fixable]" in out
    assert "[SHL701, since JAX 0.9.0]" in out


def test_fixes_leave_what_no_fix_can_decide(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--diff")
    assert code == 1 and out.count("\n+") == 4
    assert (project / "a.py").read_text() == PROGRAM
    code, out, _ = run(capsys, "--fix")
    text = (project / "a.py").read_text()
    assert "axis_types=(AxisType.Auto,)" in text and "jax.tree.map(" in text
    assert "from jax import shard_map" in text
    assert (code, out.splitlines()[-1]) == (
        0, f"JAX 0.7.0 -> {NEWEST}: 1 change silently in 1 file."
    )  # fmt: skip


def test_fixes_of_files_that_import_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    helper, main = tmp_path / "helper.py", tmp_path / "main.py"
    helper.write_text("import jax\n\n\ndef twice(tree):\n    return jax.tree_map(lambda x: 2 * x, tree)\n")
    main.write_text(
        "import jax\nimport jax.numpy as jnp\nimport helper\n\n"
        'values = helper.twice({"a": jnp.ones(8)})\nleaves = jax.tree_leaves(values)\n'
    )
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "--isolated", "--from", "0.4.35", "--fix", ".")
    assert "left out" not in err and code == 0, (code, out, err)
    assert "jax.tree.map(" in helper.read_text() and "jax.tree.leaves(" in main.read_text()


def test_nothing_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("import jax\nmesh = jax.devices()\n")
    code, out, _ = run(capsys, str(tmp_path), "--from", "0.11.0")
    assert (code, out) == (0, f"JAX 0.11.0 -> {NEWEST}: nothing changes in 1 file.\n")


def test_a_requirement_that_excludes_the_release_is_noted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "a"\ndependencies = ["jax<0.8"]\n')
    main(["upgrade", "a.py"])
    assert "its requirement has to change too" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "0.99"), "known; these are: 0.4.35, 0.4.36"),
        (("--to", "new"), "--to new is no release"),
        (("--from", "0.1"), "--from 0.1 is no release"),
        (("--from", "0.9", "--to", "0.8"), "JAX 0.8.3 is older than 0.9.0"),
    ],
)
def test_releases_that_cannot_be_compared(
    project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert message in err
