"""A workspace that an editor has just opened executes nothing of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hostile import MODULES, contents, is_clean, payload
from raw_client import Client

pytest.importorskip("pygls")

TEXT = """\
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

NamedSharding(jax.make_mesh((2, 4), ("data", "model")), P("rows"))
"""


@pytest.mark.parametrize("way", ["shardlint server", "python -m shardlint_server"])
def test_opening_a_workspace_executes_nothing(way: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tmp_path / "program.py").write_text(
        "import sys\nfrom shardlint.cli.commands import main\nsys.exit(main())\n"
    )
    by_module = way.startswith("python")
    names = set(MODULES) - {"jax"}
    if by_module:
        # What Python imports before any line of the server runs.
        names -= {*sys.stdlib_module_names, "shardlint_server"}
    for name in names:
        (tree / f"{name}.py").write_text(payload(tree))
    (tree / "train.py").write_text(payload(tree) + TEXT)
    (tree / "shardlint.toml").write_text('fixtures = ["train.py"]\n[report]\ninit = "train:f"\n')
    before = contents(tree)
    command = ["-m", "shardlint_server"] if by_module else [str(tmp_path / "program.py"), "server"]
    client = Client(command, tree)
    folder = {"uri": tree.as_uri(), "name": "tree"}
    client.send(
        "initialize",
        {"processId": None, "rootUri": tree.as_uri(), "workspaceFolders": [folder], "capabilities": {}},
        1,
    )
    client.wait_for(1)
    client.send("initialized", {})
    uri = (tree / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": payload(tree) + TEXT}
    client.send("textDocument/didOpen", {"textDocument": document})
    found = client.wait_for("textDocument/publishDiagnostics")["params"]["diagnostics"]
    assert [one["code"] for one in found] == ["SHL103"]
    place = found[0]["range"]
    about = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": found}}
    client.send("textDocument/codeAction", about, 2)
    client.send("textDocument/hover", {"textDocument": {"uri": uri}, "position": place["start"]}, 3)
    client.send("textDocument/codeLens", {"textDocument": {"uri": uri}}, 4)
    client.wait_for(4)
    client.end()
    assert is_clean(tree)
    assert contents(tree) == before
