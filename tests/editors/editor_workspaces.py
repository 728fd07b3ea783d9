"""The folders that editors open in tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path

PRELUDE = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
"""

#: Two mistakes: on line 10, which does not divide, and on line 11, whose axis is misspelt.
TRAIN = f"""\
{PRELUDE}
table = jax.device_put(jnp.zeros((32000, 512)), NamedSharding(mesh, P("data", "model")))
head = jnp.zeros((512, 32000 + 1))  # one more, for padding
head = jax.device_put(head, NamedSharding(mesh, P(None, "model")))
bias = jax.device_put(jnp.zeros((32000,)), NamedSharding(mesh, P("modle")))
"""

#: What the picture in the README shows.
OVERVIEW = """\
\"\"\"Where the parameters of a small language model go, on 2 × 4 devices.\"\"\"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

VOCABULARY = 32000
WIDTH = 512

devices = np.array(jax.devices()).reshape(2, 4)
mesh = Mesh(devices, ("data", "model"))


def place(array, spec):
    return jax.device_put(array, NamedSharding(mesh, spec))


embedding = place(jnp.zeros((VOCABULARY, WIDTH)), P("data", "model"))
scale = place(jnp.ones((WIDTH,)), P("modle"))
head = place(jnp.zeros((WIDTH, VOCABULARY + 1)), P(None, "model"))
"""

#: One mistake, in its last cell.
CELLS = [
    PRELUDE,
    'kernel = jax.device_put(jnp.zeros((512, 2048)), NamedSharding(mesh, P("data", "model")))\n',
    'bias = jax.device_put(jnp.zeros((2048,)), NamedSharding(mesh, P("modle")))\n',
]


def notebook(cells: list[str]) -> str:
    """Make a notebook of code cells below a heading."""
    heading = {"cell_type": "markdown", "metadata": {}, "source": "# A mesh of 2 × 4"}
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {
            "cells": [heading, *({**code, "source": cell.rstrip("\n")} for cell in cells)],
            "metadata": {"kernelspec": python, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    )


#: A layer whose parameters are laid out.
MODEL = """\
import flax.linen as nn


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        init = nn.with_partitioning(nn.initializers.lecun_normal(), ("data", "model"))
        return nn.Dense(2048, kernel_init=init)(x)
"""

CONFIGURATION = """\
[meshes]
v5e-8 = { data = 2, model = 4 }
"""

#: A program that runs: what it announces JAX raises.
FIXTURE = TRAIN.replace('P(None, "model")))', 'P(None, "model")))  # expect: SHL202').partition("bias")[0]

#: A fixture whose product is summed over an axis.
COMPILED = (Path(__file__).parents[1] / "data" / "sum_over_an_axis.py").read_text(encoding="utf-8")

WORKSPACES = {
    "project/train.py": TRAIN,
    "project/fixtures/heads.py": FIXTURE,
    "project/fixtures/row.py": COMPILED,
    "overview/layout.py": OVERVIEW,
    "project/mesh.ipynb": notebook(CELLS),
    "parameters/model.py": MODEL,
    "parameters/shardlint.toml": CONFIGURATION,
    "dark/train.py": TRAIN,
    "dark/model.py": MODEL,
    "dark/shardlint.toml": CONFIGURATION,
    "dark/.vscode/settings.json": json.dumps({"workbench.colorTheme": "Default Dark Modern"}),
    "both.code-workspace": json.dumps({"folders": [{"path": "parameters"}, {"path": "project"}]}),
    # The Python of these has no shardlint.
    "selected/train.py": TRAIN,
    "selected/.vscode/settings.json": json.dumps({"shardlint.interpreter": []}),
    "set/train.py": TRAIN,
    "set/.vscode/settings.json": json.dumps({"shardlint.interpreter": ["${workspaceFolder}/python"]}),
    # A repository with bad intentions.
    "hostile/train.py": TRAIN,
    "hostile/json.py": "open('executed-json', 'w')\n",
    "hostile/.vscode/settings.json": json.dumps({"shardlint.path": ["${workspaceFolder}/shardlint"]}),
}

PROGRAMS = {
    "selected/python": f'exec "{sys.executable}" -I -S "$@"',
    "set/python": f'exec "{sys.executable}" -I -S "$@"',
    "hostile/shardlint": 'touch "$(dirname "$0")/executed"',
}


def write(folder: Path) -> None:
    """Write all of them below a folder."""
    programs = {name: f"#!/bin/sh\n{text}\n" for name, text in PROGRAMS.items()}
    for name, text in (WORKSPACES | programs).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755 if name in PROGRAMS else 0o644)
