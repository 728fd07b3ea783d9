"""Random programs that set meshes in all the ways there are, in and out of what is traced."""

from __future__ import annotations

import random

SETUP = """\
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import numpy as np
from jax import P
from jax.sharding import AbstractMesh, AxisType, Mesh, get_abstract_mesh, get_mesh, use_abstract_mesh
A, E, M = AxisType.Auto, AxisType.Explicit, AxisType.Manual
D = np.array(jax.devices())
auto = Mesh(D.reshape(4, 2), ("x", "y"))
expl = Mesh(D.reshape(4, 2), ("x", "y"), axis_types=(E, E))
half = Mesh(D[:4], ("x",))
manual = Mesh(D, ("x",), axis_types=(M,))
ab = auto.abstract_mesh
ab8 = AbstractMesh((8,), ("q",), (E,))
ab4 = AbstractMesh((4,), ("z",), (E,))
none = AbstractMesh((), ())
x = np.ones((8, 8))
"""

_MESHES = (
    "auto",
    "auto",
    "expl",
    "expl",
    "half",
    "None",
    "manual",
    "ab",
    "(4, 2)",
    "P('x')",
    "jax.devices()",
    "D",
)
_ABSTRACT = (
    "ab",
    "ab",
    "ab",
    "ab4",
    "ab4",
    "none",
    "auto.abstract_mesh",
    "half.abstract_mesh",
    "auto",
    "None",
    "'x'",
)
_CONTEXTS = ("auto", "expl", "half", "ab", "auto.abstract_mesh")
_READS = (
    "get_abstract_mesh()", "get_abstract_mesh()", "get_mesh()", "get_abstract_mesh().empty",
    "get_mesh().shape",
    "get_abstract_mesh().axis_names", "get_abstract_mesh().axis_types", "get_abstract_mesh().shape",
    "get_abstract_mesh().devices", "jax.sharding.get_mesh().axis_names", "get_abstract_mesh().size",
    "'x' in get_abstract_mesh().axis_names", "1 if get_abstract_mesh().empty else 2",
)  # fmt: skip
_TRACED = (
    "jax.jit({f}).trace(x)", "jax.eval_shape({f}, x)", "jax.make_jaxpr({f})(x)",
    "jax.eval_shape(jax.shard_map({f}, mesh=auto, in_specs=P('x'), out_specs=P('x')), x)",
)  # fmt: skip


class Writer:
    """Writes one program; probes are numbered in the order that they are written."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.probes = 0
        self.functions = 0

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def block(self, depth: int, left: int) -> None:
        """Some statements."""
        for _ in range(self.rng.choice([1, 1, 2])):
            self.statement(depth, left)

    def statement(self, depth: int, left: int) -> None:
        kind = self.rng.random()
        if left == 0 or kind < 0.3:
            self.write(depth, f"probe({self.probes}, {self.rng.choice(_READS)})")
            self.probes += 1
        elif kind < 0.55:
            wrong = self.rng.random() < 0.12
            mesh = self.rng.choice(_MESHES) if wrong else self.rng.choice(("auto", "expl", "half", "None"))
            self.managed(depth, left, f"jax.set_mesh({mesh})")
        elif kind < 0.7:
            mesh = self.rng.choice(_ABSTRACT) if self.rng.random() < 0.5 else "ab"
            self.managed(depth, left, f"use_abstract_mesh({mesh})")
        elif kind < 0.78:
            self.managed(
                depth, left, self.rng.choice(_CONTEXTS if self.rng.random() < 0.3 else _CONTEXTS[:3])
            )
        elif kind < 0.84:
            mesh = self.rng.choice(_MESHES) if self.rng.random() < 0.3 else "auto"
            self.write(depth, f"jax.set_mesh({mesh})")
        else:
            self.function(depth, left)

    def managed(self, depth: int, left: int, manager: str) -> None:
        name = self.rng.random() < 0.1
        self.write(depth, f"with {manager}{' as held' if name else ''}:")
        if name:
            self.write(depth + 1, f"probe({self.probes}, held is None)")
            self.probes += 1
        self.block(depth + 1, left - 1)

    def function(self, depth: int, left: int) -> None:
        """A function that is called, or traced in one of the ways there are."""
        name = f"f{self.functions}"
        self.functions += 1
        self.write(depth, f"def {name}(x):")
        self.block(depth + 1, left - 1)
        self.write(depth + 1, "return x")
        form = "{f}(x)" if self.rng.random() < 0.25 else self.rng.choice(_TRACED)
        self.write(depth, form.format(f=name))


def program(seed: str) -> str:
    """A program, without its `SETUP`."""
    writer = Writer(seed)
    for _ in range(writer.rng.choice([1, 2, 3])):
        writer.statement(0, 3)
    writer.write(0, f"probe({writer.probes}, get_abstract_mesh())")
    return "\n".join(writer.lines) + "\n"
