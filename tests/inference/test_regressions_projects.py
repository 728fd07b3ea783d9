"""Programs that runs over public projects called wrong, or broke down on: they run, and nothing is said."""

from __future__ import annotations

from inspect import cleandoc

import pytest
from support.checking import errors
from support.jax_answers import jax_raises

HEADER = """\
import contextlib, enum, itertools, sys, unittest
import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
auto = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
"""

#: What is checked, and how a caller that the linter does not see calls it.
PROGRAMS = {
    "methods of layers on objects of derived classes": (
        """
        class Scaled(nnx.Embed):
            pass

        class Looked(nn.Embed):
            def __call__(self, x):
                return self.attend(super().__call__(x))

        ids = jnp.zeros((2, 3), jnp.int32)
        table = Scaled(8, 4, rngs=nnx.Rngs(0))
        table.attend(table(ids))
        Looked(8, 4).init(jax.random.key(0), ids)
        """,
        "pass",
    ),
    "what may be no in_shardings takes keywords": (
        """
        def add(x, cache):
            return x + cache

        def run(step, x, spec):
            return jax.jit(step, in_shardings=spec)(x, cache=x)

        x = jax.ShapeDtypeStruct((8,), jnp.float32)
        jax.jit(add, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)).trace(x, cache=x)
        """,
        "run(add, jnp.ones(8), None)",
    ),
    "logical names leave dimensions to the compiler": (
        """
        rules, free = (("batch", "data"),), P.UNCONSTRAINED

        def constrain(x, name):
            for names in (("batch", free), (free, free), P("batch", free), ("batch", name), ()):
                x = nn.with_logical_constraint(x, names, rules, mesh=auto)
            return x

        constrain(jnp.ones((4, 8)), None)
        nn.logical_to_mesh_sharding(P("batch", free), auto, rules)
        """,
        "constrain(jnp.ones((4, 8)), None)",
    ),
    "starred arguments of unknown number": (
        """
        jax.set_mesh(mesh)

        def blocks(n, m, sizes):
            x = jax.device_put(jnp.ones((n, m)), NamedSharding(mesh, P("data")))
            shape = [[n] for n in x.shape]
            for i, size in sizes:
                shape[i] = (x.shape[i] // size, size)
            return jax.lax.reshape(x, list(itertools.chain(*shape)), out_sharding=P("data", None, None))

        def rows(x, bounds):
            return jax.device_put(x[slice(*bounds)], NamedSharding(auto, P("data")))
        """,
        """
        blocks(8, 16, [(1, 4)])
        rows(jnp.ones((7, 2)), (0, 4))
        jax.set_mesh(None)
        """,
    ),
    "a program asks for the class of a sharding": (
        """
        def rows(x, where):
            if not isinstance(x.sharding, NamedSharding):
                return x[where]
            return x.at[where].get(out_sharding=NamedSharding(x.sharding.mesh, P()))

        with jax.set_mesh(mesh):
            rows(jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data"))), jnp.array([0, 2]))
        """,
        "pass",
    ),
    "members of enumerations decide": (
        """
        class Mode(enum.Enum):
            AUTO = "auto"
            EXPLICIT = "explicit"
            DEFAULT = "auto"

        def make(mesh=None, mode=Mode.AUTO):
            first = NamedSharding(mesh, P("data")) if mode == Mode.EXPLICIT else None
            other = NamedSharding(mesh, P("data")) if mode is not Mode.DEFAULT else None
            return first, other, NamedSharding(mesh, P("data")) if mode in (Mode.EXPLICIT,) else None

        make()
        make(mesh, Mode.EXPLICIT)
        """,
        "pass",
    ),
    "a caller without a mesh is kept from needing one": (
        """
        def sharding_of(batch, mesh):
            if batch.is_empty():
                return None
            return NamedSharding(mesh, P("data"))

        class Batch:
            def __getattr__(self, name):
                return lambda: True

        sharding_of(Batch(), None)
        """,
        "",
    ),
    "tests that are skipped go no further": (
        """
        class Case(unittest.TestCase):
            def part(self, devices):
                if jax.device_count() < devices:
                    self.skipTest("not enough devices")
                jax.make_mesh((devices,), ("data",))

            def runTest(self):
                self.part(16)

        def part(devices):
            if jax.device_count() < devices:
                pytest.skip("not enough devices")
            jax.make_mesh((devices,), ("data",))

        def leave():
            sys.exit(0)
            jax.make_mesh((16,), ("data",))

        with contextlib.suppress(unittest.SkipTest):
            Case().part(16)
        with contextlib.suppress(BaseException):
            part(16)
        """,
        "pass",
    ),
    "draws from streams": (
        """
        rngs, split = nnx.Rngs(0, dropout=1), NamedSharding(auto, P("data", None))
        for drawn in (
            rngs.normal((8, 16)),
            rngs.params.uniform((8, 16)),
            rngs.dropout.randint((8, 16), 0, 9),
            rngs.lecun_normal()((8, 16)),
            rngs.params.he_uniform()((8, 16), jnp.bfloat16),
            rngs.split(4),
        ):
            jax.device_put(drawn, split) if isinstance(drawn, jax.Array) else drawn
        """,
        "pass",
    ),
}


def _text(name: str) -> str:
    return HEADER + cleandoc(PROGRAMS[name][0]) + "\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said(name: str) -> None:
    assert errors(_text(name)) == []


def test_jax_runs_them() -> None:
    programs = {name: f"{_text(name)}{cleandoc(caller)}\n" for name, (_, caller) in PROGRAMS.items()}
    assert jax_raises(programs) == dict.fromkeys(programs)
