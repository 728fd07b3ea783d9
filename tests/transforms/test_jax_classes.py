"""``isinstance`` of JAX's classes, and whether a mesh is set, beside what JAX says."""

from __future__ import annotations

from typing import Any

import pytest
from probing import evaluate

from shardlint.inference.domain.values import Const, Tuple
from shardlint.laws.core.values import Unknown

PRELUDE = """\
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("x", "y"))
x = jax.device_put(jnp.zeros((8, 8)), NamedSharding(mesh, P("x")))
"""
VALUES = (
    "None", "1", "'x'", "('x', None)", "['x']", "{'x': 1}", "P('x')", "mesh", "mesh.abstract_mesh",
    "AbstractMesh((2,), ('x',))", "NamedSharding(mesh, P('x'))", "x", "x.sharding", "np.zeros(3)", "x.shape",
    "jax.ShapeDtypeStruct((2,), jnp.float32)", "jax.eval_shape(lambda: jnp.zeros(2))", "lambda: 1",
)  # fmt: skip
CLASSES = (
    "jax.sharding.Sharding", "NamedSharding", "jax.sharding.SingleDeviceSharding", "P", "Mesh",
    "AbstractMesh", "jax.Array", "np.ndarray", "jax.ShapeDtypeStruct", "jax.core.Tracer",
    "(jax.sharding.Sharding, P)",
)  # fmt: skip


def test_instances_of_classes_of_jax() -> None:
    rows = [f"isinstance({value}, {cls})" for value in VALUES for cls in CLASSES]
    probes = "".join(f"probe({i}, {row})\n" for i, row in enumerate(rows))
    real: dict[int, Any] = {}
    exec(PRELUDE + probes, {"probe": real.__setitem__})
    found = evaluate(PRELUDE + probes).probes
    known = {i for i, value in found.items() if isinstance(value, Const)}
    assert {rows[i]: found[i] for i in known} == {rows[i]: Const(real[i]) for i in known}
    assert len(known) > 0.85 * len(rows), [row for i, row in enumerate(rows) if i not in known]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("sets", "known"),
    [
        ("jax.set_mesh(jax.make_mesh(sizes, ('x', 'y')))", True),
        ("jax.set_mesh(Mesh(mesh_utils.create_device_mesh(sizes), ('x', 'y')))", True),
        ("jax.set_mesh(jax.make_mesh((8,), ('x',)) if wide else mesh)", True),
        ("if wide:\n    jax.set_mesh(mesh)\nelse:\n    jax.set_mesh(jax.make_mesh((8,), ('x',)))", True),
        ("if wide:\n    jax.set_mesh(mesh)", False),
        ("if wide:\n    jax.set_mesh(mesh)\nelse:\n    jax.set_mesh(None)", False),
    ],
)
def test_a_mesh_that_is_set_whichever_is_not_empty(wide: bool, sets: str, known: bool) -> None:
    asks = "sizes = (2, 4)\nif wide:\n    sizes = (8, 1)\n{}\nprobe(0, {}.empty)\n"
    text = PRELUDE + asks.format(sets, "jax.sharding.get_abstract_mesh()")
    real: dict[int, Any] = {}
    import jax

    try:
        exec(text, {"probe": real.__setitem__, "wide": wide})
    finally:
        jax.set_mesh(None)
    (value,) = evaluate(text, {"wide": Unknown("the caller's")}).probes.values()
    assert value == Const(real[0]) if known else isinstance(value, Unknown)


@pytest.mark.parametrize(
    "text",
    [
        "m = pxla.thread_resources.env.physical_mesh\nprobe(0, m.empty)",
        "with mesh:\n    probe(0, pxla.thread_resources.env.physical_mesh.axis_names)",
        "with mesh:\n    pass\nprobe(0, pxla.thread_resources.env.physical_mesh.empty)",
        "with jax.set_mesh(mesh):\n    probe(0, pxla.thread_resources.env.physical_mesh.empty)",
        "probe(0, jax._src.mesh.thread_resources.env.physical_mesh.empty)",
    ],
)
def test_the_mesh_of_a_with_block(text: str) -> None:
    text = f"{PRELUDE}import jax._src.mesh\nfrom jax.interpreters import pxla\n{text}\n"
    real: dict[int, Any] = {}
    exec(text, {"probe": real.__setitem__})
    (value,) = evaluate(text).probes.values()
    if isinstance(value, Tuple):
        assert tuple(item.value for item in value.items if isinstance(item, Const)) == real[0]
    else:
        assert value == Const(real[0])
