"""The command line in a process of its own that need not start anew: 0.03 seconds instead of 0.65.

Each command has its own working directory, environment, standard streams and exit status, as a user's has.
What depends on how Python starts (its options, ``PYTHON*`` variables, signals, terminals) needs a process
that starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from support import forking
from support.fork_server import ForkServer
from support.forking import Forked

#: Seconds that a command may take.
TIMEOUT = 300

START = "import sys; from shardlint.cli.commands import main; sys.exit(main())"
#: Imports what a check imports.
WARM_UP = """
import os, tempfile
from contextlib import redirect_stderr, redirect_stdout
from shardlint.cli.commands import main
with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
    program = os.path.join(folder, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write("from jax.sharding import PartitionSpec as P\\nP('x', 'x')\\n")
    with redirect_stdout(nowhere), redirect_stderr(nowhere):
        main(["check", "--no-cache", "--isolated", program])
"""


def run_command(
    arguments: Sequence[str],
    folder: Path | str,
    environment: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run ``shardlint`` with arguments in a folder, ``given`` as its standard input.

    Where the environment changes what is read at the start, a process starts.
    """
    around = dict(os.environ if environment is None else environment)
    if not _server().suits(around):
        command = [sys.executable, "-c", START, *arguments]
        return subprocess.run(
            command, cwd=folder, env=around, input=given, capture_output=True, timeout=TIMEOUT
        )
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(given)
        stdin.seek(0)
        streams = [stream.fileno() for stream in (stdin, out, err)]
        command = ["-I", "-c", START, *arguments]
        status = Forked(_server().address, command, folder, around, streams).wait(TIMEOUT)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["shardlint", *arguments], status, out.read(), err.read())


def run_decoded(
    folder: Path | str, *arguments: str, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``shardlint`` in a folder with more variables, and check that it does not fail itself."""
    done = run_command(arguments, folder, {**os.environ, **environment}, os.fsencode(given))
    out, said = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    for text in ("Traceback", "internal error", "Exception ignored"):
        assert text not in said, said
    return subprocess.CompletedProcess(done.args, done.returncode, out, said)


def forked_program() -> str:
    """Return the text of a program that is the command ``shardlint``, by a fork."""
    folder, start = str(Path(forking.__file__).parent), ["-I", "-c", START]
    return (
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {folder!r})\nfrom forking import main\n"
        f"sys.exit(main({_server().address!r}, *{start!r}, *sys.argv[1:]))\n"
    )


@cache
def _server() -> ForkServer:
    return ForkServer(WARM_UP, os.environ)
