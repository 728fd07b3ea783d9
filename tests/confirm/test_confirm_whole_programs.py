"""A witness does what the whole program does: a sample; `whole_programs.py` runs them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import whole_programs
from support.checking import check
from support.stored_answers import stored_confirmer
from support.stored_runs import stored_run

from shardlint.confirm.confirmer import Confirmer
from shardlint.confirm.fixtures.runs import run_fixture
from shardlint.model.findings import Confirmation

pytest.importorskip("flax")

pytestmark = pytest.mark.usefixtures("forked_workers")

#: What the types of arrays tell is not what the context tells: no mesh is set, and the spec finds none.
WITHOUT_CONTEXT = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P()))
jax.jit(lambda i: x.at[i].get(out_sharding=P("data", None)))(jnp.arange(8))
"""
#: Findings in a helper that a case calls, in one that none calls, and in a lambda that nothing calls.
WITH_HELPERS = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def called(size):
    return jax.device_put(jnp.ones((size, 4)), NamedSharding(mesh, P("data", None)))

def uncalled():
    return jax.device_put(jnp.ones((6, 4)), NamedSharding(mesh, P("data", None)))

later = lambda: jax.device_put(jnp.ones((6, 4)), NamedSharding(mesh, P("data", None)))

def case_helper():
    called(6)
"""
CASES = dict(whole_programs.programs([]))
SAMPLE = [name for name in CASES if name.endswith("bad")][::9]


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with stored_confirmer() as confirmer, pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_programs, "run_fixture", stored_run)
        yield confirmer


@pytest.mark.parametrize("name", SAMPLE)
def test_a_witness_does_what_the_program_does(confirmer: Confirmer, name: str) -> None:
    assert not list(whole_programs.disagreements(confirmer, CASES[name], Counter()))


def test_a_call_without_a_mesh_in_its_context_is_confirmed_without_one(confirmer: Confirmer) -> None:
    counts: Counter[str] = Counter()
    assert not list(whole_programs.disagreements(confirmer, WITHOUT_CONTEXT, counts))
    assert counts == {"confirmed": 1, "programs": 1}


def test_a_finding_in_a_helper_is_judged_where_the_helper_ran(tmp_path: Path) -> None:
    found = check(WITH_HELPERS)
    program = tmp_path / "program.py"
    for size, passed in ((6, False), (8, True)):
        program.write_text(WITH_HELPERS.replace("called(6)", f"called({size})"))
        run = run_fixture(program, watched=True)
        claims = [replace(f, confirmation=Confirmation.CONFIRMED, confirmed_by="JAX") for f in found]
        said = {f.span.line: whole_programs.disagreement(f, run) is not None for f in claims}
        assert said[8] is passed
        assert not any(disagrees for line, disagrees in said.items() if line != 8)
