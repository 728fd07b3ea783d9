"""How an editor starts the server, and how it ends."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import PATIENCE

CLI = ["-c", "import sys; from shardlint.cli import main; sys.exit(main(sys.argv[1:]))"]


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "shardlint_server"],
        ["-m", "shardlint_server", "--stdio"],
        [*CLI, "server"],
        [*CLI, "server", "--stdio"],
    ],
    ids=["module", "module --stdio", "shardlint server", "shardlint server --stdio"],
)
def test_the_server_ends_with_its_client(command: list[str]) -> None:
    """A client that dies closes the pipe: no orphan may stay behind."""
    done = subprocess.run(
        [sys.executable, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_a_wrong_argument_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shardlint_server", "--tcp"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "--tcp" in done.stderr


@pytest.mark.parametrize(
    "address", ["0.0.0.0:0", "192.168.1.7:8000", "example.com:80", "[::]:0", "x", "99999"]
)
def test_no_other_machine_is_listened_to(address: str) -> None:
    done = subprocess.run(
        [sys.executable, *CLI, "server", "--tcp", address], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "--tcp" in done.stderr


def test_over_tcp_the_server_answers_and_runs_nothing(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, *CLI, "server", "--tcp", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            with _connected(port) as connection:
                hello: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
                hello["initializationOptions"] = {"trusted": True}
                answer = _asked(connection, 1, "initialize", hello)
                assert "shardlint.runFixture" in str(answer)
                arguments = {"command": "shardlint.runFixture", "arguments": [{"uri": "file:///x.py"}]}
                assert _asked(connection, 2, "workspace/executeCommand", arguments)["result"] is None
        finally:
            server.kill()


def _connected(port: int) -> socket.socket:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def _asked(connection: socket.socket, number: int, method: str, params: object) -> dict[str, Any]:
    """Send a request, and read messages until its answer comes."""
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
    connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    with connection.makefile("rb") as stream:
        while True:
            size = 0
            while (line := stream.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            message: dict[str, Any] = json.loads(stream.read(size))
            if message.get("id") == number and "method" not in message:
                return message
