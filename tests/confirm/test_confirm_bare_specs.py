"""A bare spec where only a sharding is taken: JAX rejects it, and accepts it bound to a mesh."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.checking import check
from support.stored_answers import stored_confirmer

from shardlint.confirm.confirmer import Confirmer
from shardlint.model.findings import Confirmation

pytestmark = pytest.mark.usefixtures("forked_workers")

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("a", "b"))
"""


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with stored_confirmer() as confirmer:
        yield confirmer
        assert confirmer.notes == []


@pytest.mark.parametrize(
    "call",
    (
        'jnp.zeros((8, 4), device=P("a"))',
        'jnp.full((8, 4), 1.0, device=P(("a", "b")))',
        'jnp.arange(8, device=P("a"))',
        "jnp.asarray(np.ones((8, 4)), device=P())",
        'jnp.ones_like(jnp.ones((8, 4)), device=P(None, "b"))',
        'jax.make_array_from_callback((8, 4), P("a"), lambda i: np.ones((8, 4))[i])',
        'jax.device_put(np.ones((8, 4)), P("a"))',
    ),
)
@pytest.mark.parametrize("context", (False, True))
def test_a_bare_spec_is_confirmed(confirmer: Confirmer, call: str, context: bool) -> None:
    program = f"{HEAD}with jax.set_mesh(mesh):\n    x = {call}\n" if context else f"{HEAD}x = {call}\n"
    found = confirmer.confirm(check(program, "a.py"))
    taken = context and "device_put" in call
    assert [one.code for one in found] == ([] if taken else ["SHL206"])
    assert all(one.confirmation is Confirmation.CONFIRMED for one in found)
