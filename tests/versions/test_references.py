"""Removed names wherever they stand: what is reached or not, what guards them, and what comes after them."""

from __future__ import annotations

import textwrap

import pytest
from support import checking

from shardlint.api import Linter, Settings, source_from_cells
from shardlint.laws.versions import parse_target
from shardlint.model.findings import Finding, Severity

OF_NAMES = ("SHL801", "SHL802", "SHL803", "SHL804")


def check(program: str, target: str = "0.12.0") -> list[Finding]:
    return checking.check(textwrap.dedent(program), target=target)


def told(program: str, target: str = "0.12.0") -> list[tuple[str, Severity, int]]:
    return [(f.code, f.severity, f.span.line) for f in check(program, target) if f.code in OF_NAMES]


UNGUARDED = {
    "a branch": "import jax\ndef f(x, y):\n    if y:\n        return jax.tree_map(x, y)\n",
    "an import": "def f():\n    if g():\n        from jax import tree_map\n",
    "another name": "import jax as j\ndef f(x):\n    for y in x:\n        if y: j.tree_map(y, x)\n",
    "a test of something else": "import jax\ndef f(x):\n    if hasattr(x, 'a'): jax.tree_map(x, x)\n",
    "another exception": (
        "import jax\ndef f(x):\n    try:\n        if x: jax.tree_map(x, x)\n    except ValueError: pass\n"
    ),
    "an argument": (
        "import jax\nfrom functools import partial\ndef f(x):\n    if x:\n"
        "        return partial(jax.shard_map, mesh=x, check_rep=False)\n"
    ),
}


@pytest.mark.parametrize("name", UNGUARDED)
def test_a_name_that_may_be_reached_is_a_warning(name: str) -> None:
    ((_, severity, _),) = told(UNGUARDED[name])
    assert severity is Severity.WARNING


@pytest.mark.parametrize(
    "body",
    [
        "if hasattr(jax, 'tree_map'):\n    jax.tree_map(x, x)",
        "if jax.__version_info__ < (0, 5):\n    jax.tree_map(x, x)",
        "if OLD:\n    jax.tree_map(x, x)",
        "if is_old():\n    jax.tree_map(x, x)",
        "g = jax.tree_map if OLD else x",
        "OLD and x and jax.tree_map(x, x)",
        "if not OLD:\n    return\nif x: jax.tree_map(x, x)",
        "try:\n    if x: jax.tree_map(x, x)\nexcept AttributeError:\n    pass",
        "try:\n    from jax import shard_map\nexcept ImportError:\n"
        "    def shard_map(f): return jax.experimental.maps.xmap(f)",
        "with contextlib.suppress(AttributeError):\n    if x: jax.tree_map(x, x)",
        "if TYPE_CHECKING:\n    from jax import tree_map",
        "jax = x\njax.tree_map(x, x)",
        "def g(jax):\n    if x: return jax.tree_map",
        "if x: getattr(jax, 'tree_map', None)",
    ],
)
def test_what_is_guarded_is_not_told(body: str) -> None:
    head = (
        "import contextlib, jax\nfrom typing import TYPE_CHECKING\nOLD = not hasattr(jax, 'shard_map')\n"
        "def is_old():\n    return jax.__version_info__ < (0, 5)\n"
    )
    assert told(f"{head}def f(x):\n{textwrap.indent(body, '    ')}\n") == []


def test_a_name_that_the_program_sets_is_there() -> None:
    program = "import jax\njax.tree_map = jax.tree.map\ndef f(x):\n    if x: return jax.tree_map(x, x)\n"
    assert told(program) == []


def test_an_error_is_told_once() -> None:
    program = "import jax\njax.tree_map(str, 1)\ndef f(x):\n    if x: jax.tree_map(x, x)\n"
    assert told(program) == [("SHL802", Severity.ERROR, 2), ("SHL802", Severity.WARNING, 4)]


def test_cells_share_their_names() -> None:
    cells = ["import jax", "é = 'ü'; f = lambda x: x and jax.tree_map(x, x)"]
    source = source_from_cells("a.ipynb", enumerate(cells))
    found = Linter(Settings(target_jax=parse_target("0.12.0"))).check_source(source)
    assert [(f.span.cell, f.span.line, f.span.column) for f in found] == [(1, 1, 30)]


AFTER = {
    "a name": "y = jax.tree_map(lambda a: a, jnp.ones(9))\njax.device_put(y, NamedSharding(mesh, P('x')))",
    "an imported name": (
        "from jax.experimental.maps import Mesh as M\n"
        "m = M(np.array(jax.devices()), ('x',))\njax.device_put(jnp.ones(9), NamedSharding(m, P('x')))"
    ),
    "a module": (
        "from jax.experimental import maps\n"
        "m = maps.Mesh(np.array(jax.devices()), ('x',))\n"
        "jax.device_put(jnp.ones(9), NamedSharding(m, P('x')))"
    ),
    "an argument": (
        "f = jax.shard_map(lambda a: a, mesh=mesh, in_specs=P('x'), out_specs=P('x'), check_rep=False)\n"
        "f(jnp.ones(9))"
    ),
}


@pytest.mark.parametrize("name", AFTER)
def test_what_comes_after_a_removed_name_is_followed(name: str) -> None:
    head = (
        "import jax, numpy as np, jax.numpy as jnp\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "mesh = Mesh(np.array(jax.devices()), ('x',))\n"
    )
    codes = [finding.code for finding in check(head + AFTER[name])]
    assert sorted(codes) in (["SHL202", "SHL802"], ["SHL202", "SHL804"])


@pytest.mark.parametrize(
    ("statement", "target", "severity"),
    [
        ("jax.config.update('jax_spmd_mode', 'allow_all')", "0.12.0", Severity.ERROR),
        ("jax.config.update('jax_spmd_mode', 'allow_all')", "0.6.0", None),
        ("config.update('jax_array', True)", "0.6.0", Severity.ERROR),
        ("jax.config.update('jax_enable_x64', True)", "0.12.0", None),
        ("def f(x):\n    if x: config.update('jax_array', True)", "0.12.0", Severity.WARNING),
        ("jnp.ones(2).device_buffers", "0.12.0", Severity.ERROR),
        ("jnp.ones(2).device_buffer", "0.5.0", Severity.ERROR),
        ("jnp.ones(2).device()", "0.12.0", Severity.ERROR),
        ("jnp.ones(2).device == jax.devices()[0]", "0.12.0", None),
        ("np.ones(2).device_buffers", "0.12.0", None),
        ("def f(x): return x.device_buffers, x.device()", "0.12.0", None),
    ],
)
def test_options_and_members_of_arrays(statement: str, target: str, severity: Severity | None) -> None:
    head = "import jax, numpy as np, jax.numpy as jnp\nfrom jax import config\n"
    assert [one[1] for one in told(head + statement, target)] == ([] if severity is None else [severity])
