"""A witness does what the whole program does: a sample; `whole_programs.py` runs them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
import whole_programs

from shardlint.confirm.confirmer import Confirmer

pytest.importorskip("flax")

#: What the types of arrays tell is not what the context tells: no mesh is set, and the spec finds none.
WITHOUT_CONTEXT = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P()))
jax.jit(lambda i: x.at[i].get(out_sharding=P("data", None)))(jnp.arange(8))
"""
CASES = dict(whole_programs.programs([]))
SAMPLE = [name for name in CASES if name.endswith("bad")][::9]


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with Confirmer() as confirmer:
        yield confirmer


@pytest.mark.parametrize("name", SAMPLE)
def test_a_witness_does_what_the_program_does(confirmer: Confirmer, name: str) -> None:
    assert not list(whole_programs.disagreements(confirmer, CASES[name], Counter()))


def test_a_call_without_a_mesh_in_its_context_is_confirmed_without_one(confirmer: Confirmer) -> None:
    counts: Counter[str] = Counter()
    assert not list(whole_programs.disagreements(confirmer, WITHOUT_CONTEXT, counts))
    assert counts == {"confirmed": 1, "programs": 1}
