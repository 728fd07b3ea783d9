"""Every method of the objects that overlays know is called with arguments that make no sense: none fails."""

from __future__ import annotations

from typing import Any

import pytest
from support.checking import check, codes
from test_odd_calls import ARGUMENTS

HEAD = """import argparse, collections, functools, itertools, pathlib, re
import flax, flax.linen as nn, jax, jax.numpy as jnp, numpy as np, optax
from flax import nnx
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("x", "y"))
"""
RECEIVERS = """\
[] | {} | () | "a" | b"a" | {1} | frozenset() | 3 | 2.5 | 1j | True | range(3) | slice(1) | iter([]) | zip()
collections.deque() | collections.OrderedDict() | collections.defaultdict(list) | collections.Counter()
collections.UserDict() | collections.ChainMap({}) | collections.namedtuple("N", "a b")(1, 2)
itertools.count() | map(abs, []) | str | list | dict | type | functools.partial(abs)
re.compile("a") | pathlib.Path("a") | argparse.ArgumentParser()
np.ones((4, 4)) | np.array(jax.devices()) | np.random.default_rng(0) | jnp.float32 | jnp.dtype("int8")
jnp.ones((4, 4)) | jnp.ones((4, 4)).at | jnp.ones((4, 4)).at[0] | jax.ShapeDtypeStruct((2,), jnp.float32)
mesh | mesh.abstract_mesh | P("x") | NamedSharding(mesh, P("x")) | jax.devices()[0] | jax.random.key(0)
jax.jit(abs) | jax.jit(abs).lower(jnp.ones(3)) | jax.tree.structure([1]) | optax.adam(1e-3) | jax.tree
nnx.Linear(4, 4, rngs=nnx.Rngs(0)) | nnx.state(nnx.Linear(4, 4, rngs=nnx.Rngs(0))) | nnx.Rngs(0)
nnx.Param(jnp.ones(3)) | nn.Dense(4) | flax.core.freeze({})
"""
OPERATIONS = ("+ 1", "[0]", "['a']", "[None, ...]", "[1:2:3]", "< 2", "@ 2", "** 2", "in [1]")


@pytest.mark.parametrize("line", RECEIVERS.splitlines())
def test_odd_calls_of_methods_end(line: str) -> None:
    names: dict[str, Any] = {}
    exec(HEAD, names)
    lines = []
    for written in line.split(" | "):
        methods = [f".{name}" for name in dir(eval(written, names))]
        calls = [f"{method}({arguments})" for method in methods for arguments in ARGUMENTS]
        lines += [
            f"try:\n    ({written}){end}\nexcept Exception:\n    pass\n"
            for end in (*methods, *calls, *(f" {operation}" for operation in OPERATIONS))
        ]
    text = f"import unknown\n{HEAD}{''.join(lines)}"
    if "SHL009" in codes(check(text)):
        failing = [one for one in lines if "SHL009" in codes(check(f"import unknown\n{HEAD}{one}"))]
        assert failing == []
