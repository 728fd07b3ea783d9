"""Names of dicts of specs that are never asked for, beside what Python looks up."""

from __future__ import annotations

import random
import re

import pytest
from support.checking import check

PROGRAM = """
from collections import defaultdict
from functools import partial
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
class Specs(dict):
    def __missing__(self, name):
        return P()
SPECS = {kind}({{
    {rows}
}})
asked, missed = [], []
def spec_of(name):
    asked.append(name)
    if name not in SPECS:
        missed.append(name)
    return {look_up}
for name, shape in {arrays}.items():
    jax.device_put(jnp.ones(shape), NamedSharding(mesh, spec_of(name)))
"""
#: Tables, and how names are looked up in them.
LOOK_UPS = (
    ("dict", "SPECS.get(name, P())"),
    ("dict", "SPECS.get(name) or P()"),
    ("Specs", "SPECS[name]"),
    ("partial(defaultdict, P)", "SPECS[name]"),
)
NAMES = ("q_proj", "wq", "k_proj", "embed", "norm", "up", "down")


@pytest.mark.parametrize("seed", range(24))
def test_reported_are_names_that_no_lookup_asks_for(seed: int) -> None:
    rng = random.Random(seed)
    table = {name: rng.choice(("P('x')", "P(None, 'y')", "P()")) for name in rng.sample(NAMES, 4)}
    arrays = {name: rng.choice(((8, 8), (8, 8), (8,))) for name in rng.sample(NAMES, 4)}
    kind, look_up = LOOK_UPS[seed % len(LOOK_UPS)]
    rows = "\n    ".join(f"{name!r}: {spec}," for name, spec in table.items())
    text = PROGRAM.format(rows=rows, kind=kind, look_up=look_up, arrays=arrays)
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
    text = PROGRAM.format(rows=rows, kind="dict", look_up=LOOK_UPS[0][1], arrays=arrays)
    assert [f.code for f in check(text, "p.py", devices=8)].count("SHL612") == 1
    more = text + "\nimport sys\nspec_of(sys.stdin.readline())\n"
    assert "SHL612" not in [f.code for f in check(more, "p.py", devices=8)]
