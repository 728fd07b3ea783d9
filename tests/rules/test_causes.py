"""Findings that one edit repairs have one cause, and the edit repairs them: checked by making it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardlint.api import Linter, load_settings
from shardlint.confirm.confirmer import Confirmer
from shardlint.confirm.repairs import with_verified
from shardlint.engine.fix_trials import sources_after
from shardlint.model.findings import Finding
from shardlint.output.formats import full
from shardlint.output.formats import json as as_json
from shardlint.output.terminal_styles import Styles

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
"""
EXPLICIT = f"""{HEAD}
mesh = jax.make_mesh((2, 4), ("data", "model"))
a = jax.device_put(jnp.ones((8, 512)), NamedSharding(mesh, P("data", "model")))
b = jax.device_put(jnp.ones((512, 64)), NamedSharding(mesh, P("model", None)))
c = a @ b
d = a * jax.device_put(jnp.ones((8, 512)), NamedSharding(mesh, P("model", None)))


@jax.jit
def f(a):
    return jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P("model", None)))


f(a)
"""
NO_MESH = f"""{HEAD}
def kernel(*names):
    return nnx.with_partitioning(nnx.initializers.lecun_normal(), names)


class Block(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(512, 2048, use_bias=False, kernel_init=kernel(None, "model"), rngs=rngs)
        self.down = nnx.Linear(2048, 512, use_bias=False, kernel_init=kernel("model", None), rngs=rngs)


def main():
    return Block(nnx.Rngs(0))


main()
"""
SPEC = f"""{HEAD}
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
ROWS = P("model", None)


def put(x):
    return jax.device_put(x, NamedSharding(mesh, ROWS))


def first():
    return put(jnp.ones((6, 8)))


def second():
    spec = NamedSharding(mesh, P("model"))
    rows = jnp.ones((30, 8))
    return jax.device_put(rows, spec), jax.device_put(rows, NamedSharding(mesh, P(("model", "data"))))


first()
second()
"""


def found(folder: Path, text: str) -> tuple[Linter, list[Finding]]:
    (folder / "a.py").write_text(text)
    linter = Linter(load_settings(str(folder)))
    return linter, list(linter.check_paths([str(folder / "a.py")]).findings)


def test_explicit_axes_by_default_are_one_cause_at_the_mesh(tmp_path: Path) -> None:
    linter, findings = found(tmp_path, EXPLICIT)
    errors = [finding for finding in findings if finding.severity == "error"]
    assert len(errors) == 3
    (cause,) = {finding.cause for finding in errors}
    assert cause is not None and cause.fix is not None
    assert (cause.span.line, cause.repairs) == (7, 3)
    (source,) = linter.read_paths([str(tmp_path / "a.py")])[1]
    after = sources_after(cause.fix, [source])
    assert after is not None
    assert [finding for finding in linter.check_sources(after) if finding.severity != "info"] == []


def test_axis_types_that_are_stated_are_no_cause(tmp_path: Path) -> None:
    stated = EXPLICIT.replace(
        '("data", "model"))\na', '("data", "model"), axis_types=(AxisType.Explicit,) * 2)\na'
    )
    _, findings = found(tmp_path, stated)
    assert len(findings) == 3
    assert all(finding.cause is None for finding in findings)


def test_one_call_without_a_mesh_is_one_cause_at_the_call(tmp_path: Path) -> None:
    _, findings = found(tmp_path, NO_MESH)
    errors = [finding for finding in findings if finding.code == "SHL206"]
    assert len(errors) == 2
    (cause,) = {finding.cause for finding in errors}
    assert cause is not None
    assert (cause.span.line, cause.repairs, cause.fix) == (18, 2, None)
    assert "`with mesh:` sets none for nnx" in cause.message
    mesh = "Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))"
    mended = f"{NO_MESH.removesuffix('main()' + chr(10))}with jax.set_mesh({mesh}):\n    main()\n"
    assert [f for f in found(tmp_path, mended)[1] if f.code == "SHL206"] == []


def test_one_array_of_a_wrong_size_is_one_cause(tmp_path: Path) -> None:
    _, findings = found(tmp_path, SPEC)
    causes = {finding.cause for finding in findings if finding.cause is not None}
    (cause,) = causes
    assert (cause.span.line, cause.repairs) == (21, 2)
    assert len(findings) == 3


def test_one_spec_for_arrays_that_it_does_not_fit_is_one_cause_where_it_is_written(tmp_path: Path) -> None:
    text = f"""{HEAD}
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def place():
    rows = NamedSharding(mesh, P("model", None))
    first = jax.device_put(jnp.ones((6, 8)), rows)
    second = jax.device_put(jnp.ones((7, 8)), rows)
    return first, second


place()
"""
    _, findings = found(tmp_path, text)
    assert len(findings) == 2
    (cause,) = {finding.cause for finding in findings}
    assert cause is not None
    assert (cause.span.line, cause.repairs) == (11, 2)


def test_a_single_finding_has_no_cause(tmp_path: Path) -> None:
    _, findings = found(tmp_path, SPEC.replace("second()\n\n", "").replace("second()\n", ""))
    assert [finding.cause for finding in findings if finding.span.line < 15] == [None]


def test_text_shows_the_cause_with_its_findings_below(tmp_path: Path) -> None:
    _, findings = found(tmp_path, EXPLICIT)
    shown = full.render(findings, lambda span: EXPLICIT.splitlines(), Styles(), asked=False)
    head = shown.splitlines()[0]
    assert "a.py:7:8: cause: " in head and head.endswith("(repairs 3)")
    assert shown.count("cause:") == 1
    assert sum(line.startswith("  /") and ": error[" in line for line in shown.splitlines()) == 3


def test_json_has_the_cause_of_each_finding(tmp_path: Path) -> None:
    _, findings = found(tmp_path, EXPLICIT)
    written = json.loads(as_json.render(findings))
    assert [one["cause"]["line"] for one in written] == [7, 7, 7]
    assert written[0]["cause"]["repairs"] == 3
    assert written[0]["cause"]["fix"]["edits"]


@pytest.mark.usefixtures("forked_workers")
@pytest.mark.parametrize("harm", [False, True])
def test_a_cause_is_verified_only_if_jax_accepts_what_is_left(tmp_path: Path, harm: bool) -> None:
    linter, _ = found(tmp_path, EXPLICIT)
    report = linter.check_paths([str(tmp_path / "a.py")])
    confirmed = linter.confirm(report).findings
    (cause,) = {finding.cause for finding in confirmed}
    assert cause is not None and "accepts the placements" in (cause.verified or "")
    if harm:
        with Confirmer() as confirmer:
            (cause,) = {
                finding.cause
                for finding in with_verified(
                    report.findings, lambda fix, paths: (report.findings, []), confirmer
                )
            }
        assert cause is not None and cause.verified is None
