"""Whole runs with the cache and several processes: what they load, share, survive and leave alone."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kept_project import FILES, checked, codes, process, written

from shardlint.cache import validation
from shardlint.cache.store import Store
from shardlint.cli.check import _store
from shardlint.engine import analyzer, process_pool
from shardlint.engine.work_item import Work, work_on
from shardlint.inference.evaluation.settings import InferenceSettings

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHARDLINT_CACHE_DIR", str(tmp_path / "cache"))
    return written(tmp_path / "project")


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_the_same_from_the_cache(format: str, project: Path) -> None:
    fresh = checked(project, "--no-cache", format=format)
    assert "SHL202" in fresh[1]
    for _ in range(3):
        assert checked(project, format=format) == fresh


@pytest.mark.parametrize(
    "options",
    [["--statistics"], ["--select", "SHL1"], ["--exit-zero"], ["-q"], ["--diff"], ["--fix-only", "--diff"],
     ["--show-unresolved"], ["--devices", "4"], ["--mesh", "data=2,model=3"], ["--config", "devices=4"],
     ["--isolated"], ["--baseline", "base.json"]],
)  # fmt: skip
def test_options_count(options: list[str], project: Path) -> None:
    checked(project, "--write-baseline", "base.json")
    checked(project)
    format = "json" if "--statistics" in options else "full"
    fresh = checked(project, "--no-cache", *options, format=format)
    assert checked(project, *options, format=format) == fresh
    assert checked(project, *options, format=format) == fresh


LOADED = """
import sys
from shardlint.cli.commands import main
code = main(["check", ".", *sys.argv[1:]])
heavy = ("libcst", "rich", "pathspec", "yaml", "multiprocessing", "shardlint.inference", "shardlint.rules")
print("loaded:", [name for name in heavy if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


def test_a_second_run_loads_nothing_heavy(project: Path) -> None:
    run = [sys.executable, "-c", LOADED]
    first = subprocess.run(run, cwd=project, capture_output=True, text=True)
    assert first.returncode == 1 and "'libcst'" in first.stderr
    second = subprocess.run(run, cwd=project, capture_output=True, text=True)
    assert second.stdout == first.stdout and second.returncode == 1
    assert "loaded: []" in second.stderr


def test_what_is_known_of_each_file_needs_no_evaluator(project: Path) -> None:
    """As pre-commit asks: today for these files, tomorrow for others."""
    run = [sys.executable, "-c", LOADED.replace('".", ', "")]
    for files, loaded in (
        (["main.py", "wide.py"], True),
        (["main.py"], False),
        (["wide.py", "main.py"], False),
    ):
        done = subprocess.run([*run, *files], cwd=project, capture_output=True, text=True)
        assert done.returncode == 1 and ("'libcst'" in done.stderr) is loaded


def test_files_that_do_not_matter_load_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\n")
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "--no-cache"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "loaded: []" in done.stderr


def test_nothing_is_read_that_has_not_changed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps tell, once files are older than a clock may be wrong."""
    old = time.time() - 60
    for path in project.rglob("*"):
        os.utime(path, (old, old))
    monkeypatch.setattr(validation, "_COARSE", 0)
    time.sleep(0.05)
    checked(project)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation.file_access, "read", lambda *_: pytest.fail("a text was read"))
        assert checked(project)[0] == 1


def test_only_what_changed_is_analyzed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked(project)
    ran: list[str] = []

    def counted(source: object, settings: InferenceSettings) -> Work:
        ran.append(source.path)  # type: ignore[attr-defined]
        return work_on(source, settings)  # type: ignore[arg-type]

    monkeypatch.setattr(analyzer, "work_on", counted)
    (project / "main.py").write_text(FILES["main.py"] + "\nx = 1\n")
    checked(project)
    assert ran == ["main.py"]
    ran.clear()
    (project / "names.py").write_text('AXES = ("data", "x")\n')
    checked(project)
    assert "main.py" in ran and "uses_pkg.py" in ran and "names.py" not in ran


def test_no_cache_and_exhaustive_leave_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHARDLINT_CACHE_DIR", raising=False)
    project = written(tmp_path)
    for option in ("--no-cache", "--exhaustive"):
        checked(project, option)
        assert not (project / ".shardlint_cache").exists()
    before = checked(project)
    assert (project / ".shardlint_cache" / "CACHEDIR.TAG").is_file()
    assert checked(project, "--cache-dir", str(tmp_path / "other")) == before
    assert (tmp_path / "other").is_dir()


def test_a_read_only_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = checked(project, "--no-cache")
    monkeypatch.delenv("SHARDLINT_CACHE_DIR")
    (project / ".shardlint_cache").write_text("no folder")
    assert checked(project) == fresh


# -- processes ------------------------------------------------------------------------------------


@pytest.fixture
def many(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of many programs, worth several processes from the first one on."""
    for number in range(12):
        (project / f"p{number:02}.py").write_text(
            FILES["main.py"].replace("8, WIDTH", f"{number + 1}, WIDTH")
        )
    monkeypatch.setattr(analyzer, "_TRIAL", 0.0)
    monkeypatch.setattr(analyzer, "_WORTH_IT", 0.0)
    return project


@pytest.mark.parametrize("jobs", [2, 3, 5])
def test_processes_find_the_same(jobs: int, many: Path) -> None:
    alone = checked(many, "--no-cache", "--jobs", "1")
    assert len(codes(alone[1])) > 12
    assert checked(many, "--no-cache", "--jobs", str(jobs)) == alone
    assert checked(many, "--jobs", str(jobs)) == alone
    assert checked(many, "--jobs", "1") == alone


def _dies(number: int, times: int, mark: Path) -> object:
    """Work that kills its process at one source, so many times."""

    def work(source: object, settings: InferenceSettings) -> Work:
        if source.path == f"p{number:02}.py":  # type: ignore[attr-defined]
            died = len(list(mark.glob("died*")))
            if died < times:
                (mark / f"died{died}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return work_on(source, settings)  # type: ignore[arg-type]

    return work


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is patched here has to be so in the processes, too."""
    if sys.platform != "linux":
        pytest.skip("processes that are spawned know nothing of patches")
    monkeypatch.setattr(process_pool.threading, "active_count", lambda: 1)


@pytest.mark.usefixtures("forking")
def test_a_killed_process_loses_nothing(many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = checked(many, "--no-cache", "--jobs", "1")
    monkeypatch.setattr(process_pool, "work_on", _dies(5, 1, tmp_path))
    assert checked(many, "--no-cache", "--jobs", "3") == alone
    assert (tmp_path / "died0").exists()


@pytest.mark.usefixtures("forking")
def test_a_file_that_kills_each_process_is_named(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = codes(checked(many, "--no-cache", "--jobs", "1")[1])
    monkeypatch.setattr(process_pool, "work_on", _dies(5, 99, tmp_path))
    code, text = checked(many, "--jobs", "3")
    assert code == 2
    assert [one for one in codes(text) if one[0] != "p05.py"] == [one for one in alone if one[0] != "p05.py"]
    assert ("p05.py", "SHL009") in codes(text)
    monkeypatch.undo()
    assert ("p05.py", "SHL009") not in codes(checked(many)[1]), "a crash is not kept"


def test_spawned_processes(many: Path) -> None:
    """As on systems that cannot fork: nothing but what is sent is there."""
    script = (
        "import threading, time\n"
        "from shardlint.engine import analyzer as analyzing\n"
        "from shardlint.cli.commands import main\n"
        "if __name__ == '__main__':\n"
        "    analyzing._TRIAL = analyzing._WORTH_IT = 0.0\n"
        "    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "    raise SystemExit(main(['check', '.', '--output-format', 'json', '--no-cache', '--jobs', '2']))\n"
    )
    (many.parent / "run.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(many.parent / "run.py")], cwd=many, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout + done.stderr) == checked(many, "--no-cache")


# -- several runs at once, and killed ones ---------------------------------------------------------


def test_runs_at_once_and_killed_ones(project: Path) -> None:
    fresh = checked(project, "--no-cache")
    running = [process(project) for _ in range(4)]
    for one in running:
        out, _ = one.communicate(timeout=120)
        assert (one.returncode, out) == (1, fresh[1])
    for turn in range(6):
        (project / "names.py").write_text(f'AXES = ("data", "x{turn}")\n')
        one = process(project)
        time.sleep(0.15 * turn)
        one.send_signal(signal.SIGKILL)
        one.communicate()
        assert checked(project) == checked(project, "--no-cache")


# -- entries that somebody else has written --------------------------------------------------------


def _planted(project: Path, change: object) -> None:
    """Change the kept results, as who knows how they are written can."""
    store = Store(os.environ["SHARDLINT_CACHE_DIR"])
    with sqlite3.connect(Path(store.folder) / "shardlint.sqlite3") as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM results")]
    connection.close()
    for key in keys:
        value = store.get(key)
        assert value is not None
        store.put(key, change(key, value))  # type: ignore[operator]
    store.save()
    store.close()


def test_results_that_are_none_are_not_believed(project: Path) -> None:
    fresh = checked(project, "--no-cache")
    wrong = [
        lambda key, value: b"",
        lambda key, value: b"{}\n{}",
        lambda key, value: (
            value.partition(b"\n")[0] + b"\n" + b'{"classes":["tuple"],"root":[0],"parts":[[0]]}'
        ),
        lambda key, value: b"[]\n" + value.partition(b"\n")[2],
        lambda key, value: value.replace(b'"Span"', b'"Fact"'),
        lambda key, value: value.replace(b'"Finding"', b'"Span"'),
        lambda key, value: value.replace(b'"texts"', b'"text"'),
    ]
    for change in wrong:
        checked(project)
        _planted(project, change)
        assert checked(project) == fresh


def test_no_line_of_another_file_is_shown(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret\n" * 30)
    checked(project, format="full")
    named = json.dumps("main.py").encode()
    _planted(
        project,
        lambda key, value: value.partition(b"\n")[0] + b"\n"
        + value.partition(b"\n")[2].replace(named, json.dumps(str(tmp_path / "secret")).encode())
        if key.startswith(b"check") else value,
    )  # fmt: skip
    assert "the secret" not in checked(project, format="full")[1]


def test_no_kept_text_is_written_into_a_file(project: Path) -> None:
    """`--fix` and `--add-ignores` work out again what they write."""
    (project / "old.py").write_text(
        "from jax.experimental.shard_map import shard_map\nimport jax\njax.sharding.Mesh\n"
    )
    before = checked(project, "--no-cache", "--diff", "--unsafe-fixes")
    checked(project)
    _planted(
        project,
        lambda key, value: value.replace(b"jax.set_mesh", b"evil").replace(b"from jax import", b"evil"),
    )
    assert checked(project, "--diff", "--unsafe-fixes") == before
    checked(project, "--fix", "--unsafe-fixes")
    assert all("evil" not in path.read_text() for path in project.rglob("*.py"))


def test_confirmation_asks_no_kept_result() -> None:
    """Witnesses are programs, and run."""
    options = argparse.Namespace(no_cache=False, exhaustive=None, confirm=True, cache_dir=None, paths=["."])
    assert _store(options) is None
    options.confirm = False
    assert _store(options) is not None
