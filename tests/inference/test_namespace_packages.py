"""Packages without ``__init__.py``: their modules are found however they are imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.jax_answers import asks_jax

from shardlint.api import Linter, Settings

MODULE = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
ROWS = 6
def place(rows):
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    return jax.device_put(jnp.zeros((rows, 8)), NamedSharding(mesh, P("model")))
"""
#: Where a program stands, and how it imports `pkg/sub/mod.py` to place its rows.
PROGRAMS = {
    "from the package": ("main.py", "from pkg.sub import mod\nmod.place(mod.ROWS)\n"),
    "renamed": ("main.py", "from pkg.sub import mod as m\nm.place(m.ROWS)\n"),
    "dotted": ("main.py", "import pkg.sub.mod\npkg.sub.mod.place(pkg.sub.mod.ROWS)\n"),
    "dotted and renamed": ("main.py", "import pkg.sub.mod as m\nm.place(m.ROWS)\n"),
    "its names": ("main.py", "from pkg.sub.mod import place, ROWS\nplace(ROWS)\n"),
    "two of one package": (
        "main.py",
        "import pkg.sub.other\nimport pkg.sub.mod\npkg.sub.mod.place(pkg.sub.other.ROWS)\n",
    ),
    "beside it": ("pkg/sub/main.py", "from . import mod\nmod.place(mod.ROWS)\n"),
    "above it": ("pkg/main.py", "from .sub import mod\nmod.place(mod.ROWS)\n"),
    "from another branch": ("pkg/side/main.py", "from ..sub import mod\nmod.place(mod.ROWS)\n"),
}


@asks_jax("inference")
def is_refused(files: dict[str, str], module: str) -> bool:
    """Return whether JAX refuses a shape as a module of these files runs."""
    with TemporaryDirectory() as folder:
        write(Path(folder), files)
        command = [sys.executable, "-m", module]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "IndivisibleError" in run.stderr or "divisible" in run.stderr


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files by their names."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(("where", "program"), PROGRAMS.values(), ids=PROGRAMS)
def test_modules_are_found(tmp_path: Path, where: str, program: str) -> None:
    files = {"pkg/sub/mod.py": MODULE, "pkg/sub/other.py": "ROWS = 6\n", where: program}
    write(tmp_path, files)
    # Python finds them too: the program ends at JAX's own complaint.
    module = where.removesuffix(".py").replace("/", ".")
    assert is_refused(files, module)
    found = Linter(Settings(root=str(tmp_path), devices=8)).check_paths([str(tmp_path / where)]).findings
    assert [(f.code, Path(f.span.path).name, f.span.line) for f in found] == [("SHL202", "mod.py", 6)]


def test_a_folder_with_the_name_of_a_library_is_none(tmp_path: Path) -> None:
    (tmp_path / "flax").mkdir()
    (tmp_path / "flax" / "linen.py").write_text("raise SystemExit\n")
    program = MODULE + "from flax import linen as nn\nlayer = nn.Dense(4)\nplace(8)\n"
    (tmp_path / "main.py").write_text(program)
    assert (
        Linter(Settings(root=str(tmp_path), devices=8)).check_paths([str(tmp_path / "main.py")]).findings
        == ()
    )
