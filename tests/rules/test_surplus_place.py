"""Where names that are too many are pointed at: in their list, not in the table that says what they mean."""

from __future__ import annotations

import pytest
from support.checking import check

from shardlint.model.findings import Severity

PRELUDE = """import dataclasses
import jax, jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
@dataclasses.dataclass
class Rules:
    embed: str | None = "data"
    mlp: str | None = "model"
    def __call__(self, *names):
        return tuple(getattr(self, name) for name in names)
rules = Rules()
table = {"embed": "data", "mlp": "model"}
def spec(*names):
    return P(*(table[name] for name in names))
def plain(*names):
    return P(*names)
def place(x, names):
    return jax.device_put(x, NamedSharding(mesh, P(*names)))
"""
#: What is refused, and the code that says so; it is on the last line.
REFUSED = {
    "with jax.set_mesh(mesh):\n    nnx.Param(jnp.zeros(8), out_sharding=rules('embed', 'mlp'))": "SHL501",
    "jax.device_put(jnp.zeros(8), NamedSharding(mesh, spec('embed', 'mlp')))": "SHL201",
    "jax.device_put(jnp.zeros(8), NamedSharding(mesh, P(*rules('embed', 'mlp'))))": "SHL201",
    "jax.device_put(jnp.zeros(8), NamedSharding(mesh, plain('data', None)))": "SHL201",
    "place(jnp.zeros(8), ('data', None))": "SHL201",
    "jax.device_put(jnp.zeros(()), NamedSharding(mesh, spec('mlp')))": "SHL203",
    "jax.shard_map(lambda x: x.sum(), mesh=mesh, in_specs=P('data'), out_specs=spec('embed'))(jnp.ones(8))": (
        "SHL302"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_surplus_names(text: str) -> None:
    """JAX raises, and the finding is where the name stands that is too many."""
    program = PRELUDE + text + "\n"
    with pytest.raises(ValueError, match=r".+"):
        exec(compile(program, "program.py", "exec"), {})
    found = check(program)
    assert [(f.code, f.span.line) for f in found if f.severity is Severity.ERROR] == [
        (REFUSED[text], len(program.splitlines()))
    ]
