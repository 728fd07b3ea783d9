"""How an editor starts the server, and how it ends."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest
from lsp_editor import PATIENCE

CLI = ["-c", "import sys; from shardlint.cli.commands import main; sys.exit(main(sys.argv[1:]))"]


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


HELLO: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}


def test_what_is_no_failure_is_not_logged(tmp_path: Path) -> None:
    """Editors show it to the user, as errors."""
    uri = (tmp_path / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": "x = 1\n"}
    rename = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}, "newName": "y"}
    said = [
        _message("initialize", HELLO, 1),
        _message("initialized", {}),
        _message("textDocument/didOpen", {"textDocument": document}),
        _message("$/cancelRequest", {"id": 77}),
        _message("textDocument/rename", rename, 2),
        _message("shutdown", None, 3),
        _message("textDocument/hover", rename, 4),
    ]
    with _started() as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(b"".join(said))
        server.stdin.flush()
        while _answer(server.stdout).get("id") != 3:
            pass
        server.stdin.write(_message("exit", None))
        server.stdin.close()
        assert server.stderr.read() == b""


def test_it_ends_though_an_analysis_is_under_way(tmp_path: Path) -> None:
    numbers = "x = [\n" + '    [1, 2, 3, {"a": 1}],\n' * 60_000 + "]\n"
    text = f"from jax.sharding import PartitionSpec as P\n{numbers}"
    uri = (tmp_path / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    with _started() as server:
        assert server.stdin is not None and server.stdout is not None
        opening = _message("textDocument/didOpen", {"textDocument": document})
        server.stdin.write(_message("initialize", HELLO, 1) + _message("initialized", {}) + opening)
        server.stdin.flush()
        _answer(server.stdout)
        time.sleep(0.5)  # it works for seconds now, in a parser that nobody can stop
        server.stdin.write(_message("shutdown", None, 2) + _message("exit", None))
        server.stdin.close()
        server.wait(1.5)


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
                hello = HELLO | {"initializationOptions": {"trusted": True}}
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
    connection.sendall(_message(method, params, number))
    with connection.makefile("rb") as stream:
        while True:
            message = _answer(stream)
            if message.get("id") == number and "method" not in message:
                return message


def _started() -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *CLI, "server"], stdin=pipe, stdout=pipe, stderr=pipe)


def _message(method: str, params: object, number: int | None = None) -> bytes:
    """A request, or a notification, as it is sent."""
    given = {"jsonrpc": "2.0", "method": method, "params": params}
    body = json.dumps(given if number is None else given | {"id": number}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def _answer(stream: IO[bytes]) -> dict[str, Any]:
    """The next message."""
    size = 0
    while (line := stream.readline().strip()) != b"":
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    message: dict[str, Any] = json.loads(stream.read(size))
    return message
