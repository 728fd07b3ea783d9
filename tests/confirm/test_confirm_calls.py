"""Calls that programs get wrong prove themselves: what inference writes down fails in the real JAX."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from support.checking import check
from support.stored_answers import stored_confirmer

from shardlint.confirm.confirmer import Confirmer
from shardlint.model.findings import Confirmation

pytestmark = pytest.mark.usefixtures("forked_workers")

HEAD = """\
import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
from flax import nnx
from jax.sharding import AxisType, AbstractMesh, Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
half = Mesh(np.array(jax.devices()[:4]), ("data",))
turned = Mesh(np.array(jax.devices())[::-1].reshape(2, 4), ("data", "model"))
RULES = (("batch", "data"),)


def put(on, *shape):
    return jax.device_put(jnp.ones(shape), NamedSharding(on, P("data")))


"""

#: Programs, the code of their finding, and what JAX raises; None where it accepts them in silence.
PROGRAMS = [
    ("jax.jit(lambda x, y: x @ y.T)(put(mesh, 8, 4), put(half, 8, 4))", "SHL708", "ValueError"),
    ("jax.jit(lambda x, y: x @ y.T)(put(mesh, 8, 4), put(turned, 8, 4))", "SHL708", "ValueError"),
    ("jax.jit(lambda x, y: x @ y.T)(put(turned, 8, 4), put(half, 8, 4))", "SHL708", "ValueError"),
    (
        "jax.jit(lambda x, y: x + y)(put(half, 8), jax.device_put(jnp.ones(8), jax.devices()[5]))",
        "SHL708",
        "ValueError",
    ),
    (
        "with jax.set_mesh(mesh):\n    jax.jit(lambda x: x + 1)(put(half, 8))",
        "SHL708",
        "ValueError",
    ),
    (
        "f = jax.jit(lambda x, y: x, in_shardings=(NamedSharding(mesh, P()), None))\n"
        "f(jnp.ones(4), y=jnp.ones(4))",
        "SHL208",
        "ValueError",
    ),
    ("jax.vmap(lambda x, y: x)(jnp.ones(3), jnp.ones((4, 2)))", "SHL209", "ValueError"),
    ("jax.vmap(lambda x, y: x, in_axes=(0, 1))(jnp.ones(3), {'a': jnp.ones(3)})", "SHL209", "ValueError"),
    ("jax.vmap(lambda x, y: x, in_axes=(0, None, 0))(jnp.ones(3), 2.0)", "SHL209", "ValueError"),
    ("jax.vmap(lambda x: x, axis_size=4)(jnp.ones(3))", "SHL209", "ValueError"),
    ("jax.vmap(lambda x: x, in_axes=None)(jnp.ones(3))", "SHL209", "ValueError"),
    ("jax.pmap(lambda x: x)(jnp.ones((16, 2)))", "SHL209", "ValueError"),
    ("jax.pmap(lambda x: x)(jnp.ones((9, 2)))", "SHL209", "IndivisibleError"),
    (
        "jax.make_array_from_single_device_arrays((8, 4), NamedSharding(mesh, P('data')), "
        "[jax.device_put(jnp.ones((8, 4)), d) for d in jax.devices()])",
        "SHL210",
        "ValueError",
    ),
    (
        "jax.make_array_from_single_device_arrays((8, 4), NamedSharding(turned, P('data')), "
        "[jax.device_put(jnp.ones((4, 4)), d) for d in jax.devices()[:3]])",
        "SHL210",
        "ValueError",
    ),
    (
        "f = lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, ('model', 'data'))))\n"
        "jax.jit(jax.vmap(f, spmd_axis_name='model'))(jnp.ones((8, 8, 8)))",
        "SHL710",
        "ValueError",
    ),
    ("jax.jit(lambda x, n: x, static_argnums=1)(jnp.ones(8), [jnp.ones(1)])", "SHL215", "ValueError"),
    (
        "class Size:\n"
        "    def __eq__(self, other): return True\n"
        "jax.pmap(lambda n, x: x, static_broadcasted_argnums=0)(Size(), jnp.ones((8, 2)))",
        "SHL215",
        "ValueError",
    ),
    ("jax.device_put(jnp.ones(8), NamedSharding(AbstractMesh((2,), ('x',)), P()))", "SHL709", "ValueError"),
    (
        "jax.set_mesh(jax.make_mesh((8,), ('data',), (AxisType.Explicit,)))\n"
        "jax.sharding.auto_axes(lambda x: x)(jnp.ones(8))",
        "SHL711",
        "TypeError",
    ),
    (
        "jax.set_mesh(mesh)\njax.sharding.explicit_axes(lambda x: x)(jnp.ones(8))",
        "SHL711",
        "TypeError",
    ),
    (
        "f = jax.shard_map(lambda x: x, mesh=mesh, in_specs=P('data'), out_specs=P('data'))\n"
        "f(x=jnp.ones(8))",
        "SHL307",
        "TypeError",
    ),
    ("jax.shard_map(lambda x: x, out_specs=P())(jnp.ones(8))", "SHL307", "ValueError"),
    (
        "def rows(x):\n"
        "    inner = jax.shard_map(abs, mesh=mesh, in_specs=P(), out_specs=P(), axis_names={'model'})\n"
        "    return inner(x)\n"
        "row = P('data')\n"
        "outer = jax.shard_map(rows, mesh=mesh, in_specs=row, out_specs=row, axis_names={'data'})\n"
        "jax.jit(outer)(jnp.ones(8))",
        "SHL307",
        "ValueError",
    ),
    (
        "f = jax.shard_map(lambda x: x.sum(), mesh=mesh, in_specs=P('data', 'model'), out_specs=P(), "
        "check_vma=False)\nf(jnp.ones((8, 8)))",
        "SHL311",
        None,
    ),
    (
        "explicit = jax.make_mesh((8,), ('data',), (AxisType.Explicit,))\n"
        "jax.set_mesh(explicit)\n"
        "f = jax.shard_map(lambda x: x.sum(), in_specs=P('data'), out_specs=P(), check_vma=False)\n"
        "f(jnp.ones(8, out_sharding=P('data')))",
        "SHL311",
        None,
    ),
    (
        "f = jax.shard_map(lambda x: x, mesh=mesh, in_specs=(None,), out_specs=P())\nf(jnp.ones((8, 8)))",
        "SHL312",
        None,
    ),
    (
        "with jax.set_mesh(jax.make_mesh((8,), ('data',), (AxisType.Explicit,))):\n"
        "    jax.shard_map(lambda x: x, in_specs=(None,), out_specs=P('data'))(jnp.ones(8))",
        "SHL307",
        "NotImplementedError",
    ),
    (
        "with jax.set_mesh(jax.make_mesh((8,), ('data',), (AxisType.Explicit,))):\n"
        "    f = jax.shard_map(lambda x: x, in_specs=(None,), out_specs=P('data'))\n"
        "    jax.jit(f)(jnp.ones(8))",
        "SHL307",
        "NotImplementedError",
    ),
    ("@jax.set_mesh(mesh)\ndef f(x):\n    return x", "SHL407", "TypeError"),
    ("@jax.sharding.use_abstract_mesh(mesh.abstract_mesh)\ndef f(x):\n    return x", "SHL407", "TypeError"),
    ("@mesh.abstract_mesh\ndef f(x):\n    return x", "SHL407", "TypeError"),
    (
        "f = jax.shard_map(lambda x: x, mesh=mesh, in_specs=P(), out_specs=P(), check_rep=False)",
        "SHL804",
        "TypeError",
    ),
    (
        "nn.with_logical_constraint(jnp.ones((8, 8)), ('batch', 'heads'), RULES, mesh=mesh, "
        "fallback=nn.spmd.RulesFallback.NO_CONSTRAINT)",
        "SHL505",
        None,
    ),
    (
        "init = nn.with_partitioning(nn.initializers.ones, (None, 'model'))\n"
        "Stack = nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True})\n"
        "Stack(4, kernel_init=init).init(jax.random.key(0), jnp.ones((2, 4)))",
        "SHL509",
        "PartitioningUnspecifiedError",
    ),
    (
        "layer = nn.Dense(4, kernel_init=nn.with_partitioning(jnp.ones((8, 4)), (None, 'model')))\n"
        "layer.init(jax.random.key(0), jnp.ones((2, 8)))",
        "SHL510",
        "TypeError",
    ),
    ("nnx.Param(jnp.ones((8, 8)), out_sharding=('data', 'model'))", "SHL206", "ValueError"),
    (
        "with jax.set_mesh(jax.make_mesh((8,), ('data',), (AxisType.Explicit,))):\n"
        "    init = nn.with_partitioning(nn.initializers.ones, ('data', None))\n"
        "    nn.Dense(8, kernel_init=init).init(jax.random.key(0), jnp.ones((8, 8)))",
        "SHL702",
        "AssertionError",
    ),
    ("jax.jit(lambda x: x, in_shardings=P('data', 'data'))", "SHL102", "DuplicateSpecError"),
    (
        "nn.Dense(4, kernel_init=jnp.ones((8, 4))).init(jax.random.key(0), jnp.ones((2, 8)))",
        "SHL510",
        "TypeError",
    ),
]


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with stored_confirmer() as confirmer:
        yield confirmer


@pytest.mark.parametrize(("program", "code", "exception"), PROGRAMS)
def test_a_wrong_call_proves_itself(
    confirmer: Confirmer, program: str, code: str, exception: str | None
) -> None:
    findings = [f for f in check(HEAD + program) if f.code == code]
    (finding,) = confirmer.confirm(findings)
    assert finding.confirmation is Confirmation.CONFIRMED
    said = "accepted, in silence" if exception is None else exception
    assert finding.confirmed_by is not None and finding.confirmed_by.endswith(f": {said}")


def test_the_worker_still_answers_what_is_stored(confirmer: Confirmer) -> None:
    """Of four programs, which are others each time."""
    chosen = random.SystemRandom().sample([(HEAD + program, code) for program, code, _ in PROGRAMS], 4)
    with Confirmer() as worker:
        for program, code in chosen:
            found = check(program)
            findings = [finding for finding in found if finding.code == code]
            assert worker.confirm(findings) == confirmer.confirm(findings), program
