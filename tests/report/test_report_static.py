"""The static report against real JAX and Flax: the same program is read, and its init is traced for real."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import numpy as np
import pytest
from flax import nnx
from jax.sharding import NamedSharding, PartitionSpec

from shardlint.api import Linter, Settings, load_settings
from shardlint.cli.commands import main
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.output.report import html
from shardlint.output.report import json as data
from shardlint.report.values import Parameter, ParameterReport

MESHES = (
    ("flat", Mesh(("data", "model"), (1, 8), (AxisType.AUTO,) * 2)),
    ("square", Mesh(("data", "model"), (2, 4), (AxisType.AUTO,) * 2)),
)
HEAD = "import flax.linen as nn\nimport jax, jax.numpy as jnp\nfrom flax import nnx\n"


def report(tmp_path: Path, text: str, **settings: Any) -> ParameterReport:
    file = tmp_path / "model.py"
    file.write_text(text)
    return Linter(Settings(root=str(tmp_path), **settings)).report([str(file)])


def by_path(found: ParameterReport) -> dict[str, Parameter]:
    return {one.path: one for one in found.parameters}


def random_linen(draw: random.Random) -> str:
    """A model of dense layers whose kernels carry names at random."""
    lines = [HEAD, "class Model(nn.Module):", "    @nn.compact", "    def __call__(self, x):"]
    for _ in range(draw.randint(1, 4)):
        names = draw.choice(
            ["(None, 'model')", "('data', 'model')", "('model', None)", "(('data', 'model'),)", ""]
        )
        init = f", kernel_init=nn.with_partitioning(nn.initializers.ones, {names})" if names else ""
        dtype = draw.choice(["float32", "bfloat16", "float16"])
        width = 8 * draw.randint(1, 9)
        lines.append(f"        x = nn.Dense({width}, param_dtype=jnp.{dtype}{init})(x)")
    lines += [
        "        return x",
        "def init():",
        "    return Model().init(jax.random.key(0), jnp.ones((4, 16)))",
    ]
    return "\n".join([*lines, "variables = jax.eval_shape(init)", ""])


def held_by_jax(variables: Any, mesh: Mesh) -> dict[str, tuple[int, int, bool]]:
    """Bytes on a device, bytes of the whole, and whether it is replicated, as JAX says for each path."""
    sizes = tuple(int(str(size)) for size in mesh.sizes)
    real = jax.sharding.Mesh(np.array(jax.devices()).reshape(sizes), mesh.names)
    specs = nn.get_partition_spec(variables)["params"]
    arrays = nn.unbox(variables)["params"]
    found = {}
    for (keys, array), spec in zip(
        jax.tree_util.tree_flatten_with_path(arrays)[0],
        jax.tree.leaves(specs, is_leaf=lambda x: isinstance(x, PartitionSpec)),
        strict=True,
    ):
        sharding = NamedSharding(real, spec)
        shard = int(np.prod(sharding.shard_shape(array.shape))) * array.dtype.itemsize
        found[".".join(str(key.key) for key in keys)] = (
            shard, array.size * array.dtype.itemsize, sharding.is_fully_replicated,
        )  # fmt: skip
    return found


def test_random_models_take_what_jax_says(tmp_path: Path) -> None:
    draw = random.Random(3)
    for _ in range(25):
        text = random_linen(draw)
        names: dict[str, Any] = {}
        exec(text, names)
        found = report(tmp_path, text, meshes=MESHES)
        for number, (_, mesh) in enumerate(MESHES):
            theirs = held_by_jax(names["variables"], mesh)
            ours = {}
            for path, one in by_path(found).items():
                held = one.holdings[number]
                assert held is not None
                ours[path] = (held.bytes, one.bytes, held.copies == mesh.device_count)
            assert ours == theirs, text
            total = found.totals[number]
            assert (total.device, total.whole) == tuple(
                sum(row[i] for row in theirs.values()) for i in (0, 1)
            )
            assert (total.counted, total.open) == (len(theirs), 0)


def test_an_nnx_model_takes_what_jax_says(tmp_path: Path) -> None:
    text = HEAD + (
        "class Block(nnx.Module):\n"
        "    def __init__(self, d, rngs):\n"
        "        self.up = nnx.Linear(d, 4 * d, rngs=rngs)\n"
        "        self.norm = nnx.LayerNorm(d, rngs=rngs)\n"
        "        self.w = nnx.Param(jnp.zeros((d, 2), jnp.bfloat16))\n"
        "def make():\n"
        "    return [Block(32, nnx.Rngs(0)) for _ in range(3)]\n"
        "model = make()\n"
    )
    names: dict[str, Any] = {}
    exec(text, names)
    found = report(tmp_path, text, meshes=MESHES)
    real = jax.tree.leaves(nnx.state(names["model"], nnx.Param))
    assert found.totals[0].whole == found.totals[0].device == sum(leaf.nbytes for leaf in real)
    assert found.totals[0].counted == len(real)
    assert {one.name: one.count for one in found.parameters} == {
        "Block.up.kernel": 3, "Block.up.bias": 3, "Block.norm.scale": 3, "Block.norm.bias": 3, "Block.w": 3,
    }  # fmt: skip


LOGICAL = HEAD + (
    "class Model(nn.Module):\n"
    "    @nn.compact\n"
    "    def __call__(self, x):\n"
    "        init = nn.with_logical_partitioning(nn.initializers.ones, ('embed', 'mlp'))\n"
    "        return nn.Dense(4096, kernel_init=init, use_bias=False)(x)\n"
    "Model().init(jax.random.key(0), jnp.ones((4, 8192)))\n"
)


def test_logical_rules_give_the_spec(tmp_path: Path) -> None:
    without = report(tmp_path, LOGICAL, meshes=MESHES).parameters[0].holdings[1]
    assert without is not None and without.bytes is None
    assert without.problem == '"embed" is no axis of this mesh, and no logical axis rules are known'
    ruled = report(tmp_path, LOGICAL, meshes=MESHES, logical_rules=(("mlp", "model"), ("embed", None)))
    held = ruled.parameters[0].holdings[1]
    assert held is not None and (str(held.spec), held.bytes) == ('P(None, "model")', 8192 * 4096)


def test_what_is_whole_and_large_is_marked(tmp_path: Path) -> None:
    rules = (("mlp", None), ("embed", None))
    found = report(tmp_path, LOGICAL, meshes=MESHES, logical_rules=rules)
    held = found.parameters[0].holdings[1]
    assert held is not None and held.large and held.split is not None
    assert (held.split.dimension, held.split.axis, held.split.ways) == (0, "model", 4)
    assert 'whole on each device; 34 MB if "embed" is sharded over "model"'.replace(
        '"', "&quot;"
    ) in html.render(found)
    small = report(tmp_path, LOGICAL, meshes=MESHES, logical_rules=rules, replicated_bytes=2**30)
    assert small.parameters[0].holdings[1] is not None and not small.parameters[0].holdings[1].large


def test_what_is_not_known_is_shown_and_left_out(tmp_path: Path) -> None:
    text = HEAD + (
        "class Model(nnx.Module):\n"
        "    def __init__(self, d_model, rngs):\n"
        "        self.up = nnx.Linear(16, d_model, rngs=rngs)\n"
        "        self.down = nnx.Linear(16, 8, use_bias=False, rngs=rngs)\n"
    )
    found = report(tmp_path, text, meshes=MESHES)
    rows = by_path(found)
    assert rows["up.kernel"].bytes is None and rows["up.kernel"].holdings[0] is not None
    assert rows["up.kernel"].holdings[0].spec is not None
    assert (found.totals[0].counted, found.totals[0].open, found.totals[0].whole) == (1, 2, 16 * 8 * 4)
    shown = html.render(found)
    assert "1 parameter; 2 more, of which not all is known, are left out" in shown
    assert "3 parameters, at least 512 bytes on each device" in shown
    unknown = html.render(
        report(tmp_path, text.replace("Linear(16, 8,", "Linear(16, d_model,"), meshes=MESHES)
    )
    assert "3 parameters, an unknown size on each device" in unknown


def test_without_a_configured_mesh_the_programs_own_counts(tmp_path: Path) -> None:
    text = HEAD + (
        "import numpy as np\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))\n"
        "sharding = NamedSharding(mesh, P())\n"
        "init = nn.with_partitioning(nn.initializers.ones, (None, 'model'))\n"
        "nn.Dense(8, kernel_init=init).init(jax.random.key(0), jnp.ones((4, 16)))\n"
    )
    found = report(tmp_path, text)
    assert [str(named.mesh) for named in found.meshes] == ["(data=2, model=4)"]
    held = by_path(found)["kernel"].holdings[0]
    assert held is not None and held.bytes == 16 * 8 * 4 // 4
    bare = report(tmp_path, LOGICAL)
    assert bare.meshes == () and bare.parameters[0].bytes == 8192 * 4096 * 4


def test_a_module_initialized_twice_counts_once(tmp_path: Path) -> None:
    text = (
        LOGICAL
        + LOGICAL.splitlines()[-1]
        + "\ndef again(x):\n    return Model().init(jax.random.key(1), x)\n"
    )
    found = report(tmp_path, text)
    assert [one.count for one in found.parameters] == [1]


def test_what_a_comment_asks_is_no_note(tmp_path: Path) -> None:
    assert report(tmp_path, LOGICAL.rstrip() + "  # shardlint: reveal\n").notes == ()


def test_the_page_is_self_contained_and_escaped(tmp_path: Path) -> None:
    text = HEAD + (
        "class Model(nn.Module):\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        return nn.Dense(8, name='<script>alert(1)</script>')(x)\n"
        "Model().init(jax.random.key(0), jnp.ones((4, 16)))\n"
    )
    meshes = (("<b>&\"'", Mesh(("<i>", "y"), (2, 4), (AxisType.AUTO,) * 2)),)
    shown = html.render(report(tmp_path, text, meshes=meshes))
    assert "<script>alert" not in shown and "&lt;script&gt;alert(1)" in shown
    assert "<b>&\"'" not in shown and "<i>" not in shown
    assert not re.search(r"(?:src|href|url|@import)\s*[=(]|https?:", shown)
    assert shown.count("<svg") == shown.count("</svg>") >= 4


def test_large_meshes_make_small_pages(tmp_path: Path) -> None:
    meshes = (("pods", Mesh(("pod", "data", "model"), (16, 64, 64), (AxisType.AUTO,) * 3)),)
    rules = (("mlp", ("pod", "model")), ("embed", "data"))
    shown = html.render(report(tmp_path, LOGICAL, meshes=meshes, logical_rules=rules))
    assert "256 of 65536 devices" in shown and len(shown) < 60_000


def test_json_says_all(tmp_path: Path) -> None:
    rules = (("mlp", "model"), ("embed", None))
    said = json.loads(data.render(report(tmp_path, LOGICAL, meshes=MESHES, logical_rules=rules)))
    assert [mesh["name"] for mesh in said["meshes"]] == ["flat", "square"]
    assert said["meshes"][1]["bytes_per_device"] == 8192 * 4096
    (one,) = said["parameters"]
    assert (one["module"], one["path"], one["shape"]) == ("Model", "Dense_0.kernel", [8192, 4096])
    assert one["on"]["square"] == {
        "spec": 'P(None, "model")', "shard": [8192, 1024], "bytes": 8192 * 4096, "copies": 2, "problem": None,
        "whole_and_large": False, "split": None,
    }  # fmt: skip


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(LOGICAL)
    (tmp_path / "broken.py").write_text("import flax\ndef (")
    (tmp_path / "shardlint.toml").write_text("[meshes]\nv5e = {data = 2, mlp = 4}\n")
    assert main(["report", str(tmp_path), "--mesh", "mlp=2,embed=2"]) == 0
    captured = capsys.readouterr()
    assert "34 MB" in captured.out and "broken.py" in captured.err
    out = tmp_path / "report.html"
    assert main(["report", str(tmp_path), "--output-format", "html", "--output-file", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>") and not capsys.readouterr().out
    assert main(["report", str(tmp_path), "--output-file", str(tmp_path / "no" / "x")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["report", str(tmp_path / "empty")]) == 0
    assert "No parameter was found" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [('init = "model"', 'must be written "package.module:name"'), ("inti = 'a:b'", 'did you mean "init"?')],
)
def test_a_wrong_configuration_is_said(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "shardlint.toml").write_text(f"[report]\n{line}\n")
    with pytest.raises(Exception, match=re.escape(message)):
        load_settings(str(tmp_path))


TRAINED = (
    HEAD
    + """
import optax
from jax.sharding import AxisType

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
init = nnx.with_partitioning(nnx.initializers.ones, (None, "model"))


class Model(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(16, 32, kernel_init=init, rngs=rngs)
        self.odd = nnx.Linear(16, 33, use_bias=False, kernel_init=init, rngs=rngs)


class Small(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(16, 32, kernel_init=init, rngs=rngs)


@nnx.jit
def create():
    return Model(nnx.Rngs(0))


def main():
    with jax.set_mesh(mesh):
        return create()


def state():
    with jax.set_mesh(mesh):
        return nnx.Optimizer(Small(nnx.Rngs(0)), optax.adamw(1e-3), wrt=nnx.Param)


model, optimizer = main(), state()
"""
)


def trained() -> dict[str, Any]:
    """Run the program for real."""
    space: dict[str, Any] = {"__name__": "trained"}
    exec(compile(TRAINED, "trained.py", "exec"), space)
    return space


def test_what_jit_replicates_in_silence_is_counted_whole(tmp_path: Path) -> None:
    found = report(tmp_path, TRAINED)
    sizes = {one.name: one.holdings[0].bytes for one in found.parameters if one.holdings[0]}
    held = {
        f"Model.{'.'.join(map(str, path))}": value.get_value().addressable_shards[0].data.nbytes
        for path, value in nnx.to_flat_state(nnx.state(trained()["model"], nnx.Param))
    }
    assert {name: size for name, size in sizes.items() if name.startswith("Model.")} == held
    assert found.totals[0].open == 0


def test_optimizer_state_stands_apart_as_often_as_flax_keeps_it(tmp_path: Path) -> None:
    found = report(tmp_path, TRAINED)
    (state,) = [one for one in found.parameters if one.state]
    kept = [
        value
        for _, value in nnx.to_flat_state(nnx.state(trained()["optimizer"]))
        if getattr(value.get_value(), "shape", None) == (16, 32)
    ]
    assert (state.shape, state.count) == ((16, 32), len(kept))
    assert found.parameters[-1] is state
    assert state.holdings[0] is not None and state.holdings[0].bytes is not None
    assert found.totals[0].state == state.holdings[0].bytes * state.count
    assert found.totals[0].counted == 5


def test_meshes_without_parameters_are_left_out_and_programs_do_not_add_up(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(TRAINED)
    (tmp_path / "other.py").write_text(
        "import jax\nimport jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
        "from model import main\nmesh = jax.make_mesh((8,), ('dp',))\n"
        "x = jax.device_put(jnp.ones(8), NamedSharding(mesh, P('dp')))\nmain()\n"
    )
    alone = Linter(Settings(root=str(tmp_path))).report([str(tmp_path / "model.py")])
    both = Linter(Settings(root=str(tmp_path))).report([str(tmp_path)])
    assert [named.mesh.names for named in both.meshes] == [("data", "model")]
    assert {one.name: one.count for one in both.parameters} == {
        one.name: one.count for one in alone.parameters
    }


def test_the_table_fits_and_nothing_points_to_init(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "model.py").write_text(TRAINED)
    main(["report", str(tmp_path)])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100
    (tmp_path / "model.py").write_text("import jax\nfrom jax.sharding import PartitionSpec as P\n")
    main(["report", str(tmp_path)])
    assert "--init package.module:function" in capsys.readouterr().out
