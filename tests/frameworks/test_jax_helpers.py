"""Helpers of JAX's own tests beside JAX itself: a module of tests that uses each."""

from __future__ import annotations

from pathlib import Path

from reports import found_by_shardlint, reported_by_pytest
from support.checking import check, codes

MODULE = """
import jax
import jax.numpy as jnp
import numpy as np
from absl.testing import absltest, parameterized
from jax._src import config, test_util as jtu
from jax._src.mesh import AxisType
from jax._src.pjit import pjit
from jax._src.sharding_impls import NamedSharding
from jax._src.util import curry, safe_map, safe_zip
from jax.sharding import PartitionSpec as P

jtu.request_cpu_devices(8)
map, zip = safe_map, safe_zip

@curry
def shapes(test, largest):
    return parameterized.named_parameters(
        {"testcase_name": f"_{n}", "mesh": (("x", n),), "n": n} for n in (1, 2, largest)
    )(jtu.with_mesh_from_kwargs(test))

def put(n, mesh, *entries):
    jax.device_put(jnp.ones(n), NamedSharding(mesh, P(*entries)))

class Tests(jtu.JaxTestCase):
    def setUp(self):
        super().setUp()
        self.enter_context(jtu.ignore_warning(category=DeprecationWarning))

    def test_1_even(self):
        put(8, jtu.create_mesh((4, 2), ("x", "y")), ("x", "y"))

    def test_1_uneven(self):
        put(6, jtu.create_mesh((4, 2), ("x", "y"), iota_order=True), "x")

    def test_1_needs16(self):
        put(7, jtu.create_mesh((16,), "x"), "x")

    @jtu.with_explicit_mesh((2, 2), ("x", "y"))
    def test_2_add(self, mesh):
        x = jax.device_put(np.arange(8.).reshape(4, 2), P("x", "y"))
        x + jax.device_put(np.arange(8.).reshape(4, 2), P("y", "x"))

    @parameterized.parameters("x", "y", "z")
    @jtu.with_explicit_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    def test_2_axes(self, axis, mesh):
        with config.enable_checks(True):
            jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P(axis)))(jnp.ones(8))

    @parameterized.parameters("x", "y")
    @jtu.with_explicit_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    def test_2_fine(self, axis, mesh):
        put(8, mesh, axis)

    @jtu.with_mesh([("x", 2), ("y", 4)])
    def test_3_legacy(self):
        pjit(lambda x: x, in_shardings=P("y"), out_shardings=None)(jnp.ones(6))

    @jtu.with_mesh([("x", 2), ("y", 4)])
    def test_3_even(self):
        pjit(lambda x: x, in_shardings=P("x"), out_shardings=None)(jnp.ones(6))

    def test_3_block(self):
        with jtu.with_mesh([("x", 4)]):
            pjit(lambda x: x, in_shardings=P("x"), out_shardings=None)(jnp.ones(6))

    @shapes(largest=4)
    def test_4_curried(self, mesh, n):
        pjit(lambda x: x, in_shardings=P("x"), out_shardings=None)(jnp.ones(6))

    @shapes(largest=6)
    def test_4_dividing(self, mesh, n):
        pjit(lambda x: x, in_shardings=P("x"), out_shardings=None)(jnp.ones(6))

    @jtu.sample_product(n=[4, 6], axis=["x", "y"])
    def test_5_product(self, n, axis):
        put(n, jtu.create_mesh((4, 2), ("x", "y")), axis)

    @jtu.sample_product([dict(n=4, axis="x"), dict(n=6, axis="y")])
    def test_5_rows(self, n, axis):
        put(n, jtu.create_mesh((4, 2), ("x", "y")), axis)

    def test_6_lists(self):
        mesh = jtu.create_mesh((4, 2), ("x", "y"))
        for n, axis in zip((4, 6), ("x", "y")):
            put(n, mesh, axis)
        map(lambda n: put(n, mesh, "x"), [4, 5])

    @jtu.run_on_devices("cpu", "tpu")
    @jtu.thread_unsafe_test()
    def test_6_runs(self):
        with self.assertRaisesRegex(ValueError, "divi"):
            put(6, jtu.create_mesh((4, 2), ("x", "y")), "x")
        put(6, jtu.create_mesh((4, 2), ("x", "y")), "x")

if __name__ == "__main__":
    absltest.main(testLoader=jtu.JaxTestLoader())
"""


def test_helpers(tmp_path: Path) -> None:
    path = tmp_path / "test_helpers.py"
    path.write_text(MODULE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    failed, ran = reported_by_pytest(path)
    assert len(ran) == 15
    assert failed == found_by_shardlint(path)
    assert len(failed) == 9


def test_a_block_in_a_helper_is_none_of_the_test() -> None:
    found = check(MODULE, "test_helpers.py")
    assert found
    assert "SHL801" not in codes(found)
