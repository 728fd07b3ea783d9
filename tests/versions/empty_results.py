"""Arrays of size 0 that a jit returns: JAX 0.7.2 to 0.8.3 refuse to split one that is the only result.

usage: python tests/versions/empty_results.py

Asks the JAX that runs this, and prints the programs of which it says otherwise than is written here.
"""

from __future__ import annotations

import os

HEAD = """import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P, reshard

mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
jax.set_mesh(mesh)
a = reshard(jnp.ones((8, 16)), P("x", "y"))
z = jnp.zeros((0, 8))
S = NamedSharding(mesh, P("x"))
"""
#: Programs, and whether these releases raise AssertionError.
PROGRAMS = {
    'reshard(z, P("x"))': True,
    'jnp.zeros((0, 8), out_sharding=P("x"))': True,
    'jax.jit(lambda z: reshard(z, P("x")))(z)': True,
    'jax.jit(lambda: jnp.zeros((8, 0), out_sharding=P("x", "y")))()': True,
    "jax.jit(lambda z: z * 2)(jax.device_put(z, S))": True,
    "jax.jit(lambda a: a[:0])(a)": True,
    "jax.jit(lambda a: (a[:0],))(a)": True,
    "jax.jit(lambda z: z, out_shardings=S)(z)": True,
    'jax.jit(lambda z: {"b": z, "c": None}, out_shardings=S)(z)': True,
    # XLA keeps the shardings of several results.
    "jax.jit(lambda a: (a[:0], a))(a)": False,
    'jax.jit(lambda z: (1, reshard(z, P("x"))))(z)': False,
    "jax.jit(lambda z: (z, z), out_shardings=S)(z)": False,
    "jax.jit(lambda z: (z, 1), out_shardings=(S, None))(z)": False,
    # Only what a program returns is compared, and only when it is compiled.
    'jax.jit(lambda z: jax.jit(lambda z: reshard(z, P("x")))(z).sum())(z)': False,
    'jax.eval_shape(jax.jit(lambda z: reshard(z, P("x"))), z)': False,
    "jax.jit(lambda z: reshard(z, P()))(z)": False,
}


def main() -> None:
    """Run the programs."""
    import jax

    refusing = (0, 7, 2) <= jax.__version_info__ < (0, 9)
    for program, refused in PROGRAMS.items():
        try:
            exec(HEAD + program, {})
            raised = None
        except Exception as error:
            raised = type(error).__name__
        if raised != ("AssertionError" if refused and refusing else None):
            print(f"{program}: {raised}")


if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    main()
