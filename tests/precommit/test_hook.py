"""The pre-commit hook as a user's repository runs it: installed from this tree by pre-commit itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

GOOD = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))
"""
BAD = GOOD.replace('P("data", "model")', 'P("data", "modle")')


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def hook_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as it stands, uncommitted files too, as a repository of one commit."""
    copy = tmp_path_factory.mktemp("shardlint")
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    git(copy, "init", "-q")
    git(copy, "add", "-A", "-f")
    git(copy, "commit", "-q", "-m", "the tree")
    return copy


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for pre-commit that is not the user's."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's repository with a file of each kind."""
    git(tmp_path, "init", "-q")
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    cell: dict[str, object] = {"cell_type": "code", "source": BAD, "metadata": {}, "outputs": []}
    cell["execution_count"] = None
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "bad.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "notes.md").write_text(BAD)
    git(tmp_path, "add", "-A")
    return tmp_path


def pre_commit(project: Path, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments],
        cwd=project,
        env={**os.environ, "PRE_COMMIT_HOME": str(cache)},
        capture_output=True,
        text=True,
    )


def commit(
    project: Path, hook_repository: Path, cache: Path, *files: str
) -> subprocess.CompletedProcess[str]:
    """Run the hook on files as a commit does; the first one to do so has pre-commit install shardlint."""
    repository = {
        "repo": str(hook_repository),
        "rev": git(hook_repository, "rev-parse", "HEAD").strip(),
        "hooks": [{"id": "shardlint"}],
    }
    (project / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [repository]}))
    git(project, "add", ".pre-commit-config.yaml")
    return pre_commit(project, cache, "run", "--files", *files)


def test_the_hook_is_tried(project: Path, hook_repository: Path, cache: Path) -> None:
    """Without a configuration: it is installed anew for this."""
    done = pre_commit(project, cache, "try-repo", str(hook_repository), "shardlint", "--files", "bad.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "SHL103" in done.stdout


def test_a_mistake_fails_the_commit(project: Path, hook_repository: Path, cache: Path) -> None:
    done = commit(project, hook_repository, cache, "bad.py", "bad.ipynb")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "SHL103" in done.stdout
    assert "modle" in done.stdout
    assert "bad.py" in done.stdout
    assert "bad.ipynb" in done.stdout
    assert "Failed" in done.stdout


def test_a_right_program_passes(project: Path, hook_repository: Path, cache: Path) -> None:
    done = commit(project, hook_repository, cache, "good.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_other_files_are_not_looked_at(project: Path, hook_repository: Path, cache: Path) -> None:
    done = commit(project, hook_repository, cache, "notes.md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Skipped" in done.stdout
