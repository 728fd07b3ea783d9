"""The commands `layout` and `run` on the programs of a user."""

from __future__ import annotations

import json
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from support.command import run_decoded as run

MESHES = """\
import jax
from jax.sharding import AxisType

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
"""
MODEL = """\
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs):
        init = nnx.with_partitioning(nnx.initializers.ones, (None, "model"))
        self.up = nnx.Linear(16, 32, kernel_init=init, rngs=rngs)
"""
TRAIN = """\
import jax
from flax import nnx

from meshes import mesh
from model import Block

with jax.set_mesh(mesh):
    Block(nnx.Rngs(0))
"""


def project(folder: Path) -> None:
    for name, text in (("meshes.py", MESHES), ("model.py", MODEL), ("train.py", TRAIN)):
        (folder / name).write_text(text)


def test_a_layout_is_found_where_another_file_sets_the_mesh(tmp_path: Path) -> None:
    project(tmp_path)
    for place in ("model.py:7", "model.py", "."):
        done = run(tmp_path, "layout", place)
        assert done.returncode == 0
        assert "parameter `kernel` of nnx.Linear" in done.stdout
        assert "shard    (16, 8), 512 bytes on each device" in done.stdout
        assert "parameter `bias` of nnx.Linear" in done.stdout


def test_a_layout_as_json_holds_what_jax_places(tmp_path: Path) -> None:
    project(tmp_path)
    done = run(tmp_path, "layout", "model.py", "--output-format", "json")
    (kernel,) = [one for one in json.loads(done.stdout) if "kernel" in one["array"]]
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    real = jax.device_put(jnp.ones(kernel["shape"]), NamedSharding(mesh, PartitionSpec(None, "model")))
    assert kernel["shard"] == list(real.addressable_shards[0].data.shape)
    assert kernel["bytes_per_device"] == real.addressable_shards[0].data.nbytes
    devices = list(mesh.devices.flat)
    held: dict[tuple[int, ...], set[int]] = {}
    for shard in real.addressable_shards:
        index = tuple(
            (part.start or 0) // size for part, size in zip(shard.index, kernel["shard"], strict=True)
        )
        held.setdefault(index, set()).add(devices.index(shard.device))
    assert {tuple(one["block"]): set(one["devices"]) for one in kernel["blocks"]} == held
    assert json.loads(run(tmp_path, "layout", "meshes.py", "--output-format", "json").stdout) == []


def test_a_line_that_does_not_exist_is_an_error_of_the_user(tmp_path: Path) -> None:
    project(tmp_path)
    done = run(tmp_path, "layout", "model.py:99")
    assert (done.returncode, done.stderr) == (2, "shardlint: model.py has 7 lines, and no line 99\n")


def test_an_ordinary_program_is_run_without_words_about_announcements(tmp_path: Path) -> None:
    project(tmp_path)
    done = run(tmp_path, "run", "meshes.py")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 program: it ran; 0 findings.")
    (tmp_path / "bad.py").write_text(
        f"{MESHES}\njax.device_put(jax.numpy.ones(6), jax.NamedSharding(mesh, jax.P('model')))\n"
    )
    done = run(tmp_path, "run", "bad.py")
    assert done.returncode == 1
    assert "line 6: error[SHL202] dimension 0" in done.stdout
    assert "line 6: it raises" in done.stdout
    assert "announces" not in done.stdout and "disagreement" not in done.stdout
    assert done.stdout.splitlines()[-1] == "1 program: 1 raised; 1 finding."


def test_a_program_that_announces_is_compared(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        f"{MESHES}\nat = jax.NamedSharding(mesh, jax.P('model'))\n"
        "jax.device_put(jax.numpy.ones(6), at)  # expect: SHL202\n"
    )
    done = run(tmp_path, "run", "a.py")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 fixture, 1 part: no disagreement.")
