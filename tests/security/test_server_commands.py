"""Commands and requests of the server, in a workspace that is not trusted, with arguments of a stranger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import MODULES, contents, is_clean, payload
from raw_client import Client

pytest.importorskip("pygls")
pytest.importorskip("jax")

TEXT = """\
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

NamedSharding(jax.make_mesh((2, 4), ("data", "model")), P("rows"))
"""
#: Requests about a document, or a place in it, that an editor may make.
REQUESTS = (
    "hover definition typeDefinition references documentHighlight completion codeLens inlayHint codeAction "
    "documentSymbol prepareRename rename semanticTokens/full semanticTokens/range diagnostic"
).split()


class Workspace:
    """A server for a tree that runs code wherever it can, and what the tree's document is told of."""

    def __init__(self, tree: Path, trusted: bool = False) -> None:
        tree.mkdir()
        for name in {*MODULES, "jaxlib"} - {"jax"}:
            (tree / f"{name}.py").write_text(payload(tree))
        self.text = payload(tree) + TEXT
        (tree / "train.py").write_text(self.text)
        python = tree / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\necho x >> {tree.parent / 'canary'}\n")
        python.chmod(0o755)
        (tree / "shardlint.toml").write_text('fixtures = ["train.py"]\n[report]\ninit = "train:f"\n')
        self.tree, self.number = tree, 0
        self.uri = (tree / "train.py").as_uri()
        program = tree.parent / "program.py"
        program.write_text("import sys\nfrom shardlint.cli.commands import main\nsys.exit(main())\n")
        self.client = Client([str(program), "server"], tree)
        folder = {"uri": tree.as_uri(), "name": "tree"}
        options = {"python": ".venv/bin/python", "trusted": trusted, "devices": 8}
        hello: dict[str, Any] = {"processId": None, "rootUri": tree.as_uri(), "workspaceFolders": [folder]}
        capable = {"workspace": {"configuration": True}}
        hello |= {"capabilities": capable, "initializationOptions": options}
        offered = self.ask("initialize", hello)["result"]["capabilities"]
        self.commands: list[str] = offered["executeCommandProvider"]["commands"]
        self.client.send("initialized", {})
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": self.text}
        self.client.send("textDocument/didOpen", {"textDocument": document})
        self.ask("textDocument/hover", self.place())

    def place(self) -> dict[str, Any]:
        where = {"line": 4, "character": 59}
        return {"textDocument": {"uri": self.uri}, "position": where, "range": {"start": where, "end": where}}

    def ask(self, method: str, params: object) -> dict[str, Any]:
        """Make a request; questions of the server meanwhile are answered by its own interpreter's path."""
        self.number += 1
        self.client.send(method, params, self.number)
        while True:
            message = self.client.receive()
            if "method" in message and "id" in message:
                wanted = message["params"].get("items", ()) if isinstance(message["params"], dict) else ()
                self.client.answer(message["id"], [{"python": ".venv/bin/python"} for _ in wanted] or None)
            elif message.get("id") == self.number:
                return message


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path_factory.mktemp("untrusted") / "tree")
    yield workspace
    workspace.client.end()


def test_no_command_runs_anything_of_the_workspace(workspace: Workspace) -> None:
    before = contents(workspace.tree)
    assert len(workspace.commands) >= 4
    found = {"uri": workspace.uri, "line": 5, "code": "SHL103", "path": "train.py", "program": "train.py"}
    for command in workspace.commands:
        if "baseline" in command.lower():
            # It writes a file, where the user asks for it.
            continue
        for arguments in ([found], [workspace.uri], [found, found], []):
            workspace.ask("workspace/executeCommand", {"command": command, "arguments": arguments})
    assert is_clean(workspace.tree)
    assert contents(workspace.tree) == before


def test_no_request_runs_anything_of_the_workspace(workspace: Workspace) -> None:
    more = {"newName": "x", "context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1}}
    for request in REQUESTS:
        workspace.ask(f"textDocument/{request}", {**workspace.place(), **more})
    workspace.ask("workspace/symbol", {"query": ""})
    workspace.ask("workspace/diagnostic", {"previousResultIds": []})
    workspace.ask("shardlint/layout", workspace.place())
    settings = {"shardlint": {"python": ".venv/bin/python", "trusted": True}}
    workspace.client.send("workspace/didChangeConfiguration", {"settings": settings})
    for command in workspace.commands[:1]:
        workspace.ask("workspace/executeCommand", {"command": command, "arguments": [{"uri": workspace.uri}]})
    assert is_clean(workspace.tree)


ODD: list[Any] = [
    None,
    3,
    "x",
    "\n::error::\x1b[2J\u202e",
    [],
    {},
    [[]],
    {"uri": None},
    {"uri": 3},
    {"uri": "file:///etc/passwd"},
    {"uri": "file:///%00"},
    {"uri": "untitled:x"},
    {"uri": "https://evil.example/x.py"},
    {"uri": "\ud800"},
    {"uri": ["file:///a"], "line": "x"},
    {"line": -1, "code": {}},
    {"uri": "file:///a.py", "line": 1 << 70, "code": "__import__('os')", "python": "/bin/sh"},
]


def test_odd_arguments_are_answered(workspace: Workspace) -> None:
    for command in workspace.commands:
        for odd in ODD:
            for arguments in ([odd], [odd, odd], odd):
                answer = workspace.ask(
                    "workspace/executeCommand", {"command": command, "arguments": arguments}
                )
                assert "\x1b" not in json.dumps(answer, ensure_ascii=False), (command, odd, answer)
                error = answer.get("error", {}).get("message", "")
                assert "Traceback" not in error, (command, odd, error)
    for method in ("shardlint/layout", *(f"textDocument/{request}" for request in REQUESTS)):
        for odd in ODD:
            answer = workspace.ask(method, {"textDocument": odd, "position": odd} if odd != {} else odd)
            assert "result" in answer or "error" in answer
    workspace.ask("textDocument/hover", workspace.place())
    assert is_clean(workspace.tree)


def test_the_trap_is_set(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "tree", trusted=True)
    for command in workspace.commands:
        if "compile" in command:
            workspace.ask(
                "workspace/executeCommand", {"command": command, "arguments": [{"uri": workspace.uri}]}
            )
    workspace.client.end()
    assert not is_clean(workspace.tree)
