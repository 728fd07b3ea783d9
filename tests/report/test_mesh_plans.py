"""`shardlint plan` beside JAX's own shards and optax's own state."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
from support.command import run_decoded

MODEL = """
import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding, PartitionSpec as P

HUGE_RULES = [("wide", P("model")), ("odd", P("data")), ("table", P())]
RULES = [("embed", P("model", "data")), ("kernel", P(None, "model")), ("bias", P())]
adam = optax.adamw(1e-3, mu_dtype=jnp.float32)


def factored():
    return optax.adafactor(1e-3)


def init():
    return {
        "embed": jnp.zeros((96, 64), jnp.bfloat16),
        "layer": {"kernel": jnp.zeros((64, 48)), "bias": jnp.zeros(48)},
    }


def broken():
    raise RuntimeError("no model")


def step(mesh):
    def abstract(shape, dtype, *spec):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))

    def loss(kernel, x):
        return jnp.sum(jnp.tanh(x @ kernel))

    kernel = abstract((64, 48), jnp.float32, None, "model")
    return jax.jit(jax.grad(loss)).lower(kernel, abstract((512, 64), jnp.float32, "data"))


def huge():
    return {
        "wide": jnp.zeros((1 << 17, 1 << 16), jnp.bfloat16),  # 16 GiB, split over "model"
        "table": jnp.zeros((10 << 14, 1 << 14), jnp.bfloat16),  # 5 GiB, whole
        "odd": jnp.zeros((50257, 8), jnp.int8),
    }
"""
SHAPES = {
    ("embed",): ((96, 64), jnp.bfloat16, PartitionSpec("model", "data")),
    ("layer", "kernel"): ((64, 48), jnp.float32, PartitionSpec(None, "model")),
    ("layer", "bias"): ((48,), jnp.float32, PartitionSpec()),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plans")
    (made / "model.py").write_text(MODEL, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def plans(folder: Path) -> dict[str, Any]:
    done = run_decoded(
        folder, "plan", "model:init", "--rules", "model:RULES", "--optimizer", "model:adam",
        "--devices", "4,6,64", "--axes", "data,model", "--output-format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def shard_bytes(shape: tuple[int, ...], dtype: Any, spec: PartitionSpec, mesh: AbstractMesh) -> int:
    """Return the bytes of a shard, as JAX shapes it. Raises what JAX raises."""
    return math.prod(NamedSharding(mesh, spec).shard_shape(shape)) * jnp.dtype(dtype).itemsize


def test_every_mesh_is_there(plans: dict[str, Any]) -> None:
    meshes = {(plan["mesh"]["data"], plan["mesh"]["model"]) for plan in plans["plans"]}
    assert meshes == {(a, n // a) for n in (4, 6, 64) for a in range(1, n + 1) if n % a == 0}


def test_bytes_are_those_of_jax(plans: dict[str, Any]) -> None:
    state = jax.eval_shape(
        optax.adamw(1e-3, mu_dtype=jnp.float32).init,
        {
            "embed": jax.ShapeDtypeStruct((96, 64), jnp.bfloat16),
            "layer": {
                "kernel": jax.ShapeDtypeStruct((64, 48), jnp.float32),
                "bias": jax.ShapeDtypeStruct((48,), jnp.float32),
            },
        },
    )
    specs = {shape: spec for shape, _, spec in SHAPES.values()}
    accepted = 0
    for plan in plans["plans"]:
        mesh = AbstractMesh((plan["mesh"]["data"], plan["mesh"]["model"]), ("data", "model"))
        try:
            parameters = sum(shard_bytes(*one, mesh) for one in SHAPES.values())
        except ValueError:
            assert plan["problems"], plan
            continue
        accepted += 1
        leaves = jax.tree.leaves(state)
        held = sum(
            shard_bytes(leaf.shape, leaf.dtype, specs.get(leaf.shape, PartitionSpec()), mesh)
            for leaf in leaves
        )
        assert plan["problems"] == []
        assert (plan["parameters"], plan["gradients"]) == (parameters, parameters)
        assert plan["optimizer"] == held
        assert plan["total"] == 2 * parameters + held
        assert plan["fits"] == ["v5e", "v6e", "v5p"]
    assert 0 < accepted < len(plans["plans"])


def test_what_blocks_meshes_is_counted(plans: dict[str, Any]) -> None:
    problems = {one["problem"]: one for one in plans["blockers"]}
    (sixty_four,) = (text for text in problems if text.startswith("embed: ") and "(64 devices)" in text)
    assert "size 96" in sixty_four
    blocked = [plan for plan in plans["plans"] if plan["problems"]]
    assert sum(one["alone"] for one in plans["blockers"]) <= len(blocked)


def test_a_factored_state_is_whole(folder: Path) -> None:
    """Adafactor's rows and columns are no arrays like the parameters: nothing says that they are split."""
    done = run_decoded(
        folder, "plan", "model:init", "--rules", "model:RULES", "--optimizer", "model:factored",
        "--devices", "4", "--output-format", "json",
    )  # fmt: skip
    plan = json.loads(done.stdout)["plans"][0]
    assert plan["optimizer"] > 0


def test_the_table_says_what_fits(folder: Path) -> None:
    done = run_decoded(folder, "plan", "model:init", "--rules", "model:RULES", "--devices", "8")
    assert done.returncode == 0
    assert "v5e (16 GiB): fits from 8 devices on" in done.stdout
    assert "No optimizer was named" in done.stdout


def test_a_step_is_compiled_where_it_is_given(folder: Path) -> None:
    done = run_decoded(
        folder, "plan", "model:init", "--rules", "model:RULES", "--axes", "data,model", "--devices", "4",
        "--step", "model:step", "--output-format", "json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    temporaries = {plan["mesh"]["data"]: plan["temporaries"] for plan in found["plans"]}
    assert set(temporaries) == {1, 2, 4}
    # At least the product on each device, 512 x 48 values of 4 bytes, is kept for the backward pass.
    assert all(size is not None and size >= 512 * 48 * 4 // 4 for size in temporaries.values())
    for plan in found["plans"]:
        assert plan["total"] == plan["parameters"] + max(plan["gradients"], plan["temporaries"])


def test_a_step_that_fails_is_told(folder: Path) -> None:
    done = run_decoded(
        folder, "plan", "model:init", "--rules", "model:RULES", "--devices", "4", "--step", "model:broken"
    )
    assert done.returncode == 2
    assert "compiling model:broken raised TypeError" in done.stderr


def test_changes_that_help_are_told(folder: Path) -> None:
    done = run_decoded(
        folder, "plan", "model:huge", "--rules", "model:HUGE_RULES", "--devices", "4,8", "--axes",
        "data,model", "--output-format", "json",
    )  # fmt: skip
    found = json.loads(done.stdout)
    (size,) = found["sizes"]
    assert (size["parameter"], size["size"], size["axes"]) == ("odd", 50257, ["data"])
    assert size["to"] % size["ways"] == 0 and size["to"] > size["size"]
    # On 8 devices v5e holds (2 + 5) GiB of parameters, and as much of gradients; on 4 they are (4 + 5) GiB.
    (change,) = found["changes"]
    assert (change["chip"], change["devices"], change["over"] >> 30) == ("v5e", 4, 2)
    (layout,) = change["layouts"]
    assert (layout["parameter"], layout["axis"], layout["saved"]) == ("table", "model", 2 * 5 * 3 << 28)
    html = run_decoded(
        folder, "plan", "model:huge", "--rules", "model:HUGE_RULES", "--devices", "4,8", "--axes",
        "data,model", "--output-format", "html",
    ).stdout  # fmt: skip
    assert "4 devices" in html
    assert "would fit with a split of table over" in html


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("model:broken",), "running model:broken raised RuntimeError: no model"),
        (("model:init",), "no parameter names a mesh axis"),
        (("model",), '"model" is not written as package.module:name'),
        ((), "nothing says what makes the parameters"),
        (("model:init", "--devices", "many"), "--devices many is no list"),
        (("model:init", "--optimizer", "model:missing"), "has no attribute 'missing'"),
        (("model:init", "--optimizer", "model:RULES"), "asking the optimizer raised"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run_decoded(folder, "plan", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
