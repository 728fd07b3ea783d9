"""What `apply` returns of the variables that it may change: as Flax has it, or not known."""

from __future__ import annotations

import pytest
from flax_models import IMPORTS
from test_every_layer import compare

MODEL = """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=not self.is_mutable_collection("batch_stats"))(nn.Dense(6)(x))
        seen = self.variable("counts", "seen", lambda: jnp.zeros((3,)))
        if self.is_mutable_collection("counts"):
            seen.value = jnp.zeros((5, 5))
        self.sow("intermediates", "x", x)
        return x

x, key = jnp.ones((4, 8)), jax.random.key(0)
variables = Net().init(key, x)
variables = {name: variables[name] for name in ("params", "batch_stats", "counts")}
"""


@pytest.mark.parametrize(
    ("mutable", "known"),
    [
        ('"batch_stats"', True),
        ('["batch_stats"]', True),
        ('("batch_stats",)', True),
        # What the program writes itself may have any shape, and what it sows is not there before.
        ('["batch_stats", "counts"]', False),
        ('["counts"]', False),
        ('["intermediates"]', False),
        ('["batch_stats", "intermediates"]', False),
        ("True", False),
    ],
)
def test_changed(mutable: str, known: bool) -> None:
    result = compare(f"{IMPORTS}{MODEL}y, changed = Net().apply(variables, x, mutable={mutable})", "changed")
    assert result is not None
    found, total = result
    assert found == (total if known else 0)
