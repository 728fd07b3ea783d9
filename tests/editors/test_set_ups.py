"""The set-ups that docs/editors.md shows: Neovim and Emacs run with them as they stand there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import editor_cache
import editor_workspaces
import pytest

import examples

HERE = Path(__file__).parent
PAGE = (examples.ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
SET_UPS = {block.title: block.text for block in examples.blocks(PAGE) if block.title is not None}
PATIENCE = 120
"""Seconds until an editor that does not end has failed."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program with two mistakes."""
    editor_workspaces.write(tmp_path)
    return tmp_path / "project"


def see(command: Sequence[str | Path], project: Path, tmp_path: Path) -> dict[str, Any]:
    """Run an editor in an empty home, with ``shardlint`` on its PATH; return what it saw."""
    commands = tmp_path / "bin"
    commands.mkdir()
    shardlint = commands / "shardlint"
    shardlint.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m shardlint "$@"\n')
    shardlint.chmod(0o755)
    seen = tmp_path / "seen.json"
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "OPENED": str(project / "train.py"),
        "SEEN": str(seen),
    }
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert seen.exists(), done.stdout + done.stderr
    found = json.loads(seen.read_text(encoding="utf-8"))
    assert "failed" not in found, found["failed"]
    return found


def test_neovim(project: Path, tmp_path: Path) -> None:
    neovim = editor_cache.neovim()
    if neovim is None:
        pytest.skip("no Neovim 0.11 or newer; python tests/editors/editor_cache.py fetches it")
    init = tmp_path / "init.lua"
    init.write_text(SET_UPS["~/.config/nvim/init.lua"])
    seen = see(
        [neovim, "--headless", "-u", init, project / "train.py", "-c", f"luafile {HERE / 'neovim.lua'}"],
        project,
        tmp_path,
    )
    shown = [(found["code"], found["line"], found["column"], found["severity"]) for found in seen["findings"]]
    assert shown == [("SHL202", 10, 56, 1), ("SHL103", 11, 65, 1)]
    assert "each device holds: `f32[16000, 128]`" in seen["hover"]
    assert [part["value"] for part in seen["hint"]] == ["→ f32[16000, 128]"]
    assert seen["references"] == [6, 8]
    assert_renamed(seen)
    assert [found["code"] for found in seen["after_fix"]] == ["SHL202"]
    assert "IndivisibleError" in seen["confirmed"]


def test_emacs(project: Path, tmp_path: Path) -> None:
    emacs = shutil.which("emacs")
    if emacs is None:
        pytest.skip("no Emacs")
    loads = "(progn (package-initialize) (require 'eglot))"
    if subprocess.run([emacs, "--batch", "--eval", loads], capture_output=True).returncode:
        pytest.skip("no Eglot for this Emacs")
    init = tmp_path / "init.el"
    init.write_text(SET_UPS["~/.emacs.d/init.el"])
    command = [emacs, "--batch", "-f", "package-initialize"]
    seen = see([*command, "-l", init, "-l", HERE / "emacs.el"], project, tmp_path)
    shown = [(found["line"], found["text"]) for found in seen["findings"]]
    assert shown == [(10, '"model"'), (11, '"modle"')]
    assert 'did you mean "model"?' in seen["findings"][1]["message"]
    assert "f32[16000, 128]" in seen["hover"]
    assert_renamed(seen)
    assert 'P("model")' in seen["fixed"]
    assert [found["text"] for found in seen["after_fix"]] == ['"model"']


def assert_renamed(seen: dict[str, Any]) -> None:
    """Assert that "data" became "batch" where the mesh is made and in the spec."""
    mesh, spec = seen["renamed"]
    assert '("batch", "model")' in mesh
    assert 'P("batch", "model")' in spec


def test_helix() -> None:
    """Helix is on none of the registries that tests reach: its file is parsed, and its command is run."""
    languages = tomllib.loads(SET_UPS["~/.config/helix/languages.toml"])
    (python,) = languages["language"]
    assert python["name"] == "python"
    assert "shardlint" in python["language-servers"]
    server = languages["language-server"]["shardlint"]
    starts([server["command"], *server["args"]])


def test_zed() -> None:
    """As Helix."""
    settings = json.loads(SET_UPS["~/.config/zed/settings.json"])
    (name,) = settings["lsp"]
    assert name in settings["languages"]["Python"]["language_servers"]
    binary = settings["lsp"][name]["binary"]
    assert Path(binary["path"]).is_absolute()
    starts([Path(binary["path"]).name, *binary["arguments"]])


def starts(command: list[str]) -> None:
    """Start a server as an editor would, and close its input."""
    assert command[0] == "shardlint"
    server = [sys.executable, "-m", "shardlint", *command[1:]]
    subprocess.run(server, stdin=subprocess.DEVNULL, check=True, timeout=PATIENCE)
