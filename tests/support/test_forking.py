"""A process that is forked is as one that starts: what it is given, what it sees, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from shardlint.confirm.child_process import Child, fake_environment
from shardlint.confirm.connection import WORKER, Connection
from support import forked_workers
from support.command import run_command
from support.forking import Forked

pytestmark = pytest.mark.slow

TELLS = """
import json, os, sys
started = "jax" not in sys.modules
import jax
said = {
    "arguments": sys.argv, "path": sys.path, "environment": dict(os.environ), "folder": os.getcwd(),
    "leads": os.getsid(0) == os.getpid(), "devices": jax.device_count(), "given": sys.stdin.read(),
    "encodings": [(one.encoding, one.errors) for one in (sys.stdin, sys.stdout, sys.stderr)],
    "config": {name: repr(value) for name, value in jax.config.values.items()},
}
print(json.dumps([started, said]))
print("complaint", file=sys.stderr)
sys.exit(3)
"""


def test_it_is_as_one_that_starts(tmp_path: Path) -> None:
    command = ["-I", "-c", TELLS, "one", "two"]
    around = {**fake_environment(4), "MORE": "ö"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path, env=around, input="given", capture_output=True, text=True, start_new_session=True,
    )  # fmt: skip
    status, out, said = forked(command, tmp_path, around, "given")
    assert (status, said) == (done.returncode, done.stderr) == (3, "complaint\n")
    (has_started, expected), (forks_start, found) = json.loads(done.stdout), json.loads(out)
    assert (has_started, forks_start) == (True, False)
    assert found == expected
    assert found["devices"] == 4


def forked(command: list[str], folder: Path, around: dict[str, str], given: str) -> tuple[int, str, str]:
    """Return the exit status of a forked process, and what it prints."""
    with (
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        stdin.write(given)
        stdin.seek(0)
        streams = [stream.fileno() for stream in (stdin, out, err)]
        status = Forked(forked_workers.server().address, command, folder, around, streams, True).wait(60)
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


def test_a_worker_is_forked_and_killed() -> None:
    children: list[Child] = []
    with forked_workers.forked_workers():
        connection = Connection(sys.executable, 2, 60, 4 << 30, started=children.append)
    process: Any = children[0]._process
    assert isinstance(process, Forked)
    assert process.poll() is None
    connection.close()
    assert process.returncode == -signal.SIGKILL


def test_workers_start_where_that_may_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    worker = [sys.executable, "-I", str(WORKER)]
    with forked_workers.forked_workers():
        others = Child("worker", worker, devices=2, memory=4 << 30)
    monkeypatch.undo()
    usual = Child("worker", worker, devices=2, memory=4 << 30)
    for child in (others, usual):
        child.close()
        assert type(child._process) is subprocess.Popen


def test_a_command_fails_as_one_that_starts(tmp_path: Path) -> None:
    assert run_command(["no-such-command"], tmp_path).returncode == 2
