"""`shardlint compile` beside what JAX itself says of the same programs, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.command import run_decoded

from shardlint.cost import runs
from shardlint.cost.runs import CannotCompile, compile_file, require_jax
from shardlint.cost.values import Compilation
from shardlint.laws.versions import Release

PROGRAM = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def abstract(shape, *spec, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def layer(x, w):
    h = jnp.dot(x, w)
    return jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("data", None))), None


def loss(ws, x):
    x, _ = jax.lax.scan(layer, x, ws)
    return jnp.sum(x * x)


WS, X = abstract((6, 256, 256), None, "data", "model"), abstract((64, 256), "data", None)


def case_step():
    compiled = jax.jit(jax.grad(loss)).lower(WS, X).compile()
    memory = compiled.memory_analysis()
    print(memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes)


def case_only_lowered():
    jax.jit(lambda x: jnp.sum(x, axis=1)).lower(abstract((64, 32), None, "model", dtype=jnp.float32))


def case_huge():
    w = abstract((1 << 20, 1 << 16), "data", "model")  # 128 GiB: held by nobody
    jax.jit(lambda w: jnp.max(w), donate_argnums=0).lower(w)


def case_eager():
    x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("data", "model")))
    float(x.sum())


def case_donated():
    x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("data", "model")))
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)


def case_endless():
    x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("data")))
    jax.jit(lambda x: jax.lax.while_loop(lambda x: x.sum() < 99, lambda x: x + 1, x))(x)


def case_wrong():
    jax.device_put(jnp.ones(7), NamedSharding(mesh, P("model")))  # expect: SHL202
"""


def line_of(text: str, program: str = PROGRAM) -> int:
    """Return the line on which a text of the program stands."""
    return next(number for number, line in enumerate(program.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compiled")
    (made / "train.py").write_text(PROGRAM, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def compiled(folder: Path) -> Compilation:
    return compile_file(str(folder / "train.py"))


@pytest.fixture(scope="module")
def reported(folder: Path) -> dict[str, Any]:
    done = run_decoded(folder, "compile", "train.py", "--output-format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_json_is_as_the_contract_has_it(reported: dict[str, Any]) -> None:
    assert reported.keys() == {"programs", "collectives"}
    for program in reported["programs"]:
        assert program.keys() == {"name", "path", "line", "memory"}
        assert program["memory"].keys() == {"arguments", "results", "temporaries", "peak"}
    names = {program["name"] for program in reported["programs"]}
    for one in reported["collectives"]:
        assert one.keys() == {
            "program",
            "path",
            "line",
            "kind",
            "axes",
            "bytes",
            "count",
            "op",
            "before",
            "after",
        }
        assert one["program"] in names
        assert one["path"] == "train.py"


def test_a_scan_gathers_its_weights_forward_and_backward(reported: dict[str, Any]) -> None:
    ours = [one for one in reported["collectives"] if one["program"] == "loss"]
    assert {(one["line"], one["count"]) for one in ours if one["kind"] != "all-reduce"} == {
        (line_of("jnp.dot"), 6)
    }
    gathers = [one for one in ours if (one["kind"], one["axes"]) == ("all-gather", ["data"])]
    # Half of a device's rows come from the other one, in bf16, in each of the six turns.
    assert [one["bytes"] for one in gathers] == [128 * 64 * 2] * 2
    assert sum("transpose(jvp(" in one["op"] for one in gathers) == 1


def test_programs_are_told_where_their_functions_are_defined(reported: dict[str, Any]) -> None:
    places = {program["name"]: program["line"] for program in reported["programs"]}
    assert places["loss"] == line_of("def loss")
    assert places["_reduce_sum"] == line_of("x.sum())")
    lambdas = {line for name, line in places.items() if name.startswith("<lambda>")}
    assert lambdas == {line_of(text) for text in ("axis=1", "jnp.max(w)", "x + 1, donate", "while_loop")}


def test_what_is_only_lowered_is_compiled(compiled: Compilation) -> None:
    line = line_of("jnp.sum(x, axis=1)")
    (program,) = (one for one in compiled.programs if one.place is not None and one.place.line == line)
    (one,) = program.collectives
    assert (one.kind, one.axes, one.bytes, one.count) == ("all-reduce", ("model",), 2 * 64 * 4 * 3 // 4, 1)


def test_a_huge_array_needs_no_memory(compiled: Compilation) -> None:
    line = line_of("jnp.max(w)")
    (program,) = (one for one in compiled.programs if one.place is not None and one.place.line == line)
    assert program.memory is not None
    assert program.memory.arguments == (1 << 36) * 2 // 8


def test_memory_is_what_jax_says(compiled: Compilation, folder: Path) -> None:
    run = runs.run_fixture(folder / "train.py")
    (said,) = (unit.stdout.split() for unit in run.units if unit.name == "case_step")
    (program,) = (one for one in compiled.programs if one.name == "loss")
    memory = program.memory
    assert memory is not None
    assert [str(n) for n in (memory.arguments, memory.results, memory.temporaries)] == said
    assert memory.peak == memory.arguments + memory.results + memory.temporaries


def test_what_is_donated_counts_once(compiled: Compilation) -> None:
    line = line_of("x + 1, donate")
    (program,) = (one for one in compiled.programs if one.place is not None and one.place.line == line)
    memory = program.memory
    assert memory is not None
    assert (memory.arguments, memory.results) == (32, 32)
    assert memory.peak == 32 + memory.temporaries
    assert program.collectives == ()


def test_a_loop_that_data_ends_has_no_count(compiled: Compilation) -> None:
    line = line_of("while_loop")
    counts = {one.count for one in compiled.collectives if one.place is not None and one.place.line == line}
    assert counts == {None}


def test_cases_are_named_and_announced_exceptions_are_no_failures(compiled: Compilation) -> None:
    assert compiled.failures == ()
    cases = {program.case for program in compiled.programs}
    assert {"case_step", "case_only_lowered", "case_eager", "case_endless"} <= cases
    assert all(program.devices == 8 for program in compiled.programs)
    assert dict(compiled.programs[0].mesh) == {"data": 2, "model": 4}


def test_text_and_page_show_the_lines(folder: Path) -> None:
    done = run_decoded(folder, "compile", "train.py")
    assert done.returncode == 0
    assert "h = jnp.dot(x, w)" in done.stdout
    assert "all-gather" in done.stdout
    done = run_decoded(folder, "compile", "train.py", "--output-format", "html", "--output-file", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert done.stdout == ""
    assert "h = jnp.dot(x, w)" in page
    assert "&lt;lambda&gt;" in page


def test_a_notebook_and_a_library_in_between(tmp_path: Path) -> None:
    cells = [
        "import jax, jax.numpy as jnp\nfrom flax import linen as nn\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "import numpy as np\nmesh = Mesh(np.array(jax.devices()), ('model',))\n",
        "class Model(nn.Module):\n    @nn.compact\n"
        "    def __call__(self, x):\n        return nn.Dense(64)(x)\n",
        "%time\nsplit = NamedSharding(mesh, P('model', None))\n"
        "abstract = jax.ShapeDtypeStruct\n"
        "params = {'params': {'Dense_0': {'kernel': abstract((32, 64), 'float32', sharding=split),\n"
        "          'bias': jax.ShapeDtypeStruct((64,), 'float32')}}}\n"
        "low = jax.jit(Model().apply).lower(params, jax.ShapeDtypeStruct((16, 32), 'float32'))\n",
    ]
    notebook = {
        "cells": [
            {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
            for text in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "model.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "model.ipynb", "--output-format", "json")
    document = json.loads(done.stdout)
    told = {(one["path"], one["cell"], one["line"]) for one in document["collectives"]}
    assert told == {("model.ipynb", 1, 4)}
    assert {program["name"] for program in document["programs"]} == {"apply"}


def test_a_module_of_a_package_that_chooses_its_devices(tmp_path: Path) -> None:
    package = tmp_path / "dossier é" / "model"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "layers.py").write_text("def row(x, w):\n    return x @ w\n", encoding="utf-8")
    (package / "train.py").write_text(
        "import os\n"
        "count = '--xla_force_host_platform_device_count=4 '\n"
        "os.environ['XLA_FLAGS'] = count + os.environ.get('XLA_FLAGS', '')\n"
        "import jax, jax.numpy as jnp\n"
        "from jax.sharding import AxisType, NamedSharding, PartitionSpec as P\n"
        "from .layers import row\n"
        "from model import layers\n"
        "mesh = jax.make_mesh((4,), ('m',), axis_types=(AxisType.Auto,))\n"
        "def array(shape, *spec):\n"
        "    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))\n"
        "def main():\n"
        "    jax.jit(row).lower(array((8, 8), None, 'm'), array((8, 8), 'm'))\n"
        "if __name__ == '__main__':\n"
        "    main()\n",
        encoding="utf-8",
    )
    compiled = compile_file(str(package / "train.py"))
    assert compiled.failures == ()
    found = [(one.kind.value, one.axes, one.bytes, one.ways) for one in compiled.collectives]
    assert found == [("all-reduce", ("m",), 384, 4)]
    assert [str(one.place).rpartition("model")[2][1:] for one in compiled.collectives] == ["layers.py:2"]


def test_what_does_not_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import jax\n\ndef case_a():\n    jax.jit(lambda x: 1 / 0)(1)\n")
    done = run_decoded(tmp_path, "compile", "broken.py", "--output-format", "json")
    assert done.returncode == 2
    assert "broken.py: case_a raises ZeroDivisionError, line 4: division by zero" in done.stderr
    assert json.loads(done.stdout) == {"programs": [], "collectives": []}


@pytest.mark.parametrize("path", ["missing.py", "."])
def test_a_path_that_is_no_file_is_told(tmp_path: Path, path: str) -> None:
    done = run_decoded(tmp_path, "compile", path)
    assert done.returncode == 2
    assert path in done.stderr


def test_an_old_jax_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "installed_release", lambda python: Release.parse("0.7.2"))
    with pytest.raises(CannotCompile, match=r"JAX 0\.7\.2: this needs JAX 0\.8\.3"):
        require_jax("/some/python")
    monkeypatch.setattr(runs, "installed_release", lambda python: Release.parse("0.8.3"))
    require_jax("/some/python")
