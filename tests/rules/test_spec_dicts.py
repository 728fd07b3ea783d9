"""Names of dicts of specs that are never asked for, beside what Python looks up."""

from __future__ import annotations

import random
import re

import pytest
from support.checking import check

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
SPECS = {{
    {rows}
}}
asked, missed = [], []
def spec_of(name):
    asked.append(name)
    if name not in SPECS:
        missed.append(name)
    return {look_up}
for name, shape in {arrays}.items():
    jax.device_put(jnp.ones(shape), NamedSharding(mesh, spec_of(name)))
"""
LOOK_UPS = ("SPECS.get(name, P())", "SPECS.get(name) or P()", "SPECS[name] if name in SPECS else P()")
NAMES = ("q_proj", "wq", "k_proj", "embed", "norm", "up", "down")


@pytest.mark.parametrize("seed", range(12))
def test_reported_are_names_that_no_lookup_asks_for(seed: int) -> None:
    rng = random.Random(seed)
    table = {name: rng.choice(("P('x')", "P(None, 'y')", "P()")) for name in rng.sample(NAMES, 4)}
    arrays = {name: rng.choice(((8, 8), (8, 8), (8,))) for name in rng.sample(NAMES, 4)}
    look_up = rng.choice(LOOK_UPS[:2])
    rows = "\n    ".join(f"{name!r}: {spec}," for name, spec in table.items())
    text = PROGRAM.format(rows=rows, look_up=look_up, arrays=arrays)
    missed = [name for name in arrays if name not in table]
    whole = any(len(shape) > 1 and table.get(name, "P()") == "P()" for name, shape in arrays.items())
    due = (
        {name for name, spec in table.items() if name not in arrays and spec != "P()"}
        if missed and whole
        else set()
    )
    if any(len(arrays[name]) == 1 and table.get(name) == "P(None, 'y')" for name in arrays):
        return  # JAX rejects that spec.
    found = [f for f in check(text, "p.py", devices=8) if f.code == "SHL612"]
    lines = text.splitlines()
    assert {re.findall("'([^']+)'", lines[f.span.line - 1])[0] for f in found} == due


def test_an_unknown_name_may_be_any() -> None:
    rows = "'wq': P(None, 'y'),\n    'wk': P(None, 'y'),"
    arrays = {"q_proj": (8, 8), "wk": (8, 8)}
    text = PROGRAM.format(rows=rows, look_up=LOOK_UPS[0], arrays=arrays)
    assert [f.code for f in check(text, "p.py", devices=8)].count("SHL612") == 1
    more = text + "\nimport sys\nspec_of(sys.stdin.readline())\n"
    assert "SHL612" not in [f.code for f in check(more, "p.py", devices=8)]
