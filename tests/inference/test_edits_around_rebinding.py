"""Edits of programs whose functions set variables of the module, while unseen code may call others."""

from __future__ import annotations

import dataclasses
import random

import pytest
from following import EDITS, follow, programs_made, told

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs

REBINDING = """
import contextlib
import jax
import jax.numpy as jnp
import unknown
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
WIDTH = 6
ROWS = 6
tracker = None

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def before():
    return put((WIDTH, 4), "data")

def called():
    return put((WIDTH, 2), "data"), put((ROWS, 2), "data")

def hand():
    unknown.register(called)
    return put((6, 6), "model", "data")

def widen(flag):
    global WIDTH
    WIDTH = 8
    if flag:
        unknown.register(late)

@contextlib.contextmanager
def tracking(rows):
    global tracker, ROWS
    old, tracker = tracker, rows
    ROWS = 8
    yield tracker
    tracker = old

def track(x):
    with tracking(6) as rows:
        return put((rows, 4), "data")

@unknown.decorate
def late():
    return put((ROWS, WIDTH), "data", "model")

def after():
    return put((WIDTH, 6), None, "data"), put((ROWS, 3), "data"), tracker

def again():
    global ROWS
    ROWS = 6
    unknown.register(after)
"""


@pytest.mark.parametrize("seed", range(6))
def test_edits_around_rebinding(seed: int) -> None:
    follow("rebinding.py", REBINDING, 6 * EDITS, str(seed))


def test_such_a_program_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its entries change, hand on, and in which order."""
    settings = dataclasses.replace(Settings(devices=8), editing=True)
    linter = Linter(settings, analyzer=Analyzer(programs=Programs()))
    linter.check_source(source_from_text("rebinding.py", REBINDING))
    made = programs_made(monkeypatch)
    chance, text = random.Random(0), REBINDING
    changes = [
        ("(WIDTH, 4)", "(WIDTH, 6)"),
        ("unknown.register(called)", "pass"),
        ("    WIDTH = 8\n", "    WIDTH = 4\n"),
        ("with tracking(6)", "with tracking(4)"),
        ("ROWS = 6\n    unknown.register(after)", "unknown.register(after)\n    ROWS = 6"),
        ("if flag:", "if not flag:"),
        ("(ROWS, 3)", "(ROWS, 4)"),
    ]
    found = set()
    for _ in range(30):
        before, after = chance.choice(changes)
        text = text.replace(before, after) if before in text else text.replace(after, before)
        source = source_from_text("rebinding.py", text)
        findings = told(linter.check_source(source))
        assert findings == told(Linter(settings).check_source(source)), text
        found.add(tuple(findings))
    assert len(found) > 2
    assert not made
