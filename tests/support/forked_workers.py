"""JAX workers that need not import JAX: 0.2 seconds of processor time each instead of 1.2, or 2 with Flax.

For tests of what a worker answers, not of how it starts: they say
``pytestmark = pytest.mark.usefixtures("forked_workers")``. What starts a worker remains as it is, save that
`subprocess.Popen` is `start` there, which forks where that is the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any
from unittest import mock

from shardlint.confirm import child_process
from shardlint.confirm.connection import INITIALIZER, WORKER
from support.fork_server import ForkServer
from support.forking import Forked

IMPORTS = "import flax.linen, flax.nnx, jax.numpy, optax"


@contextmanager
def forked_workers() -> Iterator[None]:
    """Let `Child` fork workers."""
    forking = SimpleNamespace(**{**vars(subprocess), "Popen": start})
    with mock.patch.object(child_process, "subprocess", forking):
        yield


def start(command: Sequence[str], **options: Any) -> Worker | subprocess.Popen[str]:
    """Start a process with the options of `subprocess.Popen`, by a fork if it is a worker of this Python."""
    workers = [[sys.executable, "-I", str(program)] for program in (WORKER, INITIALIZER)]
    if [*command] in workers and server().suits(options["env"]):
        return Worker(command, **options)
    return subprocess.Popen(command, **options)


class Worker(Forked):
    """A forked worker, with its two pipes."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: int,
        stdout: int,
        stderr: IO[str],
        encoding: str,
        errors: str,
        cwd: Path | None,
        env: Mapping[str, str],
        start_new_session: bool,
    ) -> None:
        assert stdin == stdout == subprocess.PIPE
        (read, its_out), (its_in, write) = os.pipe(), os.pipe()
        streams = [its_in, its_out, stderr.fileno()]
        super().__init__(server().address, command[1:], cwd, env, streams, start_new_session)
        os.close(its_in)
        os.close(its_out)
        self.stdin = open(write, "w", encoding=encoding, errors=errors)  # noqa: SIM115
        self.stdout = open(read, encoding=encoding, errors=errors)  # noqa: SIM115


@cache
def server() -> ForkServer:
    """Return the process that has imported JAX."""
    return ForkServer(IMPORTS, child_process.fake_environment(8), ["-I"])
