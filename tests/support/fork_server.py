"""The process that forks, as `forking` has it: it runs a text, which imports, and then waits for requests."""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, TextIO

#: How the variables begin that a process reads as it imports.
AT_START = ("PYTHON", "JAX_", "SHARDLINT_JAX")


class ForkServer:
    """A process of this Python that runs a text when first needed, and then forks.

    ``options`` are those of Python that it starts with, ``environment`` is its variables.
    """

    def __init__(self, text: str, environment: Mapping[str, str], options: Sequence[str] = ()) -> None:
        self._text, self._environment, self._options = text, dict(environment), options

    def suits(self, environment: Mapping[str, str]) -> bool:
        """Return whether this one has read what a process with these variables reads as it imports."""
        return _at_start(environment) == _at_start(self._environment)

    @cached_property
    def address(self) -> str:
        """Start the process and return its address."""
        folder = tempfile.TemporaryDirectory()
        address = str(Path(folder.name) / "socket")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            number = listening.fileno()
            process = subprocess.Popen(
                [sys.executable, *self._options, __file__, str(number), self._text],
                stdin=subprocess.PIPE,
                env=self._environment,
                pass_fds=[number],
            )
        atexit.register(folder.cleanup)
        atexit.register(process.communicate)
        return address


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


def _serve(listening: socket.socket, more: Mapping[str, str]) -> None:
    """Fork for each process that is asked for, until the standard input ends.

    ``more`` are the variables that this one has set as it imported.
    """
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            _reap()
            return
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _attend(connection, more)
        connection.close()
        _reap()


def _reap() -> None:
    """Let the processes go that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _attend(connection: socket.socket, more: Mapping[str, str]) -> NoReturn:
    """Fork the process that a connection asks for, wait for its end, and send its status."""
    try:
        size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")
        first, streams, _, _ = socket.recv_fds(connection, 1, 3)
        request = json.loads(first + connection.recv(size - 1, socket.MSG_WAITALL))
        request["environment"] = {**more, **request["environment"]}
        child = os.fork()
        if child == 0:
            _execute(request, streams, connection)
        for stream in {0, 1, 2, *streams}:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _execute(request: Mapping[str, Any], streams: Sequence[int], connection: socket.socket) -> NoReturn:
    """Become the process that is asked for, tell its number, and end as it ends."""
    status = 1
    try:
        if request["session"]:
            os.setsid()
        connection.sendall(os.getpid().to_bytes(4, "big"))
        connection.close()
        for standard, stream in enumerate(streams):
            os.dup2(stream, standard)
            os.close(stream)
        sys.stdin = sys.__stdin__ = _opened(sys.stdin)  # type: ignore[misc]
        sys.stdout = sys.__stdout__ = _opened(sys.stdout)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _opened(sys.stderr)  # type: ignore[misc]
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        _run(request["arguments"])
        status = 0
    except SystemExit as exit_:
        if isinstance(exit_.code, str):
            print(exit_.code, file=sys.stderr)
        status = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _opened(stream: TextIO) -> io.TextIOWrapper:
    """Open a standard stream anew, as Python has opened it for this process."""
    assert isinstance(stream, io.TextIOWrapper)
    buffering = 0 if isinstance(stream.buffer, io.RawIOBase) else -1  # as with PYTHONUNBUFFERED
    binary = open(stream.fileno(), f"{stream.mode}b", buffering, closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        binary, stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
    )


def _run(arguments: Sequence[str]) -> None:
    """Run what Python would with these arguments."""
    isolated = arguments[0] == "-I"
    program, *rest = arguments[isolated:]
    if program == "-c":
        text, *rest = rest
        sys.argv, first = ["-c", *rest], ""
    elif program == "-m":
        text, *rest = rest
        sys.argv, first = ["-m", *rest], os.getcwd()
    else:
        sys.argv, first = [program, *rest], os.path.dirname(program)
    if not isolated:
        sys.path.insert(0, first)
    if program == "-c":
        exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
    elif program == "-m":
        runpy.run_module(text, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    # The folder of this file is on the path for nothing that a process may import.
    sys.path[:] = [folder for folder in sys.path if folder != str(Path(__file__).parent)]
    number, text = sys.argv[1:]
    before = dict(os.environ)
    exec(text, {"__name__": "__main__"})
    gc.freeze()
    _serve(socket.socket(fileno=int(number)), dict(os.environ.items() - before.items()))
