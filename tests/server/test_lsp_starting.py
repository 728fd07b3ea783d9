"""How an editor starts the server, and how it ends."""

from __future__ import annotations

import subprocess
import sys

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
