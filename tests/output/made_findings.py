"""Findings to write: those of every rule's own example, of a notebook, and made-up ones."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

from shardlint.api import Excerpts, Linter, Settings, source_from_text
from shardlint.model.findings import Applicability, Confirmation, Edit, Finding, Fix, Related, Severity
from shardlint.model.spans import Span
from shardlint.rules import all_rules

SETUP = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
"""
WRONG = 'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model")))'


@cache
def of_all_rules() -> tuple[tuple[Finding, ...], Excerpts]:
    """What is found in the example of each rule, each a file of its own."""
    programs = {f"examples/{rule.name}.py": rule.bad for rule in all_rules()}
    linter = Linter(Settings(devices=8))
    found = [f for path, text in programs.items() for f in linter.check_source(source_from_text(path, text))]
    return tuple(found), Excerpts({path: text.encode() for path, text in programs.items()})


def made_up() -> list[Finding]:
    """A finding of each kind, in a file with a strange name."""
    span = Span("häuser & co/a b%20,c:d.py", 2, 3, 2, 9)
    other = Span("häuser & co/b.py", 1, 1, 4, 2)
    fix = Fix("name it", Applicability.UNSAFE, (Edit(span, 'P("ü\\n")'), Edit(other, "")))
    plain = Finding(
        "SHL202", "indivisible-dimension", Severity.ERROR, "100% is <not>\n& \x0b]]> \ud800, :", span
    )
    return [
        plain,
        Finding(
            "SHL103", "unknown-mesh-axis", Severity.WARNING, "…", span, (Related(other, "made here"),),
            "a help", fix, confirmation=Confirmation.CONFIRMED, confirmed_by="JAX 0.10.2: ValueError",
        ),
        Finding("SHL011", "revealed", Severity.INFO, "f32[8]", span),
        Finding("SHL202", "indivisible-dimension", Severity.ERROR, "announced", other, expected=True),
        Finding("SHL001", "syntax-error", Severity.ERROR, "no Python", Span("c.py", 1, 1, 1, 1)),
    ]  # fmt: skip


def notebook(cells: list[str], *, lines: bool = True, indent: int | None = 1, text: str = "source") -> str:
    """A notebook's JSON, with a picture in front so that its offsets are not those of its cells."""
    listed = [
        {"cell_type": "markdown", text: ["# häuser\n", "mesh"]},
        *(
            {
                "cell_type": "code",
                "outputs": [{"source": ["x = 1"]}],
                text: cell.splitlines(keepends=True) if lines else cell,
            }
            for cell in cells
        ),
    ]
    return json.dumps({"nbformat": 4, "cells": listed}, indent=indent, ensure_ascii=not lines)


def write(folder: Path, name: str, text: str) -> str:
    """Write a file and return its path relative to where the tests run."""
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return os.path.join(folder, name)
