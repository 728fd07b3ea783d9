"""What was understood: the sites that the text shows, beside what was judged of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardlint.api import Linter, Settings, source_from_text
from shardlint.cli.commands import main
from shardlint.model.uses import Use
from shardlint.report.api_coverage import coverage
from shardlint.source.api_sites import SiteKind, find_sites

PROGRAM = """\
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("data")))


def constrain(x, mesh):
    é = "ß"; return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))


@partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
def total(x):
    return jax.lax.psum(x.sum(), "data")


total(x)
jax.jit(lambda x: x)
jax.jit(lambda x: x, in_shardings=(None,))


def nobody_calls_this(names):
    return [jax.lax.psum(name, axis) for name, axis in names]
"""


def judged(text: str) -> dict[int, list[tuple[str, bool, bool, bool]]]:
    """By line: the name of each site, and whether its axis names, its rank, and all of it was judged."""
    linter = Linter(Settings(devices=8))
    sources = [source_from_text("train.py", text)]
    found: dict[int, list[tuple[str, bool, bool, bool]]] = {}
    uses = [use for use in linter.uses(sources) if isinstance(use, Use)]
    for one in coverage(find_sites(sources[0]), uses):
        found.setdefault(one.site.span.line, []).append((one.site.name, one.axes, one.rank, one.sizes))
    return found


def test_sites_are_calls_of_sharding_apis() -> None:
    sites = find_sites(source_from_text("train.py", PROGRAM))
    names = [(site.span.line, site.kind, site.name) for site in sites]
    assert names == [
        (6, SiteKind.PLACEMENT, "device_put"),
        (6, SiteKind.SHARDING, "NamedSharding"),
        (10, SiteKind.CONSTRAINT, "with_sharding_constraint"),
        (10, SiteKind.SHARDING, "NamedSharding"),
        (13, SiteKind.PLACEMENT, "shard_map"),
        (15, SiteKind.COLLECTIVE, "psum"),
        (20, SiteKind.PLACEMENT, "jit"),
        (24, SiteKind.COLLECTIVE, "psum"),
    ]
    line = PROGRAM.splitlines()[9]
    constraint = sites[2].span
    assert line[constraint.column - 1 : constraint.end_column - 1].startswith("jax.lax.with_sharding")


def test_text_that_is_no_python_has_no_sites() -> None:
    assert find_sites(source_from_text("train.py", "def f(:\n    jax.device_put(x)\n")) == []


def test_what_is_judged() -> None:
    found = judged(PROGRAM)
    assert found[6] == [("device_put", True, True, True), ("NamedSharding", True, True, True)]
    assert found[13] == [("shard_map", True, True, True)]
    assert found[15] == [("psum", True, True, True)]
    constraint, sharding = found[10]
    assert constraint == ("with_sharding_constraint", False, False, False)
    assert not sharding[1]
    assert found[24] == [("psum", False, False, False)]


def test_a_decorator_is_met_where_it_stands() -> None:
    decorated = (
        "import jax\nfrom functools import partial\n"
        "def f(mesh, specs, x):\n"
        "    @partial(jax.shard_map, mesh=mesh, in_specs=specs, out_specs=specs)\n"
        "    def body(x):\n        return x\n"
        "    @partial(jax.jit, out_shardings=specs)\n"
        "    def step(x):\n        return x\n"
        "    return step(body(x))\n"
    )
    sources = [source_from_text("train.py", decorated)]
    uses = [use for use in Linter(Settings(devices=8)).uses(sources) if isinstance(use, Use)]
    assert [one.reached for one in coverage(find_sites(sources[0]), uses)] == [True, True]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM, "utf-8")
    return path


def test_the_command_counts_them(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", str(program), "--devices", "8"]) == 0
    shown = capsys.readouterr().out
    assert "placement" in shown
    assert "no call that reaches it was followed" in shown
    assert main(["coverage", str(program), "--devices", "8", "--output-format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["kinds"]["all"]["sites"] == 8
    assert {one["line"] for one in data["unresolved"]} == {10, 20, 24}


def test_nothing_to_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", str(tmp_path)]) == 0
    assert "No call of a sharding API" in capsys.readouterr().out


def test_what_is_not_known_is_noted_on_request(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", str(program), "--devices", "8", "--output-format", "concise"]
    assert main(arguments) == 0
    assert "SHL008" not in capsys.readouterr().out
    assert main([*arguments, "--show-unresolved"]) == 0
    assert "train.py:24:13: info[SHL008] `psum`" in capsys.readouterr().out


WITHOUT_SPECS = """
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
rows = NamedSharding(mesh, P("x"))
one = jax.device_put(np.ones(3), jax.devices()[0])
same = jax.device_put(np.ones(3))
parts = jax.device_put(np.split(np.ones((8, 2)), 8), mesh.local_devices)
whole = jax.make_array_from_single_device_arrays((8, 2), rows, parts)

def open_parts(shards, spec, axes, x):
    made = jax.make_array_from_single_device_arrays((8, 2), rows, shards)
    other = NamedSharding(mesh, spec)
    return jax.shard_map(lambda x: jax.lax.psum(x, axes), mesh=mesh, in_specs=P("x"), out_specs=P())(x)
"""


def test_calls_without_specs_are_judged_and_others_say_why_not() -> None:
    linter = Linter(Settings(devices=8))
    sources = [source_from_text("train.py", WITHOUT_SPECS)]
    assert not linter.check_source(sources[0])
    uses = [use for use in linter.uses(sources) if isinstance(use, Use)]
    found = [(one.site.span.line, one.rank, one.reason) for one in coverage(find_sites(sources[0]), uses)]
    assert [one for one in found if one[0] in (8, 9, 10, 11)] == [(n, True, None) for n in (8, 9, 10, 11)]
    assert [one for one in found if one[0] > 12] == [
        (14, True, "the shards are not known"),
        (15, False, "`spec` is decided by the caller"),
        (16, True, "shape not known"),
        (16, False, "its axes: `axes` is decided by the caller"),
    ]


def test_keys_of_items_name_no_axis() -> None:
    """``tree["params"]`` and a kind of memory are texts, but no axes."""
    text = """
x = jax.device_put(batch["image"], layouts["data"])
f = jax.jit(init, out_shardings=state["params"])
g = NamedSharding(mesh, spec, memory_kind="pinned_host")
h = jax.device_put(batch["image"], NamedSharding(mesh, P("data")))
i = jax.jit(init, out_shardings=layouts["data"].with_spec(P("data")))
"""
    found = {site.span.line: site.named for site in find_sites(source_from_text("train.py", text))}
    assert found == {2: False, 3: False, 4: False, 5: True, 6: True}


LOGICAL = """\
import flax.linen as nn
import jax.numpy as jnp
from flax.linen import partitioning


class Layer(nn.Module):
    def __call__(self, x):
        return nn.with_logical_constraint(x, ("batch", "embed"))


class Other(nn.Module):
    def __call__(self, x):
        return partitioning.with_sharding_constraint(x, ("batch", "embed"))


Layer().apply({}, jnp.ones((4, 4)))
with nn.logical_axis_rules([("batch", "data")]):
    Other().apply({}, jnp.ones((4, 4)))
"""


def test_a_constraint_without_rules_or_a_mesh_is_judged() -> None:
    """Flax returns the array as it is: there is nothing to compare."""
    found = judged(LOGICAL)
    assert found[8] == [("with_logical_constraint", True, True, True)]
    assert found[13] == [("with_sharding_constraint", True, True, True)]


def test_a_constraint_whose_rules_are_the_callers_is_not_judged() -> None:
    found = judged(LOGICAL[: LOGICAL.index("Layer().apply")])
    assert [axes for (_, axes, _, _), *_ in found.values()] == [False, False]


WHOLE = """\
import functools, jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def make(devices, f, layout):
    mesh = Mesh(devices, ("x",))
    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("x"))
    jax.jit(f, out_shardings=whole)
    jax.jit(f, in_shardings=None, out_shardings=whole)
    jax.jit(f, out_shardings=rows)
    jax.jit(f, out_shardings=(whole, whole))
    jax.jit(f, out_shardings=layout)

    @functools.partial(jax.jit, out_shardings=whole)
    def step(x):
        return x

    return step
"""


def test_shardings_that_fit_everything_are_judged_where_nothing_is_called() -> None:
    """Others fit some ranks, or structures, only."""
    found = {line: axes and rank for line, [(_, axes, rank, _), *_] in judged(WHOLE).items()}
    assert found == {6: True, 7: True, 8: True, 9: False, 10: False, 11: False, 13: True}
