"""What is said of calls of shard_map and of their bodies, and where."""

from __future__ import annotations

import pytest

from shardlint.api import Linter, Settings, source_from_text

HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental.shard_map import shard_map as old_map
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jnp.ones((8, 64))
def body(a):
    return a
"""
RULES = {"SHL306", "SHL307", "SHL311", "SHL312"}

SAYS = {
    "jax.shard_map(f=body, mesh=mesh, in_specs=P(), out_specs=P())": (
        "SHL307", "shard_map takes `f` by position, not by keyword",
    ),
    "jax.shard_map(3, mesh=mesh, in_specs=P(), out_specs=P())": (
        "SHL307", "shard_map maps a function, not 3",
    ),
    "old_map(body, mesh, P())": ("SHL307", "shard_map needs out_specs="),
    "jax.smap(body, in_axes=[0], out_axes=0, axis_name='data')": (
        "SHL307", "in_axes= of smap must be an integer, None or a tuple of them, not [0]",
    ),
    "jax.smap(body, in_axes=0, out_axes=P(), axis_name='data')": (
        "SHL307", "out_axes= of smap hold integers or None, not P()",
    ),
    "jax.shard_map(body, mesh='mesh', in_specs=P(), out_specs=P())(x)": (
        "SHL307", 'mesh= must be a Mesh, not "mesh"',
    ),
    "jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P(), axis_names={'z'})(x)": (
        "SHL307", 'axis_names= holds "z", which the mesh (data=2, model=4) does not have',
    ),
    "jax.shard_map(body, out_specs=P())(x)": (
        "SHL307", "there is no mesh: pass mesh=, or call it under jax.set_mesh",
    ),
    "jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P('model'), axis_names={'data'})(x)": (
        "SHL307", 'out_specs name "model", but axis_names= makes only "data" Manual',
    ),
    "jax.shard_map(lambda a: a[0, 0, 0], mesh=mesh, in_specs=P('data'), out_specs=P())(x)": (
        "SHL306", "`x[...]` fails in the body: 3 indices into rank 2; "
        "`a` is one shard there, of shape (4, 64), of an array of shape (8, 64)",
    ),
    "jax.shard_map(lambda a: a + jnp.ones(8), mesh=mesh, in_specs=P(), out_specs=P())(x)": (
        "SHL306", "`+` fails in the body: sizes 64 and 8 differ; `a` is one shard there, of shape (8, 64)",
    ),
    "jax.shard_map(lambda a: a, mesh=mesh, in_specs=None, out_specs=P())(3.0)": None,
    "jax.shard_map(lambda a: a.sum(), mesh=mesh, in_specs=P('data'), out_specs=P(), check_vma=False)(x)": (
        "SHL311",
        'the result of `<lambda>` varies over "data", which its spec does not name, and check_vma=False lets '
        "it pass: the result is that of one device; reduce it with jax.lax.psum or pmean, or name the axis "
        "in out_specs",
    ),
    "jax.shard_map(lambda a: lax.pmean(a, 'data'), mesh=mesh, in_specs=P('data'), out_specs=P(),"
    " check_vma=False)(x)": None,
    "(lambda a: a.reshape(3, 3))(x)": None,
    "jax.jit(lambda a: a.reshape(3, 3))(x)": None,
}  # fmt: skip


@pytest.mark.parametrize("call", SAYS)
def test_what_is_said(call: str) -> None:
    found = Linter(Settings(devices=8)).check_source(source_from_text("program.py", HEADER + call + "\n"))
    ours = [finding for finding in found if finding.code in RULES]
    says = [(finding.code, finding.message) for finding in ours]
    expected = SAYS[call]
    assert says == ([] if expected is None else [expected])
    assert all(finding.span.line == HEADER.count("\n") + 1 for finding in ours)
    others = {finding.code for finding in found} - RULES
    assert others <= {"SHL801"}, found
