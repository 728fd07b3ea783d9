"""What parameters with shardings become in the Flax that runs this: prints one JSON object.

usage: ENVIRONMENT/bin/python tests/versions/flax_behaviour.py

`tests/data/flax_behaviour.json` has the answers of the releases that were measured.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import json
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import flax
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax import nnx
from jax.sharding import Mesh

warnings.simplefilter("ignore")

ONES, AXES = nn.initializers.ones, ("x", "y")


def said(call: Callable[[], Any]) -> str:
    """Return a call's result as text, or the class of what it raises."""
    try:
        return str(call()).replace("PartitionSpec", "P").split(" at 0x")[0][:90]
    except Exception as error:
        return type(error).__name__


def around(kind: str) -> Any:
    """Return the context of a mesh of 2 by 2 devices with axes of this type."""
    if hasattr(jax.sharding, "AxisType"):
        mesh = jax.make_mesh((2, 2), AXES, axis_types=(getattr(jax.sharding.AxisType, kind),) * 2)
    else:
        mesh = Mesh(np.array(jax.devices()).reshape(2, 2), AXES)
    return next((f(mesh) for f in (getattr(jax, "set_mesh", None), _use_mesh()) if f), mesh)


def _use_mesh() -> Any:
    return getattr(jax.sharding, "use_mesh", None)


def held(variable: Any) -> Any:
    """Return the spec of what a variable holds."""
    value = variable.get_value() if hasattr(variable, "get_value") else variable.value
    return getattr(value.sharding, "spec", type(value.sharding).__name__)


def parameter(kind: str, **metadata: Any) -> Any:
    """Make a parameter with metadata under a mesh."""
    with around(kind):
        return held(nnx.Param(jnp.ones((8, 8)), **metadata))


def layer(kind: str) -> Any:
    """Make a layer whose kernel has names."""
    with around(kind):
        initializer = nnx.with_partitioning(nnx.initializers.ones_init(), AXES)
        return held(nnx.Linear(8, 8, kernel_init=initializer, rngs=nnx.Rngs(0)).kernel)


def unboxed(kind: str, names: tuple[Any, ...]) -> Any:
    """Unbox what linen's `with_partitioning` makes."""
    with around(kind):
        value = nn.with_partitioning(ONES, names)(jax.random.key(0), (8, 8)).unbox()
        return getattr(value.sharding, "spec", type(value.sharding).__name__)


def constrained(kind: str) -> Any:
    """Constrain by a logical axis."""
    with around(kind), nn.logical_axis_rules([("a", "x")]):
        value = nn.with_logical_constraint(jnp.ones((8, 8)), ("a", None))
        return getattr(value.sharding, "spec", type(value.sharding).__name__)


def scales() -> str:
    """Return the type of a WeightNorm's scales."""
    normal = nnx.WeightNorm(nnx.Linear(4, 4, rngs=nnx.Rngs(0)), rngs=nnx.Rngs(0))
    return type(next(iter(normal.scales.values()))).__name__


def main() -> None:
    """Ask everything."""
    found = {}
    for kind in ("Auto", "Explicit"):
        for key in ("sharding", "sharding_names", "out_sharding"):
            given = {key: AXES}
            found[f"nnx.Param({key}=) {kind}"] = said(partial(parameter, kind, **given))
        found[f"nnx.Param(eager_sharding=False) {kind}"] = said(
            partial(parameter, kind, sharding_names=AXES, eager_sharding=False)
        )
        found[f"nnx.Linear with_partitioning {kind}"] = said(partial(layer, kind))
        found[f"linen unbox {kind}"] = said(partial(unboxed, kind, AXES))
        found[f"linen unknown axis {kind}"] = said(partial(unboxed, kind, ("z", None)))
        found[f"with_logical_constraint {kind}"] = said(partial(constrained, kind))
    found["nnx.Param without mesh"] = said(lambda: held(nnx.Param(jnp.ones((8, 8)), sharding_names=AXES)))
    rules = [("a", "x"), ("b", "x")]
    found["logical_to_mesh_axes unknown"] = said(lambda: nn.logical_to_mesh_axes(("a", "c"), rules))
    found["logical_to_mesh_axes twice"] = said(lambda: nn.logical_to_mesh_axes(("a", "b"), rules))
    found["logical_to_mesh_axes repeated name"] = said(lambda: nn.logical_to_mesh_axes(("a", "a"), rules))
    found["nnx.WeightNorm scales"] = said(scales)
    found["nnx.use_eager_sharding"] = said(lambda: hasattr(nnx, "use_eager_sharding"))
    print(json.dumps({f"flax {flax.__version__}, jax {jax.__version__}": found}))


if __name__ == "__main__":
    main()
