"""TPU slices by name, and programs compiled for one where libtpu is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from support.command import run_decoded

from shardlint.cost.chips import CHIPS, parse_slice, seconds, time_text
from shardlint.cost.judgement import Budget, judge
from shardlint.cost.memory import memory_of
from shardlint.cost.runs import compile_file
from shardlint.source import read_source

KNOWN = sorted(Path(__file__).with_name("known").glob("*.py"))
WITH_COMPILER = importlib.util.find_spec("libtpu") is not None


@pytest.mark.parametrize(
    ("name", "topology", "devices"),
    [
        ("v5e-256", "v5e:16x16", 256),
        ("v5e-8", "v5e:2x4", 8),
        ("v6e-64", "v6e:8x8", 64),
        ("v5p-128", "v5p:4x4x4", 64),  # cores, two on a chip
        ("v5p-8", "v5p:2x2x1", 4),
        ("v5e:4x4", "v5e:4x4", 16),
        ("v5p:4x8x8", "v5p:4x8x8", 256),
    ],
)
def test_slices_are_named_as_google_does(name: str, topology: str, devices: int) -> None:
    found = parse_slice(name)
    assert (found.topology, found.devices) == (topology, devices)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("h100-8", "there are v5e-16"),
        ("v5e-3", "slices of 1, 4, 8, 16, 32, 64, 128, 256"),
        ("v5p-2", "slices of 8, 16"),
        ("v5e:4x4x4", "one is 4x4"),
        ("v5e:0x4", "one is 4x4"),
        ("", "there are v5e-16"),
    ],
)
def test_other_names_are_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_slice(name)


def test_sizes_agree_with_shapes() -> None:
    for chip in CHIPS:
        for count in chip.shapes:
            assert parse_slice(f"{chip.name}-{count * chip.cores}").devices == count


def test_times() -> None:
    v5e = parse_slice("v5e-8").chip
    assert seconds(100e9, v5e) == 1.0
    assert [time_text(one) for one in (2.0, 0.0031, 0.0123, 12e-6, 1.5e-6)] == [
        "2 s",
        "3.1 ms",
        "12 ms",
        "12 µs",
        "1.5 µs",
    ]


def test_only_the_main_memory_counts() -> None:
    memory, buffers = memory_of(
        "BufferAssignment:\n"
        "allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:\n"
        " value: <1 param @0> (size=4096,offset=0): f32[1024]{0:T(1024)}\n"
        "allocation 1: size 512, output shape is |f32[]|, maybe-live-out:\n"
        "allocation 2: size 2228224, color 1, preallocated-temp:\n"
        " value: <2 copy @1> (size=2228224,offset=0): f32[557056]{0:T(1024)S(1)}\n"
        "allocation 3: size 8192, preallocated-temp:\n"
    )
    assert (memory.arguments, memory.results, memory.temporaries, memory.peak) == (4096, 512, 8192, 12800)
    assert [name for _, name in buffers] == ["param"]


@pytest.mark.skipif(WITH_COMPILER, reason="libtpu is installed")
def test_without_the_compiler_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text("import jax\n", encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "step.py", "--topology", "v5e-8")
    assert done.returncode == 2
    assert "no topology v5e:2x4" in done.stderr
    assert "shardlint[tpu]" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--topology", "v5e-7"), "there is no v5e-7"),
        (("--topology", "v5e-8", "--devices", "8"), "--devices"),
    ],
)
def test_wrong_options_are_told(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    (tmp_path / "step.py").write_text("import jax\n", encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "step.py", *options)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.skipif(not WITH_COMPILER, reason="libtpu is not installed")
@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_a_tpu_sends_what_the_fake_devices_send(path: Path) -> None:
    compiled = compile_file(str(path), slice_=parse_slice("v5e-8"))
    assert compiled.failures == ()
    assert [one.message for one in judge(compiled, read_source(str(path)), Budget())] == []


@pytest.mark.skipif(not WITH_COMPILER, reason="libtpu is not installed")
def test_a_program_that_computes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(
        "import jax, jax.numpy as jnp\n"
        "mesh = jax.make_mesh((8,), ('x',))\n"
        "from jax.sharding import NamedSharding, PartitionSpec as P\n"
        "x = jax.device_put(jnp.ones(8), NamedSharding(mesh, P('x')))\n",
        encoding="utf-8",
    )
    done = run_decoded(tmp_path, "compile", "step.py", "--topology", "v5e-8")
    assert done.returncode == 2
    assert "compile and cannot run" in done.stderr
