"""Overlays of libraries that few programs use are loaded once one writes their names, and never too late.

What is loaded stays for the process, so each case has one of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = """\
import jax, jax.numpy as jnp
def case_build():
    jax.set_mesh(jax.make_mesh((2, 4), ("data", "model")))
    return 1
"""
#: The same with a mistake that only Flax's overlays see, in a function that names nothing else of sharding.
FLAX = PLAIN.replace(
    "return 1", 'from flax import nnx\n    return nnx.Param(jnp.ones((8, 8)), sharding=("data", "data"))'
)
HELPER = "def param(x):\n    from flax import nnx\n    return nnx.Param(x, sharding=('data', 'data'))\n"
BY_HELPER = PLAIN.replace("return 1", "from helper import param\n    return param(jnp.ones((8, 8)))")

RUN = """
import sys
from shardlint.engine.analyzer import Analyzer
from shardlint.api import Linter, Settings, source_from_text
from shardlint.inference.overlays.registry import loaded
from shardlint.engine.open_programs import Programs

linter = Linter(Settings(root=sys.argv[1], devices=8), None, Analyzer(programs=Programs()))
for text in sys.argv[2:]:
    found = linter.check_source(source_from_text(sys.argv[1] + "/program.py", text))
    print([one.code for one in found], sorted(loaded()))
"""


def said(folder: Path, *texts: str) -> list[str]:
    """The codes found in each text, one after the other, and the libraries that are loaded then."""
    command = [sys.executable, "-c", RUN, str(folder), *texts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "text", [FLAX, BY_HELPER], ids=["in a function", "in a module that a function imports"]
)
def test_what_a_function_imports_is_known(tmp_path: Path, text: str) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    assert said(tmp_path, text) == ["['SHL102'] ['flax']"]


def test_an_edit_may_bring_a_library(tmp_path: Path) -> None:
    assert said(tmp_path, PLAIN, PLAIN + "#", FLAX, PLAIN) == [
        "[] []", "[] []", "['SHL102'] ['flax']", "[] ['flax']",
    ]  # fmt: skip
