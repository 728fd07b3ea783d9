"""Less knowledge accuses nobody: a right program has no error when parts of it are not seen."""

from __future__ import annotations

import os
import random

import pytest
from forget_values import partly_forgotten
from support.checking import check

from shardlint.model.findings import Severity
from shardlint.rules import all_rules

#: Programs made of each right one; the environment may ask for more.
COUNT = int(os.environ.get("SHARDLINT_FORGOTTEN", "3"))

TABLE = """
import re
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
RULES = [("table", P("model", None)), ("kernel", P(None, "model")), ("bias", P())]

def place(path, leaf):
    for pattern, spec in RULES:
        if re.search(pattern, path):
            return jax.device_put(leaf, NamedSharding(mesh, spec))
    raise ValueError(path)

def main():
    place("embed/table", jnp.zeros((64, 3)))
    place("dense/kernel", jnp.zeros((3, 64)))
    place("dense/bias", jnp.zeros((3,)))
    for size, name in ((8, "even"), (7, "odd")):
        if name == "odd":
            continue
        jax.device_put(jnp.zeros((size,)), NamedSharding(mesh, P("data")))

main()
"""
PROGRAMS = {"table": (TABLE, "")} | {rule.name: (rule.good, rule.target or "") for rule in all_rules()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_error_in_what_is_partly_forgotten(name: str) -> None:
    text, target = PROGRAMS[name]
    chance = random.Random(name)
    for _ in range(COUNT * (8 if name == "table" else 1)):
        forgotten = partly_forgotten(text, chance)
        found = check(forgotten, target=target or None)
        assert [f for f in found if f.severity is Severity.ERROR] == [], forgotten
