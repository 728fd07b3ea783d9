# ruff: noqa: E501
"""`# shardlint: reveal`: what it says of values is what JAX says of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from facts_harness import SETUP, check, check_cells

from shardlint.api import Linter, Report, Settings, source_from_text
from shardlint.model.findings import Finding, Severity

MESHES = {
    "auto": 'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))\n',
    "explicit": 'mesh = jax.make_mesh((2, 4), ("data", "model"))\n',
}
ARRAYS = [
    "jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P('data')))",
    "jax.device_put(jnp.zeros((8, 16), jnp.bfloat16), NamedSharding(mesh, P('data', 'model')))",
    "jax.device_put(jnp.zeros((8, 16), jnp.int8), NamedSharding(mesh, P(('data', 'model'))))",
    "jax.device_put(jnp.zeros((16,), bool), NamedSharding(mesh, P()))",
    "jax.device_put(jnp.zeros((8, 4, 2)), NamedSharding(mesh, P(None, 'model')))",
    "jax.device_put(np.zeros((8, 16), np.float32), NamedSharding(mesh, P('data')))",
]
_RUN = """
import json, sys
for text in json.load(sys.stdin):
    world = {}
    exec(text, world)
    x = world["x"]
    shape = x.sharding.shard_shape(x.shape)
    each = x.addressable_shards[0].data
    print(json.dumps([x.aval.str_short(short_dtypes=True), x.nbytes, shape, each.nbytes]))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, list[object]]:
    texts = [f"{SETUP}{mesh}x = {array}\n" for mesh in MESHES.values() for array in ARRAYS]
    result = subprocess.run(
        [sys.executable, "-c", _RUN], input=json.dumps(texts),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(zip(texts, map(json.loads, result.stdout.splitlines()), strict=True))


def revealed(text: str) -> list[str]:
    return [finding.message for finding in check(text) if finding.code == "SHL011"]


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("array", ARRAYS)
def test_arrays_are_as_jax_says(mesh: str, array: str, answers: dict[str, list[object]]) -> None:
    typed, whole, shape, each = answers[f"{SETUP}{MESHES[mesh]}x = {array}\n"]
    assert isinstance(shape, list)
    (message,) = revealed(f"{MESHES[mesh]}x = {array}\nx  # shardlint: reveal")
    match = re.fullmatch(
        r"`x`: (\S+\[.*?\]) \((\d+) bytes\) on mesh \(data=2, model=4\): (\S+\[.*?\]) on each device \((\d+) bytes\)",
        message,
    )
    assert match is not None, message
    if mesh == "explicit":
        assert match[1].replace(" ", "") == str(typed).replace(" ", "")
    assert re.sub(r"@\([^)]*\)|@\w+", "", match[1]) == re.sub(
        r"\[.*", f"[{', '.join(map(str, _whole(array)))}]", match[1]
    )
    assert (int(match[2]), int(match[4])) == (whole, each)
    assert match[3].partition("[")[2] == f"{', '.join(map(str, shape))}]"


def _whole(array: str) -> list[int]:
    found = re.search(r"zeros\(\(([\d, ]+)\)", array)
    assert found is not None
    return [int(part) for part in found[1].split(",") if part.strip()]


MESH = MESHES["auto"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("s = P('data', None)  # shardlint: reveal", ['`s`: P("data", None)']),
        (f"{MESH}mesh  # shardlint: reveal", ["`mesh`: mesh (data=2, model=4): 8 devices, Auto axes"]),
        (f"{MESHES['explicit']}mesh  # shardlint: reveal", ["`mesh`: mesh (data=2, model=4): 8 devices, Explicit axes"]),
        (f"{MESH}s = NamedSharding(mesh, P('data'))\ns  # shardlint: reveal", ['`s`: NamedSharding of P("data") over (data=2, model=4)']),
        ("x = f()\nx  # shardlint: reveal", ["`x`: not known (`f` is not defined)"]),
        ("x = 1 + 1  # shardlint: reveal", ["nothing on this line is an array, a spec, a sharding or a mesh"]),
        ("x = np.zeros((4, 2))\nx  # shardlint: reveal", ["`x`: f64[4, 2] (64 bytes), a numpy array"]),
        ("x = {'w': jnp.ones(4), 'b': [P('x')]}\nx  # shardlint: reveal", ["""`x`: {'w': f32[4], 'b': [P("x")]}"""]),
        ("def f(x):  # shardlint: x: (n, 4), reveal\n    return x", ["`x`: ?[n, 4]; how it is sharded is not known"]),
        ("def f(x):\n    # shardlint: reveal\n    y = x.T\nf(jnp.ones((2, 3)))\nf(jnp.ones(4))", None),
        ("def f():\n    return 1\n    jnp.ones(4)  # shardlint: reveal", ["shardlint does not come to this line"]),
    ],
)  # fmt: skip
def test_what_is_said(text: str, words: list[str] | None) -> None:
    found = revealed(text)
    if words is None:
        # Two callers: one finding a place, which says both.
        assert len(found) == 2
        assert found[0].startswith("`y`: f32[3, 2]") and "; or `y`: f32[4]" in found[0]
    else:
        assert found == words


def test_one_finding_each() -> None:
    text = (
        f"{MESH}x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P('data')))  # shardlint: reveal"
    )
    names = [message.partition(": ")[0] for message in revealed(text)]
    assert names == [
        "`x`",
        "`jnp.zeros((8, 16))`",
        "`NamedSharding(mesh, P('data'))`",
        "`mesh`",
        "`P('data')`",
    ]


def test_it_does_not_make_a_check_fail() -> None:
    source = source_from_text("program.py", f"{SETUP}x = jnp.ones(4)  # shardlint: reveal\n")
    findings: list[Finding] = Linter(Settings(devices=8)).check_source(source)
    assert [f.severity for f in findings] == [Severity.INFO]
    assert Report(tuple(findings)).failing == ()


def test_in_a_notebook() -> None:
    found = check_cells(["x = jnp.ones(4)", "%time\nx + 1  # shardlint: reveal"])
    assert [(f.span.cell, f.span.line) for f in found] == [(2, 2), (2, 2)]


def test_loops_and_comprehensions_say_each_value() -> None:
    (message,) = revealed("for n in (4, 8):\n    x = jnp.ones(n)\n    x  # shardlint: reveal")
    assert message == "`x`: f32[4] (16 bytes); or `x`: f32[8] (32 bytes)"
