"""Fixes of names from other releases: what is rewritten runs as before, and has no finding left."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence

import pytest
from support import checking

from shardlint.model.findings import Applicability, Edit, Finding

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
HEADER = """
import jax, numpy as np
import jax.numpy as jnp
from functools import partial
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()[:1]), ("x",))
split = NamedSharding(mesh, P("x"))
"""


def check(program: str, target: str = "0.10.2") -> list[Finding]:
    found = checking.check(program, target=target, devices=None)
    return [finding for finding in found if finding.code in ("SHL801", "SHL802", "SHL804")]


def applied(program: str, edits: Sequence[Edit]) -> str:
    lines = program.split("\n")
    for edit in sorted(edits, key=lambda edit: edit.span.order(), reverse=True):
        span = edit.span
        before, after = (
            lines[span.line - 1][: span.column - 1],
            lines[span.end_line - 1][span.end_column - 1 :],
        )
        lines[span.line - 1 : span.end_line] = f"{before}{edit.text}{after}".split("\n")
    return "\n".join(lines)


def runs(program: str) -> object:
    """What the program leaves in ``y``."""
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(program, "program.py", "exec"), names)
    return np_value(names["y"])


def np_value(value: object) -> object:
    import numpy as np

    return np.asarray(value).tolist()


#: A program that uses an old name, and whether its fix is safe; it runs on the newest JAX unless it is gone.
OLD = {
    "shard_map": (
        """
        from jax.experimental.shard_map import shard_map
        f = shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_rep=False)
        y = f(jnp.ones(4))
        """,
        SAFE,
    ),
    "shard_map by position, after letters of several bytes": (
        """
        from jax.experimental.shard_map import shard_map as smap
        é = "ü"; y = smap(lambda x: 2 * x, mesh, P("x"), P("x"), False)(jnp.ones(4))
        """,
        SAFE,
    ),
    "shard_map through partial, beside other imports": (
        """
        if True:
            from jax.experimental.shard_map import shard_map
        @partial(shard_map, mesh=mesh, in_specs=(P("x"),), out_specs=P("x"), check_rep=True)
        def double(x):
            return 2 * x
        y = double(jnp.ones(4))
        """,
        SAFE,
    ),
    "shard_map that is passed on": (
        """
        from jax.experimental.shard_map import shard_map
        maps = [shard_map]
        y = maps[0](lambda x: x, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(jnp.ones(4))
        """,
        UNSAFE,
    ),
    "pjit": ("from jax.experimental.pjit import pjit\ny = pjit(lambda x: 2 * x)(jnp.ones(4))", SAFE),
    "pjit with shardings": (
        """
        from jax.experimental.pjit import pjit
        y = pjit(lambda x: 2 * x, in_shardings=split)(jnp.ones(4))
        """,
        UNSAFE,
    ),
    "pjit as an attribute": (
        "import jax.experimental.pjit\ny = jax.experimental.pjit.pjit(lambda x: 2 * x)(jnp.ones(4))",
        SAFE,
    ),
    "with mesh": (
        """
        with mesh:
            y = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P("x")))(jnp.ones(4))
        """,
        UNSAFE,
    ),
    "gone: check_rep": (
        'f = jax.shard_map(lambda x: x, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_rep=False)\n'
        "y = f(jnp.ones(4))",
        SAFE,
    ),
    "gone: a bound of clip": ("y = jnp.clip(jnp.ones(4), a_max=2)", SAFE),
    "gone: interpolation": ("y = jnp.percentile(jnp.ones(4), 50, interpolation='linear')", SAFE),
    "gone: newshape": ("y = jnp.reshape(jnp.ones(4), newshape=(2, 2))", SAFE),
    "gone: tree_map": ("y = jax.tree_map(lambda x: 2 * x, jnp.ones(4))", SAFE),
    "gone: pvary": (
        """
        from jax import lax
        f = lambda x: x + lax.pvary(jnp.ones(4), axis_name=("x",),)
        y = jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(jnp.ones(4))
        """,
        SAFE,
    ),
    "gone: pvary imported": (
        """
        from jax.lax import pvary
        f = lambda x: x + pvary(jnp.ones(4), "x")
        y = jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(jnp.ones(4))
        """,
        SAFE,
    ),
    "gone: use_mesh": ("with jax.sharding.use_mesh(mesh):\n    y = jnp.ones(4)", SAFE),
    "gone: use_mesh imported": (
        "from jax.sharding import use_mesh, SingleDeviceSharding\nwith use_mesh(mesh):\n    y = jnp.ones(4)",
        SAFE,
    ),
    "gone: a synonym": ("y = jnp.product(jnp.ones(4))", SAFE),
    "gone: several trees": ("y = jax.tree_multimap(lambda a, b: a + b, jnp.ones(4), jnp.ones(4))", SAFE),
    "gone: the module config": (
        "from jax.config import config\nconfig.update('jax_enable_x64', False)\ny = jnp.ones(4)",
        SAFE,
    ),
    "gone: a class of jax.core": ("from jax.core import Jaxpr\ny = 1 if Jaxpr else 0", SAFE),
    "gone: a module": ("from jax.experimental import stax\ny = jnp.ones(1) if stax.Relu else 0", SAFE),
    "gone: an annotation": ("from jax.random import KeyArray\ny: KeyArray = jnp.ones(4)", SAFE),
    "gone: PartitionSpec": (
        "from jax.experimental import PartitionSpec\n"
        "y = jax.device_put(jnp.ones(4), NamedSharding(mesh, PartitionSpec('x')))",
        SAFE,
    ),
}


@pytest.mark.parametrize("name", OLD)
def test_a_fix_leaves_nothing_to_find_and_what_the_program_does(name: str) -> None:
    written, applicability = OLD[name]
    program = HEADER + textwrap.dedent(written)
    findings = check(program)
    assert findings
    (finding,) = findings
    assert finding.fix is not None
    assert finding.fix.applicability is applicability
    repaired = applied(program, finding.fix.edits)
    assert check(repaired) == []
    after = runs(repaired)
    if not name.startswith("gone"):
        assert after == runs(program)


@pytest.mark.parametrize(
    "written",
    [
        "from jax.experimental.shard_map import shard_map\nf = shard_map(g, mesh=m, auto=frozenset())",
        "from jax.experimental.shard_map import shard_map\nf = shard_map(g, *specs)",
        "from jax.experimental.shard_map import shard_map\nf = shard_map(g, **options)",
        "from jax.experimental import shard_map\nf = shard_map.shard_map",
        "import jax.sharding as s\nwith s.use_mesh(m): pass",
        "from jax.lax import pvary\nf = map(pvary, specs)",
        "x = 1; from jax.sharding import use_mesh, Mesh",
        "from jax.sharding import PositionalSharding",
    ],
)
def test_what_is_of_another_form_has_no_fix(written: str) -> None:
    program = f"def use(g, m, specs, options):\n{textwrap.indent(written, '    ')}\n"
    findings = check(program)
    assert findings
    assert [finding.fix for finding in findings] == [None] * len(findings)


def test_a_fix_writes_only_what_all_releases_have() -> None:
    program = "import jax\nwith jax.sharding.use_mesh(None):\n    pass\n"
    assert [finding.fix is None for finding in check(program, ">=0.6")] == [True]
    assert [finding.fix is None for finding in check(program, ">=0.7.1")] == [False]
