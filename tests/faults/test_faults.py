"""What goes wrong around a run is said, and loses nothing of what it found."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command import run_decoded

from shardlint.cli.commands import main
from shardlint.source.workspace import file_access

if sys.platform != "linux":
    pytest.skip("faults are made as Linux has them", allow_module_level=True)

COMMAND = [sys.executable, "-m", "shardlint"]
HEAD = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
"""
MISTAKE = HEAD + 'NamedSharding(mesh, P("rows"))\n'
#: A mistake that has a safe fix.
FIXABLE = HEAD + 'NamedSharding(mesh, P("data", None, "data"))  # shardlint: ignore[SHL999]\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a mistake in `good.py`."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "good.py").write_text(MISTAKE)
    return tree


def run(
    tree: Path, *arguments: str, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a tree; ``before`` is done in its process first."""
    if before is None:
        return run_decoded(tree, *arguments)
    # Where no file may grow, Python leaves byte code in pieces, which whoever imports it next breaks on.
    around = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=tree, env=around, capture_output=True, text=True, timeout=120, preexec_fn=before,
    )  # fmt: skip
    _is_decent(done.stderr)
    return done


def _is_decent(said: str) -> None:
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    assert "Exception ignored" not in said, said


def found(text: str) -> list[tuple[str, str]]:
    """File and code of each finding of the concise format."""
    lines = [line for line in text.splitlines() if "[SHL" in line]
    return [(line.split(":")[0], line.split("[")[1][:6]) for line in lines]


GOOD = ("good.py", "SHL103")


# -- what cannot be read ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "coverage", "report"])
def test_odd_files_in_a_folder(command: str, tree: Path) -> None:
    (tree / "dangling.py").symlink_to("nowhere.py")
    (tree / "loop.py").symlink_to("loop.py")
    (tree / "a.ipynb").symlink_to("b.ipynb")
    (tree / "b.ipynb").symlink_to("a.ipynb")
    (tree / "zero.py").symlink_to("/dev/zero")
    (tree / "around").symlink_to("around/again")
    (tree / "folder.py").mkdir()
    os.mkfifo(tree / "pipe.py")
    (tree / "good.py").unlink()
    (tree / "folder.py" / "good.py").write_text(MISTAKE)
    done = run(tree, command, ".", *(["--output-format", "concise"] if command == "check" else []))
    assert done.returncode == (command == "check"), done.stderr
    if command == "check":
        assert found(done.stdout) == [("folder.py/good.py", "SHL103")]


NAMED: dict[str, tuple[str, str]] = {
    "dangling.py": ("SHL006", "this path does not exist"),
    "loop.py": ("SHL002", "Too many levels of symbolic links"),
    "memory.py": ("SHL002", "Input/output error"),
    "zero.py": ("SHL005", "larger than"),
}


@pytest.mark.parametrize("name", NAMED)
def test_an_odd_file_that_is_named(name: str, tree: Path) -> None:
    (tree / "dangling.py").symlink_to("nowhere.py")
    (tree / "loop.py").symlink_to("loop.py")
    (tree / "memory.py").symlink_to("/proc/self/mem")
    (tree / "zero.py").symlink_to("/dev/zero")
    done = run(tree, "check", "--output-format", "concise", name, "good.py")
    code, said = NAMED[name]
    assert sorted(found(done.stdout)) == sorted([GOOD, (name, code)])
    assert said in done.stdout
    assert done.returncode == (2 if code == "SHL006" else 1)


def test_a_file_that_goes_between_being_listed_and_being_read(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "gone.py").write_text(MISTAKE)
    (tree / "left").mkdir()
    listed = file_access.entries

    def entries(folder: str) -> list[os.DirEntry[str]]:
        found = listed(folder)
        (tree / "gone.py").unlink(missing_ok=True)
        if (tree / "left").is_dir():
            (tree / "left").rmdir()
        return found

    monkeypatch.setattr(file_access, "entries", entries)
    monkeypatch.chdir(tree)
    assert main(["check", "--output-format", "concise", "--no-cache"]) == 2
    assert sorted(found(capsys.readouterr().out)) == [("gone.py", "SHL006"), GOOD]


def without_privileges() -> None:
    """Let permissions hold for root as well."""
    if os.geteuid() == 0:
        library = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if library.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                os._exit(77)


def unprivileged(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = run(tree, *arguments, before=without_privileges)
    if done.returncode == 77:
        pytest.skip("root, and not allowed to be less")
    return done


def test_what_may_not_be_read_is_said(tree: Path) -> None:
    for path in ("closed/a.py", "open/b.py", "shut.py"):
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(MISTAKE)
    (tree / "shut.py").chmod(0)
    (tree / "closed").chmod(0)
    try:
        done = unprivileged(tree, "check", "--output-format", "concise")
        again = unprivileged(tree, "check", "--output-format", "concise")
    finally:
        (tree / "closed").chmod(0o755)
    assert sorted(found(done.stdout)) == [
        ("closed", "SHL002"), GOOD, ("open/b.py", "SHL103"), ("shut.py", "SHL002")
    ]  # fmt: skip
    assert "closed:1:1: error[SHL002] this folder cannot be read: Permission denied" in done.stdout
    assert (done.returncode, again.returncode, again.stdout) == (1, 1, done.stdout)


def test_a_baseline_keeps_what_may_not_be_read(tree: Path) -> None:
    for path in ("closed/a.py", "shut.py"):
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(MISTAKE)
    assert run(tree, "check", "--write-baseline", "known.json").returncode == 0
    before = (tree / "known.json").read_bytes()
    (tree / "shut.py").chmod(0)
    (tree / "closed").chmod(0)
    try:
        done = unprivileged(tree, "check", "--baseline", "known.json", "--output-format", "concise")
    finally:
        (tree / "closed").chmod(0o755)
    assert sorted(found(done.stdout)) == [("closed", "SHL002"), ("shut.py", "SHL002")]
    assert (tree / "known.json").read_bytes() == before


def test_a_read_only_tree(tree: Path) -> None:
    (tree / "fixable.py").write_text(FIXABLE)
    fresh = run(tree, "check", "--no-cache", "--output-format", "concise")
    assert fresh.returncode == 1
    tree.chmod(0o555)
    try:
        done = unprivileged(tree, "check", "--output-format", "concise")
        fixed = unprivileged(tree, "check", "--fix", "--unsafe-fixes", "--output-format", "concise")
        written = unprivileged(tree, "check", "--output-file", "report", "--output-format", "json")
        known = unprivileged(tree, "check", "--write-baseline", "known.json")
    finally:
        tree.chmod(0o755)
    assert (done.returncode, done.stdout) == (1, fresh.stdout)
    assert fixed.returncode == 2
    assert "fixable.py cannot be written: Permission denied" in fixed.stderr
    assert found(fixed.stdout) == found(fresh.stdout)
    assert (written.returncode, len(json.loads(written.stdout)) > 1) == (2, True)
    assert (known.returncode, known.stderr) == (
        2, "shardlint: known.json cannot be written: Permission denied\n"
    )  # fmt: skip
    assert sorted(os.listdir(tree)) == ["fixable.py", "good.py"]


# -- full disks and streams ------------------------------------------------------------------------


def nothing_larger() -> None:
    """Let no file grow beyond 2,000 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


def test_a_fix_that_cannot_be_written_whole_leaves_the_file(tree: Path) -> None:
    (tree / "fixable.py").write_text(FIXABLE)
    large = FIXABLE + "# more\n" * 1000
    (tree / "large.py").write_text(large)
    done = run(tree, "check", "--fix", "--unsafe-fixes", "--no-cache", before=nothing_larger)
    assert done.returncode == 2
    assert "shardlint: large.py cannot be written: File too large" in done.stderr
    assert (tree / "large.py").read_text() == large
    assert (tree / "fixable.py").read_text() != FIXABLE
    assert sorted(os.listdir(tree)) == ["fixable.py", "good.py", "large.py"]


def test_a_baseline_that_cannot_be_written_whole_is_left(tree: Path) -> None:
    assert run(tree, "check", "--write-baseline", "known.json").returncode == 0
    before = (tree / "known.json").read_bytes()
    for number in range(30):
        (tree / f"more{number}.py").write_text(MISTAKE)
    done = run(tree, "check", "--write-baseline", "known.json", "--no-cache", before=nothing_larger)
    assert (done.returncode, done.stderr) == (2, "shardlint: known.json cannot be written: File too large\n")
    assert (tree / "known.json").read_bytes() == before


def test_a_cache_for_which_there_is_no_room(tree: Path) -> None:
    fresh = run(tree, "check", "--no-cache")
    for _ in range(2):
        done = run(tree, "check", before=nothing_larger)
        assert (done.returncode, done.stdout, done.stderr) == (1, fresh.stdout, fresh.stderr)
    assert run(tree, "check").stdout == fresh.stdout


COMMANDS = {
    "check": ["check"],
    "statistics": ["check", "--statistics"],
    "diff": ["check", "--diff", "--unsafe-fixes", "fixable.py"],
    "layout": ["layout", "good.py"],
    "coverage": ["coverage"],
    "report": ["report"],
    "report as html": ["report", "--output-format", "html"],
    "config": ["config"],
    "rules": ["rules"],
    "explain": ["explain", "SHL103"],
}


@pytest.mark.parametrize(
    ("name", "unbuffered"), [*((name, "") for name in COMMANDS), ("check", "1"), ("report", "1")]
)
def test_a_full_output_is_said(name: str, unbuffered: str, tree: Path) -> None:
    (tree / "fixable.py").write_text(FIXABLE)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *COMMANDS[name]], cwd=tree, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2, "shardlint: standard output cannot be written: No space left on device"
    )  # fmt: skip
    _is_decent(done.stderr)


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_reads_the_output(name: str, tree: Path) -> None:
    (tree / "fixable.py").write_text(FIXABLE)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, *COMMANDS[name]],
            cwd=tree,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    finally:
        os.close(writing)
    assert done.returncode == 2
    _is_decent(done.stderr)
    assert "shardlint: " not in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_closed_streams(name: str, tree: Path) -> None:
    """All of them, of each command; one of them, of three that write in ways of their own."""
    (tree / "fixable.py").write_text(FIXABLE)
    wanted = run(tree, *COMMANDS[name])
    for streams in ((0, 1, 2), (1,), (2,))[: 3 if name in ("check", "report", "layout") else 1]:
        shell = " ".join(['"$@"', *(f"{stream}>&-" for stream in streams)])
        done = subprocess.run(
            ["sh", "-c", shell, "sh", *COMMAND, *COMMANDS[name]],
            cwd=tree, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == wanted.returncode, streams
        assert done.stdout == ("" if 1 in streams else wanted.stdout), streams
        assert done.stderr == ("" if 2 in streams else wanted.stderr), streams


def test_a_report_that_cannot_be_written(tree: Path) -> None:
    done = run(tree, "report", "--output-file", "/dev/full")
    assert done.stderr == "shardlint: /dev/full cannot be written: No space left on device\n"
    assert done.returncode == 2


# -- killed workers --------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["at once", "in the middle"])
def test_a_killed_confirm_worker(when: str, tree: Path) -> None:
    python = tree.parent / "python"
    ready = """print('{"ready": true, "jax": "0.10.2", "devices": 8}', flush=True); sys.stdin.readline()"""
    python.write_text(
        f"#!{sys.executable} -S\nimport os, signal, sys\n{ready if when == 'in the middle' else ''}\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    python.chmod(0o755)
    (tree / "second.py").write_text(MISTAKE)
    done = run(tree, "check", "--confirm", "--python", str(python), "--output-format", "concise")
    assert found(done.stdout) == [GOOD, ("second.py", "SHL103")]
    assert done.returncode == 1
    assert f"the JAX worker ({python}) died" in done.stderr
