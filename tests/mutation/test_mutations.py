"""The mutation benchmark in small: some mutants of a few fixtures; and the benchmark's own parts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from mutation_judging import Judge, Original, Workers
from mutation_programs import Program, code_blocks, read_program
from mutation_text import KINDS, Edit, edits_of
from run_mutations import ROOT, WANTED, judged, table
from support.sizes import size

from shardlint.model.findings import Finding

FIXTURES = sorted(path for path in (ROOT / "fixtures").iterdir() if path.suffix in (".py", ".ipynb"))
SAMPLE = random.Random(4).sample(FIXTURES, size("SHARDLINT_MUTATED", 2, 5))
MUTANTS = 5

PROGRAM = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

def never_called():
    return jax.device_put(jnp.ones(8), NamedSharding(mesh, P("data")))

def case_columns():
    x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P(None, "model")))
    assert x.shape == (8, 16)

def case_wrong():
    jax.device_put(jnp.ones((8, 10)), NamedSharding(mesh, P(None, "model")))
"""
PAGE = """\
```{code-cell} ipython3
:tags: [hide]

import jax
```
```bash
pip install jax
```
```python
>>> x = jax.numpy.ones(8)
>>> x.shape
(8,)
```
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Workers(2) as workers:
        yield Judge(workers, timeout=60)


def edit(old: str, new: str, kind: str = "shape: by hand") -> Edit:
    """The edit of the program above that puts something in the place of what is found first."""
    start = PROGRAM.index(old)
    return Edit(kind, -1, start, start + len(old), new, PROGRAM.count("\n", 0, start) + 1, old)


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.name)
def test_mutants_of_a_fixture(judge: Judge, path: Path) -> None:
    verdicts = judged(judge, path, limit=MUTANTS)
    raises = [v for v in verdicts if v.outcome == "raises"]
    assert not any(v.false for v in verdicts), table(verdicts)
    # A few mutants of one file may be among the hard ones; all of them together are what counts.
    assert sum(v.found for v in raises) >= len(raises) * WANTED - 1, table(verdicts)


@pytest.mark.parametrize(
    ("change", "outcome", "found"),
    [
        (edit('P(None, "model")', 'P(None, "modle")'), "raises", True),
        (edit("16)), Named", "18)), Named"), "raises", True),
        (edit("16)), Named", "24)), Named"), "other", False),  # the program's own assertion
        (edit('P(None, "model")', 'P("model")'), "runs", False),
        (edit('P("data")', 'P("modle")'), "runs", False),  # where nobody comes by
        (edit("10", "11"), "none", False),  # in a case that raises as it stands
    ],
)
def test_outcomes(judge: Judge, tmp_path: Path, change: Edit, outcome: str, found: bool) -> None:
    original = Original.of(Program(str(tmp_path / "program.py"), ((-1, PROGRAM),)), judge.workers, 60)
    assert original.running == {"top level", "case_columns"}
    verdicts = list(judge.mutants(original, [change]))
    assert [(v.outcome, v.found) for v in verdicts] == ([] if outcome == "none" else [(outcome, found)])
    assert not any(v.false for v in verdicts)


def test_an_error_in_what_runs_is_false(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finding of a broken program, said of one that runs."""
    folder = tmp_path / "program.py"
    program = Program(str(folder), ((-1, PROGRAM),))
    broken: list[Finding] = judge.errors(
        Program(str(folder), ((-1, PROGRAM.replace('"model")))', '"modle")))')),))
    )
    assert broken
    original = Original.of(program, judge.workers, 60)
    assert not judge.original(original).false
    monkeypatch.setattr(judge, "errors", lambda _: broken)
    assert judge.original(original).false


def test_blocks_of_a_page() -> None:
    assert list(code_blocks(PAGE)) == ["import jax\n", "x = jax.numpy.ones(8)\nx.shape\n"]


def test_each_kind_of_edit_has_a_mutant() -> None:
    edits: list[tuple[Program, Edit]] = []
    kinds: set[str] = set()
    for path in sorted(FIXTURES, key=lambda path: path.stat().st_size, reverse=True):
        program = read_program(path)
        edits += ((program, edit) for edit in edits_of(program))
        kinds = {edit.kind for _, edit in edits}
        if kinds == set(KINDS):
            break
    assert kinds == set(KINDS)
    for program, change in random.Random(0).sample(edits, 200):
        text = dict(program.cells)[change.cell]
        mutant = dict(program.edited(change.cell, change.start, change.end, change.text).cells)[change.cell]
        assert mutant != text
        assert mutant[: change.start] == text[: change.start]
        assert mutant[change.start + len(change.text) :] == text[change.end :]
