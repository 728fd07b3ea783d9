"""A model's abstract init in the worker: linen, nnx, plain trees and optimizers; and what can go wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from shardlint.api import Linter, load_settings
from shardlint.cli.commands import main
from shardlint.confirm.init_request import InitFailed, abstract_init
from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.report.values import InitReport

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_workers")]

MESH = Mesh(("data", "model"), (2, 4), (AxisType.AUTO,) * 2)
HUGE = Mesh(("data", "model"), (64, 64), (AxisType.AUTO,) * 2)

MODEL = """
import os, re, sys, time
import flax.linen as nn
import jax, jax.numpy as jnp, numpy as np, optax
from flax import nnx
from jax.sharding import PartitionSpec as P


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(64, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, "model")))(x)
        x = jax.lax.with_sharding_constraint(x, P("data"))
        return nn.Dense(10)(x)


class Nnx(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(8, 16, rngs=rngs) for _ in range(2)])
        self.table = nnx.Param(jnp.zeros((8, 16), jnp.bfloat16), sharding=("data", "model"))

    def __call__(self, x):
        return x


def linen():
    return Linen().init(jax.random.key(0), jnp.zeros((8, 32)))


def abstract():
    return jax.eval_shape(Linen().init, jax.random.key(0), jnp.zeros((8, 32)))


def module():
    return Nnx(nnx.Rngs(0))


def state():
    return nnx.state(Nnx(nnx.Rngs(0)), nnx.Param)


def optimizer():
    params = nn.unbox(linen())
    return {"params": params, "opt": optax.adamw(1e-3).init(params)}


plain = {"a": np.zeros((8, 8)), "b": [jnp.zeros(3), "text"]}
device_count = lambda: {"x": jnp.zeros((jax.device_count(), 2))}


def sets_a_mesh():
    with jax.set_mesh(jax.make_mesh((2, 4), ("data", "model"))):
        return {"x": jnp.zeros((8, 8), device=jax.NamedSharding(jax.make_mesh((8,), ("m",)), P("m")))}


def looks_at_values():
    return {"x": jnp.zeros(int(jnp.ones(3).sum()))}


def raises():
    raise KeyError("no such model")


def text():
    return "parameters"


def nothing():
    return {}


def exits():
    sys.exit("usage: train --model")


def dies():
    os._exit(3)


def sleeps():
    time.sleep(600)


def eats():
    x = os.urandom(1 << 20) * 512
    time.sleep(600)


rules = [
    ("Dense_0/kernel", P(None, "model")), (re.compile("BIAS", re.I), P("model")), ("attention", P("data")),
]
wrong = [
    ("Dense_0/kernel", P(None, None, "model")), ("Dense_1/kernel", P(None, "model")),
    ("Dense_0/bias", P("modle")), (".*", P()), ("Dense_1/bias", "model"), ("(", P()),
]


def from_function():
    return rules


def by_path(path):
    return P(None, "model") if path.endswith("kernel") else P()


def dotted():
    return {r"layers\\.\\d+\\.kernel": P("data", "model"), r"layers\\.0\\.bias": P(), "table": P()}


malformed = [("kernel",)]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "toy_model.py").write_text(MODEL)
    return folder


def made(project: Path, init: str, rules: str | None = None, mesh: Mesh | None = MESH, **options: Any) -> Any:
    named = None if rules is None else f"toy_model:{rules}"
    return abstract_init(f"toy_model:{init}", named, mesh, roots=[str(project)], **options)


def report(project: Path, init: str, rules: str | None = None, **settings: Any) -> InitReport:
    linter = Linter(load_settings(str(project), root=str(project), **settings))
    return linter.init_report(f"toy_model:{init}", None if rules is None else f"toy_model:{rules}")


DENSE = {
    "params/Dense_0/bias": ((64,), "float32", None),
    "params/Dense_0/kernel": ((32, 64), "float32", 'P(None, "model")'),
    "params/Dense_1/bias": ((10,), "float32", None),
    "params/Dense_1/kernel": ((64, 10), "float32", None),
}
LAYERS = {
    **{f"layers/{i}/bias": ((16,), "float32", None) for i in range(2)},
    **{f"layers/{i}/kernel": ((8, 16), "float32", None) for i in range(2)},
    "table": ((8, 16), "bfloat16", 'P("data", "model")'),
}
BARE = {path: (shape, dtype, None) for path, (shape, dtype, _) in DENSE.items()}


@pytest.mark.parametrize(
    ("init", "mesh", "expected"),
    [
        ("linen", MESH, DENSE),
        ("linen", HUGE, DENSE),
        ("abstract", MESH, DENSE),
        ("module", MESH, LAYERS),
        ("state", MESH, LAYERS),
        (
            "optimizer",
            MESH,
            {
                **{f"params/{path}": leaf for path, leaf in BARE.items()},
                **{f"opt/0/{moment}/{path}": leaf for path, leaf in BARE.items() for moment in ("mu", "nu")},
                "opt/0/count": ((), "int32", None),
            },
        ),
        ("plain", None, {"a": ((8, 8), "float32", None), "b/0": ((3,), "float32", None)}),
        ("device_count", MESH, {"x": ((8, 2), "float32", None)}),
        ("sets_a_mesh", MESH, {"x": ((8, 8), "float32", 'P("m")')}),
        ("looks_at_values", None, {"x": ((3,), "float32", None)}),
    ],
)
def test_init_is_abstract(project: Path, init: str, mesh: Mesh | None, expected: dict[str, Any]) -> None:
    arrays = made(project, init, mesh=mesh).arrays
    names = {"/".join(one.path): None if one.names is None else str(one.names) for one in arrays}
    assert {
        "/".join(one.path): (one.shape, one.dtype, names["/".join(one.path)]) for one in arrays
    } == expected


@pytest.mark.parametrize(
    ("init", "options", "message"),
    [
        ("raises", {}, "running toy_model:raises raised KeyError: 'no such model'"),
        ("text", {}, "toy_model:text makes a str, which is no pytree of arrays"),
        ("nothing", {}, "toy_model:nothing makes an empty pytree"),
        ("exits", {}, "running toy_model:exits raised SystemExit: usage: train --model"),
        ("dies", {}, "toy_model:dies was not run: the JAX worker"),
        ("sleeps", {"timeout": 5.0}, "did not answer within 5 s"),
        ("eats", {"memory": 512 << 20}, "used more than 512 MiB"),
        ("missing", {}, "importing toy_model:missing raised AttributeError"),
        ("linen", {"rules": "malformed"}, "reading the rules of toy_model:malformed raised ValueError"),
        ("linen", {"rules": "missing"}, "importing toy_model:linen and toy_model:missing raised"),
        ("linen", {"python": "no-such-python"}, "cannot run no-such-python"),
    ],
)
def test_what_goes_wrong_is_said(project: Path, init: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InitFailed) as failure:
        made(project, init, **options)
    assert message in str(failure.value)
    assert "Traceback" not in str(failure.value)


def test_an_unknown_module_is_said(project: Path) -> None:
    with pytest.raises(InitFailed, match="importing no_such_module:f raised ModuleNotFoundError"):
        abstract_init("no_such_module:f", roots=[str(project)])


def test_each_parameter_has_its_rule_and_bytes(project: Path) -> None:
    found = report(project, "linen", "rules", mesh=MESH)
    rows = {one.path: one for one in found.report.parameters}
    assert {path: one.rule for path, one in rows.items()} == {
        "params/Dense_0/kernel": 0, "params/Dense_0/bias": 1, "params/Dense_1/bias": 1,
        "params/Dense_1/kernel": None,
    }  # fmt: skip
    held = rows["params/Dense_0/kernel"].holdings[0]
    assert held is not None
    assert (held.bytes, held.copies, held.spec) == (32 * 64 * 4 // 4, 2, Spec((None, "model")))
    assert [(one.kind, one.failing) for one in found.findings] == [
        ("indivisible", True), ("unmatched-rule", True), ("no-rule", True),
    ]  # fmt: skip
    assert found.findings[0].message == (
        '`params/Dense_1/bias`: dimension 0 of (10,) has size 10, which "model" (4 devices) does not divide'
    )
    assert [(row.matches, row.takes) for row in found.rules or ()] == [(1, 1), (2, 2), (0, 0)]
    assert found.report.totals[0].counted == 2


def test_what_is_wrong_with_rules(project: Path) -> None:
    found = report(project, "linen", "wrong", mesh=MESH)
    assert [(one.kind, one.subject) for one in found.findings] == [
        ("not-a-spec", '"Dense_1/bias"'), ("broken-pattern", '"("'), ("unknown-axis", "params/Dense_0/bias"),
        ("too-long", "params/Dense_0/kernel"), ("indivisible", "params/Dense_1/kernel"),
        ("shadowed-rule", '"Dense_1/bias"'),
    ]  # fmt: skip
    assert 'did you mean "model"?' in next(
        one.message for one in found.findings if one.kind == "unknown-axis"
    )


def test_rules_of_other_forms(project: Path) -> None:
    same = report(project, "linen", "from_function", mesh=MESH)
    assert [one.rule for one in same.report.parameters].count(None) == 1
    chosen = report(project, "linen", "by_path", mesh=MESH)
    assert chosen.rules is None and [one.kind for one in chosen.findings] == ["indivisible"]
    dotted = report(project, "module", "dotted", mesh=MESH)
    assert {one.path for one in dotted.report.parameters} == {path.replace("/", ".") for path in LAYERS}
    assert [one.kind for one in dotted.findings] == ["no-rule"]


def test_every_mesh_of_the_configuration_is_tried(project: Path) -> None:
    meshes = (("small", MESH), ("large", HUGE))
    found = report(project, "linen", None, meshes=meshes)
    assert [total.counted for total in found.report.totals] == [4, 4]
    assert [total.device for total in found.report.totals] == [
        32 * 64 + 256 + 40 + 2560, 32 * 64 * 4 // 64 + 256 + 40 + 2560,
    ]  # fmt: skip


def test_the_command(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    configuration = '[report]\ninit = "toy_model:linen"\nrules = "toy_model:by_path"\n'
    (project / "shardlint.toml").write_text(configuration)
    code = main(["report", "--init", "--mesh", "data=2,model=2", "--output-format", "json"])
    said = json.loads(capsys.readouterr().out)
    assert code == 0 and said["findings"] == [] and said["init"] == "toy_model:linen"
    assert said["parameters"][0]["on"]["--mesh"]["bytes"] == 32 * 64 * 2
    code = main(
        ["report", "--init", "toy_model:linen", "--rules", "toy_model:wrong", "--mesh", "data=1,model=4"]
    )
    assert code == 1
    assert 'rule 6, "("' in capsys.readouterr().out
    assert main(["report", "--init", "toy_model:raises", "--python", sys.executable]) == 2
    assert "raised KeyError" in capsys.readouterr().err
    assert main(["report", "--init", "toy_model:"]) == 2
    (project / "shardlint.toml").write_text("")
    assert main(["report", "--init"]) == 2
    assert "nothing says what makes the parameters" in capsys.readouterr().err
