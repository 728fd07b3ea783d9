"""The folders that editors open in tests."""

from __future__ import annotations

import json
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


WORKSPACES = {
    "project/train.py": TRAIN,
    "project/mesh.ipynb": notebook(CELLS),
}


def write(folder: Path) -> None:
    """Write all of them below a folder."""
    for name, text in WORKSPACES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
