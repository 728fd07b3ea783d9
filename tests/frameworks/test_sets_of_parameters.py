"""Sets of a test's parameters share what does not depend on them; each is named where it does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shardlint.config import Settings
from shardlint.inference.summaries.call_cache import CallCache
from shardlint.linter import Linter
from shardlint.model.uses import Placement

PROGRAM = """
import jax, pytest
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"))

def model():
    return jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("x")))

def put(x):
    return jax.device_put(x, NamedSharding(mesh, P("x")))

def shared():
    return put(jnp.ones(5))

@pytest.mark.parametrize("n", [8, 6, 12])
def test_rows(n):
    model()
    put(jnp.ones(n))

@pytest.mark.parametrize("n", [1, 2])
def test_shared(n):
    shared()
"""


def test_what_does_not_depend_on_them_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: Counter[str] = Counter()
    run = CallCache._run_and_summarise

    def counted(self: CallCache, interpreter: Any, function: Any, *rest: Any) -> Any:
        ran[function.name] += 1
        return run(self, interpreter, function, *rest)

    monkeypatch.setattr(CallCache, "_run_and_summarise", counted)
    path = tmp_path / "test_sets.py"
    path.write_text(PROGRAM)
    linter = Linter(Settings(devices=8))
    _, sources = linter.read_paths([str(path)])
    found = linter.check_sources(sources)
    assert (ran["model"], ran["shared"]) == (1, 1)
    assert [(finding.code, finding.span.line) for finding in found] == [("SHL202", 12)]
    told = {(use.shape, use.environment.entry) for use in linter.uses(sources) if isinstance(use, Placement)}
    for sizes, number in (((8, 8), 8), ((8, 8), 12), ((6,), 6), ((5,), 1), ((5,), 2)):
        assert (sizes, f"with n={number}") in told
