"""Processes that are not forked import nothing that lies in the folder where shardlint is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys

sys.platform = "darwin"  # where processes are spawned

from shardlint.api import source_from_text
from shardlint.inference import InferenceSettings
from shardlint.engine.process_pool import in_processes

if __name__ == "__main__":
    text = "from jax.sharding import PartitionSpec as P\\nP(0.5)\\n"
    sources = [source_from_text(f"{name}.py", text) for name in "ab"]
    done = in_processes(sources, InferenceSettings(), [[0], [1]], 2)
    print(sorted(number for number, _ in done))
"""


def test_a_module_in_the_tree_is_not_imported(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    hostile = "import pathlib\npathlib.Path('hacked').touch()\n"
    for name in ("multiprocessing", "json", "encodings", "libcst", "shardlint", "site", "sitecustomize"):
        (tree / f"{name}.py").write_text(hostile)
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not (tree / "hacked").exists()
    assert (done.returncode, done.stdout) == (0, "[0, 1]\n"), done.stderr
