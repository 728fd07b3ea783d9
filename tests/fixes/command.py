"""`shardlint check` run in this process: its exit code, and what it wrote."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from shardlint.cli.commands import main

HEADER = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
"""
SPLIT = 'jax.device_put(jnp.zeros((8, {size})), NamedSharding(mesh, P(None, "model")))'
#: Statements with and without a mistake, SHL202.
BAD, GOOD = SPLIT.format(size=10), SPLIT.format(size=12)
OLD = "from jax.experimental.shard_map import shard_map\n"


@dataclass(frozen=True)
class Ran:
    """What a run left."""

    code: int
    out: str
    err: str

    @property
    def found(self) -> list[str]:
        """The code and line of each finding of the concise format."""
        lines = [line for line in self.out.splitlines() if "[SHL" in line]
        return [f"{line.split('[')[1][:6]}:{line.split(':')[-4 if 'cell' in line else 1]}" for line in lines]


def check(folder: Path, *arguments: str) -> Ran:
    """Run `check` in a folder, in the concise format."""
    out, err = io.StringIO(), io.StringIO()
    here = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(["check", "--output-format", "concise", *arguments])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
    finally:
        os.chdir(here)
    assert "Traceback" not in err.getvalue()
    assert "internal error" not in err.getvalue(), err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def write_notebook(path: Path, cells: Iterable[str]) -> None:
    """Write a notebook of code cells, each run once."""
    made = [
        {
            "cell_type": "code",
            "execution_count": number,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["é\n"]}],
            "source": text.splitlines(keepends=True),
        }
        for number, text in enumerate(cells, 1)
    ]
    whole = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
