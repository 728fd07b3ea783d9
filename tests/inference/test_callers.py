"""A file that never mentions sharding counts where it calls what does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shardlint.api import Linter, Settings

MODEL = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def place(rows):
    return jax.device_put(jnp.zeros((rows, 8)), NamedSharding(mesh, P("model")))
def other():
    return 3
"""
#: Path → text. Each holds one call, of 6 rows, which 4 devices do not divide.
CALLERS = {
    "directly": {"app/train.py": "from app.model import place\nplace(6)\n"},
    "by its module": {"app/train.py": "from app import (\n    model,  # the model\n)\nmodel.place(6)\n"},
    "renamed": {"train.py": "import app.model as m\ndef test():\n    m.place(6)\n"},
    "relatively": {"app/train.py": "from .model import place\ndef test():\n    place(rows=6)\n"},
    "through another": {
        "app/layers.py": "from app.model import place\ndef layer(size):\n    return place(size)\n",
        "train.py": "from app.layers import layer\nlayer(6)\n",
    },
    "through a package": {
        "app/__init__.py": "from app.model import place\n",
        "train.py": "from app import place\nplace(6)\n",
    },
    "through a package, as a module": {
        "app/__init__.py": "from . import model\n",
        "train.py": "import app\napp.model.place(6)\n",
    },
    "from a package below": {
        "app/sub/__init__.py": "",
        "app/sub/run.py": "from ..model import place\nplace(6)\n",
    },
    "from a script's folder": {"app/run.py": "import model\nmodel.place(6)\n"},
    "from a notebook": {
        "train.ipynb": json.dumps(
            {
                "cells": [
                    {
                        "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
                        "source": ["from app.model import place\n", "place(6)"],
                    }
                ],
                "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
            },
            indent=1,
        )
    },
}  # fmt: skip


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in ({"app/__init__.py": "", "app/model.py": MODEL} | files).items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("files", CALLERS.values(), ids=CALLERS)
def test_callers_are_read(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    settings = Settings(root=str(tmp_path), devices=8)
    found = Linter(settings).check_paths([str(tmp_path)]).findings
    assert [(f.code, f.span.line) for f in found] == [("SHL202", 5)]
    assert found == Linter(replace(settings, exhaustive=True)).check_paths([str(tmp_path)]).findings


def test_a_module_of_the_same_name_far_away_is_another(tmp_path: Path) -> None:
    """What an absolute import means is looked for where the evaluator looks for it."""
    files = {
        "app/types.py": MODEL,
        "far/away/run.py": "import types\ntypes.place(6)\n",
        "far/away/six/floors/up/app/run.py": "from app.types import place\nplace(6)\n",
        "app/near.py": "import types\ntypes.place(6)\n",
    }
    write(tmp_path, files)
    (tmp_path / "app/model.py").unlink()
    _, sources = Linter(Settings(root=str(tmp_path), devices=8)).read_paths([str(tmp_path)])
    # The root is one of the folders that each import is looked for in.
    assert [Path(source.path).relative_to(tmp_path).as_posix() for source in sources] == [
        "app/near.py",
        "app/types.py",
        "far/away/six/floors/up/app/run.py",
    ]


def test_a_broken_file_without_sharding_is_left_to_other_tools(tmp_path: Path) -> None:
    write(tmp_path, {"broken.py": "x = 'open\n", "idle.py": "import os\n"})
    for exhaustive in (False, True):
        settings = Settings(root=str(tmp_path), devices=8, exhaustive=exhaustive)
        found = Linter(settings).check_paths([str(tmp_path)]).findings
        assert "SHL001" not in {finding.code for finding in found}


def test_others_are_not(tmp_path: Path) -> None:
    """What calls nothing that matters, or has the name from elsewhere, costs no evaluation."""
    others = {
        "idle.py": "from app.model import other\nother()\n",
        "homonym.py": "from theirs import place\nplace(6)\n",
        "namesake.py": "from theirs.model import place\nplace(6)\n",
        "words.py": "# imports nothing; place, model\nx = 1\n",
        "lib/model.py": "def place(rows):\n    return rows\n",
        "lib/nearer.py": "from model import place\nplace(6)\n",
        "prose.py": '"""A PartitionSpec."""\n\ndef f(x):\n    """Like `psum`."""\n    return x  # reshard\n',
    }
    write(tmp_path, others)
    files, sources = Linter(Settings(root=str(tmp_path), devices=8)).read_paths([str(tmp_path)])
    assert files == 9
    assert [Path(source.path).name for source in sources] == ["model.py"]


def test_what_cannot_be_read_is_left_out_of_the_search(tmp_path: Path) -> None:
    write(tmp_path, {})
    (tmp_path / "latin.py").write_bytes(b"from app.model import place\nplace(6)  # \xe9\n")
    (tmp_path / "broken.py").write_bytes(b"from app.model import place\nplace(6\n")
    report = Linter(Settings(root=str(tmp_path), devices=8)).check_paths([str(tmp_path)])
    assert sorted((f.code, Path(f.span.path).name) for f in report.findings) == [
        ("SHL001", "broken.py"),
        ("SHL002", "latin.py"),
    ]
