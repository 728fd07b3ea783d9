"""Programs with a mistake, by name: its code, how safe the fix is, and what the fixed program must hold."""

from __future__ import annotations

from dataclasses import dataclass

HEADER = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jnp.arange(128.0).reshape(8, 16)
"""


@dataclass(frozen=True)
class Case:
    """``y`` is what the program computes; ``raises`` whether JAX refuses it before the fix."""

    code: str
    safe: bool
    body: str
    fixed: str
    raises: bool = True
    header: str = HEADER


WITHOUT_P = HEADER.replace(", PartitionSpec as P", "")
LINEN = HEADER + "import flax.linen as nn\n"
NNX = HEADER + "from flax import nnx\n"
JAX_ALONE = """
import jax
mesh = jax.make_mesh((2, 4), ("data", "model"))
x = jax.numpy.ones((8, 16))
"""
MAPPED = "y = jax.shard_map(lambda x: {body}, mesh=mesh, in_specs={specs}, out_specs={out})(x)"
LINEN_PLACED = """
zeros = nn.with_partitioning(nn.initializers.zeros_init(), {names})
layer = nn.Dense(16, bias_init=zeros)
boxed = layer.init(jax.random.key(0), x)
specs = nn.get_partition_spec(boxed)
y = jax.device_put(nn.unbox(boxed)["params"]["bias"], NamedSharding(mesh, specs["params"]["bias"]))
"""

CASES = {
    "a misspelt axis": Case(
        "SHL103", False, 'y = jax.device_put(x, NamedSharding(mesh, P(None, "modle")))', 'P(None, "model")'
    ),
    "a misspelt axis in a tuple, in other quotes": Case(
        "SHL103",
        False,
        "y = jax.device_put(x, NamedSharding(mesh, P(('data', 'modle'))))",
        "('data', 'model')",
    ),
    "two axes in a string": Case(
        "SHL103", False, 'y = jax.device_put(x, NamedSharding(mesh, P("data,model")))', 'P(("data", "model"))'
    ),
    "a misspelt axis of a collective": Case(
        "SHL303",
        False,
        MAPPED.format(body='jax.lax.psum(x, ("dta", "model"))', specs='P("data", "model")', out="P()"),
        '("data", "model")',
    ),
    "a tuple for a spec": Case(
        "SHL104", True, 'y = jax.device_put(x, NamedSharding(mesh, ("data", None)))', 'P("data", None)'
    ),
    "a tuple for a spec, which nobody imports": Case(
        "SHL104",
        True,
        'y = jax.device_put(x, NamedSharding(mesh, ("data",)))',
        'P("data",)',
        header=WITHOUT_P,
    ),
    "a tuple for a spec, where P is something else": Case(
        "SHL104",
        True,
        'P = 3\ny = jax.device_put(x, NamedSharding(mesh, ("data",)))',
        'PartitionSpec("data",)',
        header=WITHOUT_P,
    ),
    "a tuple for a spec, with jax alone": Case(
        "SHL104",
        True,
        'y = jax.device_put(x, jax.sharding.NamedSharding(mesh, ("data",)))',
        'jax.sharding.PartitionSpec("data",)',
        header=JAX_ALONE,
    ),
    "a list for a spec": Case(
        "SHL104", True, 'y = jax.device_put(x, NamedSharding(mesh, ["data", None]))', 'P("data", None)'
    ),
    "a string for a spec": Case(
        "SHL104", True, 'y = jax.device_put(x, NamedSharding(mesh, "data"))', 'P("data")'
    ),
    "None for a spec": Case("SHL104", False, "y = jax.device_put(x, NamedSharding(mesh, None))", "P()"),
    "a string for a spec of shard_map": Case(
        "SHL104", True, MAPPED.format(body="x", specs='"data"', out='P("data")'), 'in_specs=P("data")'
    ),
    "a tuple for the specs of shard_map": Case(
        "SHL104", True, MAPPED.format(body="x", specs='("data",)', out='P("data")'), 'in_specs=(P("data"),)'
    ),
    "more entries than dimensions": Case(
        "SHL201",
        True,
        'y = jax.device_put(x, NamedSharding(mesh, P("data", None, None, None)))',
        'P("data", None))',
    ),
    "more entries than dimensions, on lines": Case(
        "SHL201",
        True,
        'y = jax.device_put(x, NamedSharding(mesh, P(\n    "data",\n    None,\n    None,\n)))',
        'P(\n    "data",\n    None,\n)',
    ),
    "more entries than dimensions, in a spec that has a name": Case(
        "SHL201",
        False,
        'spec = P("data", None, None)\ny = jax.device_put(x, NamedSharding(mesh, spec))',
        'P("data", None)',
    ),
    "None for a scalar": Case(
        "SHL203", True, "y = jax.device_put(jnp.float32(1), NamedSharding(mesh, P(None,)))", "P()"
    ),
    "an entry for a dimension that is summed": Case(
        "SHL302",
        True,
        MAPPED.format(body="x.sum(1)", specs='P("data")', out='P("data", None)'),
        'out_specs=P("data")',
    ),
    "a layout that is left open": Case(
        "SHL204",
        False,
        'y = jax.device_put(x, NamedSharding(mesh, P(P.UNCONSTRAINED, "model")))',
        'P(None, "model")',
    ),
    "a nested tuple": Case(
        "SHL101",
        True,
        'y = jax.device_put(x, NamedSharding(mesh, P((("data", "model"),), None)))',
        'P(("data", "model"), None)',
    ),
    "None in a tuple": Case(
        "SHL101",
        False,
        'y = jax.device_put(x, NamedSharding(mesh, P(("data", None), None)))',
        'P("data", None)',
    ),
    "an empty string": Case(
        "SHL105",
        True,
        'y = jax.device_put(x, NamedSharding(mesh, P("", "model")))',
        'P(None, "model")',
        False,
    ),
    "an empty tuple": Case(
        "SHL105",
        True,
        'y = jax.device_put(x, NamedSharding(mesh, P((), "model")))',
        'P(None, "model")',
        False,
    ),
    "a number": Case(
        "SHL105",
        False,
        'y = jax.device_put(x, NamedSharding(mesh, P(0, "model")))',
        'P(None, "model")',
        False,
    ),
    "shard_map by position": Case(
        "SHL307",
        True,
        'y = jax.shard_map(lambda x: 2 * x, mesh, P("data"), P("data"))(x)',
        'mesh=mesh, in_specs=P("data"), out_specs=P("data")',
    ),
    "None for an argument of shard_map": Case(
        "SHL312", False, MAPPED.format(body="x", specs="(None,)", out="P()"), "in_specs=(P(),)", False
    ),
    "types of axes as strings": Case(
        "SHL406",
        True,
        'm = jax.make_mesh((2, 4), ("data", "model"), axis_types=("auto", "explicit"))\n'
        'y = jax.device_put(x, NamedSharding(m, P("data")))',
        "axis_types=(AxisType.Auto, AxisType.Explicit)",
    ),
    "a string for the names of linen": Case(
        "SHL502", True, LINEN_PLACED.format(names='"model"'), '("model",)', header=LINEN
    ),
    "names beyond the rank": Case(
        "SHL501", True, LINEN_PLACED.format(names='("model", None)'), '("model",)', header=LINEN
    ),
    "a string for the names of nnx": Case(
        "SHL502",
        False,
        'init = nnx.with_partitioning(nnx.initializers.zeros_init(), "model")\n'
        "with jax.set_mesh(mesh):\n    layer = nnx.Linear(16, 16, bias_init=init, rngs=nnx.Rngs(0))\n"
        "y = layer(x)",
        '("model",)',
        False,
        NNX,
    ),
    "rules as a dict": Case(
        "SHL507",
        True,
        'spec = nn.logical_to_mesh_axes(("embed", "mlp"), {"embed": "data", "mlp": "model"})\n'
        "y = jax.device_put(x, NamedSharding(mesh, spec))",
        '(("embed", "data"), ("mlp", "model"))',
        header=LINEN,
    ),
    "a rule as a dict": Case(
        "SHL507",
        True,
        'spec = nn.logical_to_mesh_axes(("embed",), {"embed": "data"})\n'
        "y = jax.device_put(x, NamedSharding(mesh, spec))",
        '(("embed", "data"),)',
        header=LINEN,
    ),
    "a misspelt logical axis": Case(
        "SHL505",
        False,
        'with jax.set_mesh(mesh), nnx.logical_axis_rules((("embed", "data"), ("mlp", "model"))):\n'
        '    y = nnx.Param(jnp.ones((8, 16)), out_sharding=("embed", "mpl"))[...]',
        '("embed", "mlp")',
        header=NNX,
    ),
    "out_sharding of jit": Case(
        "SHL804",
        True,
        'y = jax.jit(lambda x: x, out_sharding=NamedSharding(mesh, P("data")))(x)',
        "out_shardings=NamedSharding",
    ),
    "in_sharding of jit": Case(
        "SHL804",
        True,
        'y = jax.jit(lambda x: x, in_sharding=(NamedSharding(mesh, P("data")),))(x)',
        "in_shardings=(NamedSharding",
    ),
    "in_axis_resources of jit": Case(
        "SHL804",
        False,
        'y = jax.jit(lambda x: x, in_axis_resources=NamedSharding(mesh, P("data")))(x)',
        "in_shardings=NamedSharding",
    ),
    "out_shardings of jnp.zeros": Case(
        "SHL804",
        True,
        'm = jax.make_mesh((2, 4), ("data", "model"))\nwith jax.set_mesh(m):\n'
        '    y = jnp.zeros((8, 16), out_shardings=P("data"))',
        "out_sharding=P(",
    ),
    "sharding of device_put": Case(
        "SHL804",
        True,
        'y = jax.device_put(x, sharding=NamedSharding(mesh, P("data")))',
        "device=NamedSharding",
    ),
    "sharding of with_sharding_constraint": Case(
        "SHL804",
        True,
        'split = NamedSharding(mesh, P("data"))\n'
        "y = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding=split))(x)",
        "shardings=split",
    ),
    "axis of psum_scatter": Case(
        "SHL804",
        True,
        MAPPED.format(
            body='jax.lax.psum_scatter(x, "data", axis=1, tiled=True)',
            specs='P("data")',
            out='P(None, "data")',
        ),
        "scatter_dimension=1",
    ),
    "scatter_dimension of all_gather": Case(
        "SHL804",
        True,
        MAPPED.format(
            body='jax.lax.all_gather(x, "model", scatter_dimension=1, tiled=True)',
            specs='P("data", "model")',
            out='P("data", "model")',
        ),
        "axis=1",
    ),
}
