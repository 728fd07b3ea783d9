"""Modules that run their own test cases, other than with `unittest.main()`: beside unittest itself."""

from __future__ import annotations

import os
from typing import Any

import pytest
from support.checking import errors, places

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

PROGRAM = """
import io, unittest
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

class Rows(unittest.TestCase):
    def setUp(self):
        self.mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

    def put(self, rows):
        return jax.device_put(jnp.ones((rows, 2)), NamedSharding(self.mesh, P("x")))

    def test_rows(self):
        self.put(8)
        self.put(ROWS)
"""
RUNNERS = (
    "result = unittest.TestResult()\nRows('test_rows').run(result)",
    "result = unittest.TestSuite([Rows('test_rows')]).run(unittest.TestResult())",
    "tests = unittest.TestLoader().loadTestsFromTestCase(Rows)\n"
    "result = unittest.TextTestRunner(stream=io.StringIO()).run(tests)",
    "tests = unittest.defaultTestLoader.loadTestsFromTestCase(Rows)\n"
    "result = unittest.TextTestRunner(io.StringIO()).run(tests)",
)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("rows", (6, 12))
def test_what_a_runner_reports(runner: str, rows: int) -> None:
    program = f"{PROGRAM.replace('ROWS', str(rows))}\n{runner}\n"
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, "program.py", "exec"), scope)
    assert len(scope["result"].errors) == (rows % 4 > 0)
    assert bool(places(errors(program))) == (rows % 4 > 0)
