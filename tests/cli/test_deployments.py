"""Programs that leave their mesh to the caller, checked on the meshes that a project deploys on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from shardlint.api import Linter, load_settings
from shardlint.model.findings import Severity

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import mesh_utils
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
"""
#: Where a finding says on which meshes it is so.
ON = re.compile(r" \(on .*$")
MESHES = """\
[meshes]
v5e-256 = {data = 16, model = 16}
small = {data = 4, model = 2}
serve = {tp = 8}
"""


def found(tmp_path: Path, program: str, config: str = MESHES) -> list[str]:
    """The errors of a program: line, code, and on which meshes."""
    (tmp_path / "shardlint.toml").write_text(config)
    path = tmp_path / "program.py"
    path.write_text(HEAD + program)
    report = Linter(load_settings(str(path))).check_paths([str(path)])
    lines = HEAD.count("\n")
    errors = [f for f in report.findings if f.severity is Severity.ERROR]
    return [f"{f.span.line - lines} {f.code}{''.join(ON.findall(f.message))}" for f in errors]


@pytest.mark.parametrize(
    ("program", "errors"),
    [
        # 24 rows: 16 devices do not divide them, 4 do; and no mesh of theirs has "modle".
        (
            "def f(mesh):\n"
            "    jax.device_put(jnp.zeros((24, 8)), NamedSharding(mesh, P('data')))\n"
            "    jax.device_put(jnp.zeros((24, 8)), NamedSharding(mesh, P(None, 'modle')))\n",
            [
                "2 SHL202 (on v5e-256 (data=16, model=16))",
                "3 SHL103 (on v5e-256 (data=16, model=16), small (data=4, model=2) and serve (tp=8))",
            ],
        ),
        # What is wrong on any mesh says nothing of one.
        ("def f(x):\n    return jax.lax.with_sharding_constraint(x, P(('data', 'data')))\n", ["2 SHL102"]),
        # Each spec is meant for the mesh that has its axes.
        (
            "def f(mesh, x):\n"
            "    a = jax.device_put(x, NamedSharding(mesh, P('tp')))\n"
            "    b = jax.device_put(x, NamedSharding(mesh, P('data', 'model')))\n"
            "    return jax.device_put(jnp.zeros(12), NamedSharding(mesh, P('tp')))\n",
            ["4 SHL202 (on serve (tp=8))"],
        ),
        # A mesh of the program is nearer than any other.
        (
            "mesh = jax.make_mesh((2,), ('rows',))\n"
            "def f(x):\n    return jax.device_put(x, NamedSharding(mesh, P('rows')))\n",
            [],
        ),
        # What a mesh of the program has, a spec for a mesh of the caller's may be meant for.
        (
            "class Layer:\n"
            "    def __init__(self, devices):\n        self.mesh = Mesh(devices, ('expert', 'tensor'))\n"
            "    def call(self, x):\n"
            "        with jax.set_mesh(self.mesh):\n            return self.place(x)\n"
            "    def place(self, x):\n        return jax.device_put(x, P('expert', None))\n"
            "    def wrong(self, x):\n        return jax.device_put(x, P('experts', None))\n",
            ["10 SHL103 (on v5e-256 (data=16, model=16), small (data=4, model=2) and serve (tp=8))"],
        ),
        # Nothing said of the types of its axes: neither of these is claimed.
        (
            "def f(x):\n"
            "    x = jax.sharding.reshard(x, P('data'))\n"
            "    return jax.lax.with_sharding_constraint(x, P('data'))\n",
            [],
        ),
        # A mesh that JAX rejects is none: one mistake.
        (
            "def f(x):\n"
            "    mesh = Mesh(jax.devices(), ('data', 'model'))\n"
            "    return jax.device_put(jnp.zeros(3), NamedSharding(mesh, P('data')))\n",
            ["2 SHL401"],
        ),
        (
            "jax.config.update('jax_num_cpu_devices', 8)\n"
            "mesh = Mesh(np.array(jax.devices()).reshape(4, 1), ('data', 'model'))\n"
            "other = Mesh(mesh_utils.create_device_mesh((3, 1)), ('data', 'model'))\n"
            "with jax.set_mesh(mesh):\n    jax.device_put(jnp.zeros(3), P('data'))\n"
            "jax.device_put(jnp.zeros(3), NamedSharding(other, P('data')))\n",
            ["2 SHL404", "3 SHL403"],
        ),
        # `with mesh:` names a mesh: none is assumed that its caller might have set besides.
        (
            "def f(spec):\n"
            "    with Mesh(np.array(jax.devices()), ('rows',)):\n"
            "        x = jax.lax.with_sharding_constraint(jnp.zeros((8, 8)), P('rows'))\n"
            "        return pjit(lambda x: x, out_shardings=spec)(x)\n"
            "f(P('rows'))\n",
            [],
        ),
    ],
)
def test_deployments(tmp_path: Path, program: str, errors: list[str]) -> None:
    assert found(tmp_path, program) == errors


def test_sizes_are_those_of_the_deployment_where_only_names_are_told(tmp_path: Path) -> None:
    program = (
        "def f(cfg):\n"
        "    mesh = Mesh(cfg.devices, ('data', 'model'))\n"
        "    return jax.device_put(jnp.zeros((16, 8)), NamedSharding(mesh, P(None, 'model')))\n"
    )
    typed = MESHES.replace("16}", '16, axis-types = "auto"}')
    assert found(tmp_path, program, typed) == ["3 SHL202 (on v5e-256 (data=16, model=16))"]
    # Beside a mesh of Explicit axes, which the caller may have set, JAX asks something else first.
    assert found(tmp_path, program) == []


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("program.py", True), ("latest.py", True), ("contest_data.py", True), ("testing/program.py", True),
        ("test_program.py", False), ("program_test.py", False), ("conftest.py", False),
        ("tests/program.py", False), ("model/test/program.py", False),
    ],
)  # fmt: skip
def test_no_deployment_runs_tests(tmp_path: Path, name: str, counts: bool) -> None:
    """Not even where the project itself lies in a folder of that name; a mesh of the command line counts."""
    root = tmp_path / "tests"
    path = root / name
    path.parent.mkdir(parents=True)
    (root / "shardlint.toml").write_text("[meshes]\nv5e = {data = 16, model = 16}\n")
    path.write_text(
        f"{HEAD}def place(mesh):\n"
        '    return jax.device_put(jnp.ones((8, 12)), NamedSharding(mesh, P("data")))\n'
    )
    settings = load_settings(str(path))
    for on_command_line in (False, True):
        if on_command_line:
            settings = replace(settings, mesh=dict(settings.meshes)["v5e"])
        findings = Linter(settings).check_paths([str(path)]).findings
        errors = [f.code for f in findings if f.severity is Severity.ERROR]
        assert errors == (["SHL202"] if counts or on_command_line else [])


def test_types_that_are_said_count(tmp_path: Path) -> None:
    program = "@jax.jit\ndef f(x):\n    return jax.lax.with_sharding_constraint(x, P('data'))\n"
    typed = '[meshes]\npod = {data = 16, axis-types = "explicit"}\n'
    assert found(tmp_path, program) == []
    program = "@jax.jit\ndef f(x):\n    return jax.sharding.reshard(x, P('data'))\n"
    assert found(tmp_path, program, typed) == []
    assert found(tmp_path, program, typed.replace("explicit", "auto")) == ["3 SHL701 (on pod (data=16))"]


def test_an_assumed_mesh_is_not_held_against_one_of_the_program(tmp_path: Path) -> None:
    program = (
        "mesh = jax.make_mesh((2, 4), ('data', 'model'))\n"
        "def f(g):\n"
        "    x = jax.device_put(jnp.zeros((32, 16)), NamedSharding(mesh, P('data')))\n"
        "    y = jax.shard_map(lambda x: x, mesh=mesh, in_specs=P('data'), out_specs=P('data'))\n"
        "    return x * 2 + y(x)\n"
    )
    typed = "[meshes]\nv5e = {data = 4, model = 4, axis-types = 'explicit'}\n"
    assert found(tmp_path, program, typed) == []
