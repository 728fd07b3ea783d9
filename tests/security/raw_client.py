"""An editor that keeps to messages, to start the server in any folder and with any environment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hostile import environment


class Client:
    """An editor that writes and reads messages, and nothing more."""

    def __init__(self, command: list[str], folder: Path, **variables: str) -> None:
        self._server = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, method: str, params: object, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self._write(message)

    def answer(self, number: int | str, result: object) -> None:
        """Answer a request of the server."""
        self._write({"jsonrpc": "2.0", "id": number, "result": result})

    def _write(self, message: dict[str, object]) -> None:
        data = json.dumps(message).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._server.stdin.flush()

    def receive(self) -> dict[str, Any]:
        stream = self._server.stdout
        assert stream is not None
        length = 0
        while (line := stream.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the server is gone"
        message: dict[str, Any] = json.loads(stream.read(length))
        return message

    def wait_for(self, wanted: str | int) -> dict[str, Any]:
        """The next message of a method, or the answer of a number."""
        while wanted not in ((message := self.receive()).get("method"), message.get("id")):
            pass
        return message

    def end(self) -> None:
        self.send("shutdown", None, 99)
        self.wait_for(99)
        self.send("exit", None)
        assert self._server.wait(timeout=60) == 0
        for stream in (self._server.stdin, self._server.stdout):
            assert stream is not None
            stream.close()
