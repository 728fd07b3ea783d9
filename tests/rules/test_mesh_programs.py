"""What is said of programs that make and set meshes, and what is not: eight devices."""

from __future__ import annotations

import pytest

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Finding, Severity

SETUP = """\
import importlib
import jax
import numpy as np
from jax import P
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
grid = np.array(jax.devices()).reshape(2, 4)
mesh = Mesh(grid, ("data", "model"))
"""

#: (program, code, column, message)
SAID: list[tuple[str, str, int, str]] = [
    (
        "jax.make_mesh((2, 2), ('x', 'y'))", "SHL405", 16,
        "the mesh uses 4 of 8 devices, and the others stay idle; "
        "let the sizes multiply to their number, or choose some with devices=",
    ),
    (
        "jax.make_mesh((2, 4), ('x', 'y'), axis_types='auto')", "SHL406", 46,
        'make_mesh: axis_types takes a tuple of AxisType, one an axis; "auto" is none',
    ),
    (
        "jax.make_mesh(shape=(2, 4), axis_names=('x', 'y'))", "SHL406", 1,
        "make_mesh has no argument `shape`; it takes axis_shapes, axis_names, axis_types, devices",
    ),
    (
        "Mesh((2, 4), ('x', 'y'))", "SHL406", 7,
        "Mesh: (2, 4) are no devices; jax.make_mesh(shape, names) finds them itself",
    ),
    (
        "AbstractMesh([2, 4], ('x', 'y'))", "SHL406", 23,
        "[2, 4] cannot be hashed; AbstractMesh wants tuples",
    ),
    (
        "mesh.update(axis_types=[AxisType.Auto])", "SHL406", 24,
        "Mesh: axis_types takes a tuple of AxisType, one an axis; "
        "[jax.sharding.AxisType.Auto] is none",
    ),
    (
        "jax.make_mesh(8, ('x',))", "SHL404", 15,
        "make_mesh rejects the shape: 8 is no sequence of sizes",
    ),
    (
        "mesh_utils.create_hybrid_device_mesh((2, 2), (4, 1))", "SHL403", 47,
        "the two shapes together hold 16 devices, and there are 8",
    ),
    (
        "jax.set_mesh((2, 4))", "SHL407", 15,
        "set_mesh takes a Mesh of devices, not (2, 4)",
    ),
    (
        "jax.sharding.use_abstract_mesh(mesh)", "SHL407", 32,
        "use_abstract_mesh takes an AbstractMesh, not a Mesh; use mesh.abstract_mesh",
    ),
    (
        "mesh.abstract_mesh.devices", "SHL408", 1,
        "an AbstractMesh has no devices, and `devices` asks for them; a Mesh has them",
    ),
    (
        "NamedSharding(mesh.abstract_mesh, P()).device_set", "SHL408", 1,
        "an AbstractMesh has no devices, and `device_set` asks for them; a Mesh has them",
    ),
    (
        "P('data', unreduced='model')", "SHL106", 21,
        'PartitionSpec: unreduced= takes a set of axis names, not "model"',
    ),
    (
        "NamedSharding(mesh, 'data', 'model')", "SHL106", 29,
        'NamedSharding: no device has the memory_kind "model"; '
        "device, pinned_host, unpinned_host are those there are",
    ),
    (
        "NamedSharding(P('data'), mesh)", "SHL106", 15,
        'NamedSharding takes a mesh first, and P("data") is none',
    ),
]  # fmt: skip

SILENT = [
    "jax.make_mesh((2, 2), ('x', 'y'), devices=jax.devices()[:4])",
    "jax.make_mesh((1, 1), ('x', 'y'))",
    "Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ('x', 'y'))",
    "Mesh(grid[:, :2], ('x', 'y'))",
    "Mesh(mesh.devices.T, mesh.axis_names[::-1])",
    "Mesh(grid, ['data', 'model'])",
    "jax.make_mesh([2, 4], ['data', 'model'])",
    "jax.make_mesh((2, jax.device_count() / 2), ('data', 'model'))",
    "jax.set_mesh(None)",
    "@mesh\ndef f(x):\n    return x",
    "NamedSharding(mesh, P('data'), memory_kind='pinned_host').with_memory_kind('device')",
    "def f(mesh):\n    return mesh.devices\nf(mesh)",
    "def f(kind, names):\n    return Mesh(grid, names, axis_types=kind)",
    "getattr(jax.sharding, 'PositionalSharding', None)",
    "importlib.import_module('numpy').zeros(3)",
    "current = jax.sharding.get_abstract_mesh()\nif not current.empty:\n    NamedSharding(current, P('x'))",
    "with jax.sharding.use_abstract_mesh(AbstractMesh((8,), ('x',))):\n"
    "    assert jax.sharding.get_abstract_mesh().axis_names == ('x',)",
    "P('data') + P('model') + (None,)",
    "spec = P('data', None)\nif spec != P('data'):\n    P(*spec[1:])",
    "try:\n    jax.make_mesh((16,), ('x',))\nexcept ValueError:\n    pass",
]


def check(program: str) -> list[Finding]:
    text = source_from_text("program.py", SETUP + program + "\n")
    return [f for f in Linter(Settings(devices=8)).check_source(text) if f.span.line > SETUP.count("\n")]


@pytest.mark.parametrize(
    ("program", "code", "column", "message"), SAID, ids=[program for program, *_ in SAID]
)
def test_a_program_is_told_what_is_wrong_where(program: str, code: str, column: int, message: str) -> None:
    (finding,) = check(program)
    assert (finding.code, finding.span.column, finding.message) == (code, column, message)
    assert finding.severity is (Severity.WARNING if code == "SHL405" else Severity.ERROR)


@pytest.mark.parametrize("program", SILENT)
def test_nothing_is_said_of_what_runs(program: str) -> None:
    assert check(program) == []
