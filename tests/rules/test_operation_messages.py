"""What is said of operations on Explicit axes, of arguments and of logical names, and that JAX raises."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import pytest
import test_collective_messages
import test_messages
import test_shard_map_messages

from shardlint.api import Linter, Settings, source_from_text
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Finding

HEADER = """\
import flax.linen as nn
import jax, jax.numpy as jnp, numpy as np
from flax import nnx
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P
from jax.sharding import auto_axes, reshard
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
auto = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
turned = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
backwards = Mesh(np.array(jax.devices())[::-1].reshape(2, 4), ("data", "model"))
def on(*entries, shape=(8, 16)):
    return jnp.ones(shape, out_sharding=P(*entries))
def put(mesh, *entries, shape=(8, 16)):
    return jax.device_put(jnp.ones(shape), NamedSharding(mesh, P(*entries)))
"""

#: Lines under `jax.set_mesh(mesh)`, whose axes are Explicit.
ON_EXPLICIT_AXES = [
    (
        "on('data') + on('model')", "SHL703",
        "`+` wants operands sharded alike along each dimension, and gets f32[8@data, 16] and "
        'f32[8@model, 16]: dimension 0 of size 8 lies along "model"; '
        "jax.sharding.reshard brings one to the sharding of the other",
    ),
    (
        "on(None, 'model') @ on('model', shape=(16, 32))", "SHL704",
        "`@` wants out_sharding= for contracting dimensions that are both sharded, and gets "
        'f32[8, 16@model] and f32[16@model, 32]: dimension 1 of size 16 lies along "model"; '
        "pass out_sharding=P(...) where the function takes it, or "
        "reshard an operand: jax.sharding.reshard(x, P(...))",
    ),
    (
        "on('data').reshape(2, 2, 32)", "SHL705",
        "`reshape` wants out_sharding= for a reshape of a sharded dimension, and gets f32[8@data, 16]: "
        'dimension 0 of size 8 lies along "data"; reshard the array first: jax.sharding.reshard(x, P(...))',
    ),
    (
        "jax.lax.slice_in_dim(on('model'), 0, 7)", "SHL705",
        "`lax.slice_in_dim` wants a slice that leaves a sharded dimension divisible by its axes, and gets "
        'f32[8@model, 16]: dimension 0 of size 7 lies along "model" (4 devices); '
        "reshard the array first: jax.sharding.reshard(x, P(...))",
    ),
    (
        "jnp.dot(on(), on(shape=(16, 30)), out_sharding=P('data', 'model'))", "SHL706",
        '`jnp.dot` with out_sharding=P("data", "model"): dimension 1 of the result has size 30, '
        'which "model" (4 devices) does not divide; 28 or 32 would be split',
    ),
    (
        "jnp.dot(on(), on(shape=(16, 30)), out_sharding=P('data', 'data'))", "SHL706",
        '`jnp.dot` with out_sharding=P("data", "data") names "data" twice; '
        "a mesh axis splits one dimension only",
    ),
    (
        "jnp.dot(on(), on(shape=(16, 32)), out_sharding=P('data', 'modle'))", "SHL706",
        '`jnp.dot` with out_sharding=P("data", "modle") names "modle", which is no axis of the mesh; '
        'did you mean "model"?',
    ),
    (
        "jnp.dot(on(), on(shape=(16, 32)), out_sharding=P('data', None, 'model'))", "SHL706",
        '`jnp.dot` with out_sharding=P("data", None, "model"): the spec is longer than the rank of the '
        "result, 2; drop entries",
    ),
    (
        "jnp.dot(on(), on(shape=(16, 32)), out_sharding=P(P.UNCONSTRAINED))", "SHL706",
        "`jnp.dot` with out_sharding=P(P.UNCONSTRAINED) leaves dimension 0 to the compiler; "
        "name an Explicit axis, or None",
    ),
    (
        "with jax.set_mesh(auto): jnp.dot(jnp.ones((8, 16)), jnp.ones((16, 32)), out_sharding=P('data'))",
        "SHL706",
        '`jnp.dot` with out_sharding=P("data") names "data", which is no Explicit axis; make the mesh with '
        "axis_types=(AxisType.Explicit, ...), or use with_sharding_constraint",
    ),
    (
        "jax.jit(lambda a: a * 2)(put(turned, 'data'))", "SHL707",
        "`*` wants operands of the context's mesh, and gets f32[8@data, 16] on (data=4, model=2) "
        "under (data=2, model=4); put all arrays on one mesh, that of jax.set_mesh",
    ),
    (
        "jnp.zeros(8, out_sharding=NamedSharding(turned, P('data')))", "SHL709",
        "jnp.zeros(out_sharding=) takes the mesh of jax.set_mesh, (data=2, model=4), "
        "and this sharding is on (data=4, model=2)",
    ),
    (
        "auto_axes(jnp.dot)(on(), on(shape=(16, 32)))", "SHL711",
        "a function wrapped by `jax.sharding.auto_axes` wants `out_sharding=`; "
        "pass it to the wrapper, or with the call",
    ),
    (
        "nnx.Param(on(), out_sharding=NamedSharding(mesh, P('data')))", "SHL510",
        "nnx wants a NamedSharding on the mesh of its variable: mesh=, or the AbstractMesh that jax.set_mesh "
        "sets; pass P(...) alone, or the sharding's mesh too",
    ),
]  # fmt: skip

#: Lines without a mesh in context.
ELSEWHERE = [
    (
        "jax.jit(lambda a: a, in_shardings=NamedSharding(auto, P('data')))(put(auto, None, 'model'))",
        "SHL207",
        '`a` is committed to P(None, "model") on (data=2, model=4), but in_shardings say P("data") on '
        "(data=2, model=4); jax.jit moves no committed array: jax.device_put it there, "
        "or leave in_shardings out",
    ),
    (
        "jax.jit(lambda a: a, in_shardings=NamedSharding(auto, P('data')))(a=jnp.ones(8))", "SHL208",
        "`<lambda>` is jitted with in_shardings, and takes no keyword arguments: `a`; give them by position",
    ),
    (
        "jax.vmap(jnp.dot)(jnp.ones((8, 4)), jnp.ones((4, 8)))", "SHL209",
        "jax.vmap: argument 1 holds 4 examples along its mapped axis, but argument 0 holds 8",
    ),
    (
        "jax.make_array_from_single_device_arrays((8, 16), NamedSharding(auto, P('data')), "
        "[jnp.ones((4, 16))])", "SHL210",
        "1 array for 8 devices; give one array a device, each of a shard's shape",
    ),
    (
        "jax.jit(lambda a, b: a + b)(put(auto), put(backwards))", "SHL708",
        "`a` lies on 8 devices (0, 1, 2, 3, 4, 5, 6, 7), `b` on 8 devices (7, 6, 5, 4, 3, 2, 1, 0); "
        "a computation runs on one list of devices: jax.device_put both on one mesh",
    ),
    (
        "jnp.zeros(8, out_sharding=NamedSharding(mesh, P('data')))", "SHL709",
        "jnp.zeros(out_sharding=) takes the devices of the context for Explicit axes; "
        "set the mesh with jax.set_mesh",
    ),
    (
        "put(AbstractMesh((2,), ('data',)), 'data')", "SHL709",
        "device_put puts the array on an AbstractMesh, which has no devices; use a Mesh",
    ),
    (
        "jax.jit(jax.vmap(lambda a: jax.lax.with_sharding_constraint(a, NamedSharding(auto, P('data'))), "
        "spmd_axis_name='data'))(jnp.ones((8, 16)))", "SHL710",
        'spmd_axis_name gives "data" to the mapped dimension, and P("data") to another; '
        "a mesh axis splits one dimension only",
    ),
    (
        "jax.jit(jax.vmap(lambda a: jax.lax.with_sharding_constraint(a, NamedSharding(auto, P('data'))), "
        "spmd_axis_name='batch'))(jnp.ones((8, 16)))", "SHL710",
        'spmd_axis_name is "batch", and the mesh of this constraint has "data", "model"; '
        "use one mesh for both",
    ),
    (
        "nn.logical_to_mesh_axes(('mlp',), {'mlp': 'model'})", "SHL507",
        '{"mlp": "model"} is no sequence of rules; write them as pairs, ((name, mesh axes), ...)',
    ),
    (
        "nn.logical_to_mesh_axes(('mlp',), ('mlp', 'model'))", "SHL507",
        '"mlp" is no logical axis rule; write each as a pair, (name, mesh axes)',
    ),
    (
        "jax.sharding.use_abstract_mesh(mesh)", "SHL407",
        "use_abstract_mesh takes an AbstractMesh, not a Mesh; use mesh.abstract_mesh",
    ),
]  # fmt: skip

PROGRAMS = [
    *((f"{HEADER}with jax.set_mesh(mesh):\n    {line}\n", *said) for line, *said in ON_EXPLICIT_AXES),
    *((f"{HEADER}{line}\n", *said) for line, *said in ELSEWHERE),
]


def findings(program: str) -> list[Finding]:
    return Linter(Settings(devices=8)).check_source(source_from_text("program.py", program))


@pytest.mark.parametrize(("program", "code", "message"), PROGRAMS)
def test_what_is_said_and_that_jax_raises(program: str, code: str, message: str) -> None:
    (finding,) = findings(program)
    assert (finding.code, finding.message) == (code, message)
    verdict = rejection(finding)
    assert verdict is not None
    assert raised_by(program) == verdict.exception


def raised_by(program: str) -> str | None:
    """The class of the exception that the real JAX raises."""
    try:
        exec(program, {})
    except Exception as error:
        return type(error).__name__
    return None


def rejection(finding: Finding) -> Rejected | None:
    """The verdict that a finding reports, where JAX rejects."""
    verdict = None if finding.use is None else finding.use.verdict
    return verdict if isinstance(verdict, Rejected) else None


def test_every_cause_of_rejection_is_reported() -> None:
    programs = [program for program, *_ in PROGRAMS]
    for module in (test_collective_messages, test_shard_map_messages):
        lines = [said if isinstance(said, str) else said[0] for said in module.SAYS]
        programs += [f"{module.HEADER}{line}\n" for line in lines]
    found = [rejection(finding) for program in programs for finding in findings(program)]
    uses = [use.verdict for use, *_ in test_messages.SAYS]
    causes = {verdict.cause for verdict in (*found, *uses) if isinstance(verdict, Rejected)}
    # A mesh that repeats a name can end JAX's process: `test_repeated_axes` runs those in others.
    assert causes == set(Cause) - {Cause.REPEATED_AXIS}
