"""Processes that need not start anew: forks of one that has imported what they import.

A process imports JAX (in 2 seconds) or shardlint (in 0.65) once, and forks for each that is started. Each
has its own process id, streams, environment, working directory, session and exit status, and makes JAX's
devices itself, as its ``XLA_FLAGS`` say. What depends on how Python starts (its options, ``PYTHON*`` and
``JAX_*`` variables, signals, terminals), or on what it has not imported yet, needs a process that starts.

``python -I -S forking.py ADDRESS ARGUMENTS`` is what ``python ARGUMENTS`` is, by a fork.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence


class Forked:
    """A process that a fork server starts, with as much of `subprocess.Popen` as is used of one.

    It is what ``python ARGUMENTS`` is: perhaps ``-I``, then ``-c`` and a text, ``-m`` and a module, or a
    program, and arguments. ``streams`` are its standard ones; with ``session`` it leads a session of its own.
    ``address`` is that of the server.
    """

    def __init__(
        self,
        address: str,
        arguments: Sequence[str],
        folder: str | os.PathLike[str] | None,
        environment: Mapping[str, str],
        streams: Sequence[int],
        session: bool = False,
    ) -> None:
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(address)
        request = {
            "arguments": [*arguments],
            "folder": os.path.abspath(folder or "."),
            "environment": dict(environment),
            "session": session,
        }
        message = json.dumps(request).encode()
        self._connection.sendall(len(message).to_bytes(4, "big"))
        socket.send_fds(self._connection, [message[:1]], [*streams])
        self._connection.sendall(message[1:])
        self.pid = int.from_bytes(_received(self._connection, 4), "big")

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit status. Raises TimeoutError."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            self.returncode = int.from_bytes(_received(self._connection, 4), "big", signed=True)
            self._connection.close()
        return self.returncode

    def kill(self) -> None:
        """Kill it."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _received(connection: socket.socket, size: int) -> bytes:
    """Return as many bytes from a connection. Raises EOFError."""
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def main(address: str, *arguments: str) -> int:
    """Have a process forked with the streams, environment and folder of this one, and end as it does."""
    forked = Forked(address, arguments, None, os.environ, (0, 1, 2))
    signal.signal(signal.SIGTERM, lambda *_: forked.kill())
    for stream in (0, 1):
        os.close(stream)
    return forked.wait() % 256


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
