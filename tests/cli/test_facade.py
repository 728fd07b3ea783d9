"""The facade: selection, suppression, announcements, and crashes that stay with their file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import shardlint.inference
import shardlint.rules
from shardlint.api import Excerpts, Linter, Settings, source_from_cells, source_from_text
from shardlint.inference import InferenceSettings, Noticed
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span
from shardlint.model.uses import ApiReference, Environment, FileProblem, Use
from shardlint.rules.base import RuleSettings
from shardlint.source import Source

BROKEN = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model")))
"""
FINDING_LINE = 7


def codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def check(text: str, path: str = "a.py", **settings: object) -> list[Finding]:
    return Linter(Settings(**settings)).check_source(source_from_text(path, text))  # type: ignore[arg-type]


def test_a_mistake_is_found_where_it_is() -> None:
    (finding,) = check(BROKEN)
    assert (finding.code, finding.severity) == ("SHL202", Severity.ERROR)
    column = BROKEN.splitlines()[FINDING_LINE - 1].index('"model"') + 1
    assert finding.span == Span("a.py", FINDING_LINE, column, FINDING_LINE, column + len('"model"'))


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"select": ("SHL1",)}, []),
        ({"select": ("SHL2",)}, ["SHL202"]),
        ({"select": ("SHL1",), "extend_select": ("indivisible-dimension",)}, ["SHL202"]),
        ({"ignore": ("SHL202",)}, []),
        ({"ignore": ("SHL202",), "select": ("SHL20",)}, []),
        ({"ignore": ("SHL20",), "select": ("SHL202",)}, ["SHL202"]),
        ({"ignore": ("ALL",), "select": ("correctness",)}, ["SHL202"]),
        ({"ignore": ("correctness",)}, []),
        ({"extend_ignore": ("indivisible-dimension",)}, []),
    ],
)
def test_rules_are_selected(settings: dict[str, Any], found: list[str]) -> None:
    assert codes(check(BROKEN, **settings)) == found


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("# shardlint: ignore", []),
        ("# shardlint: ignore[SHL202] sizes are padded", []),
        ("# shardlint: ignore[SHL101]", ["SHL202", "SHL012"]),
    ],
)
def test_findings_are_suppressed(comment: str, found: list[str]) -> None:
    lines = BROKEN.splitlines()
    lines[FINDING_LINE - 1] += f"  {comment}"
    assert codes(check("\n".join(lines))) == found
    assert sorted(codes(check(f"{comment.replace('ignore', 'ignore-file')}\n{BROKEN}"))) == sorted(found)


def test_a_suppression_in_one_cell_does_not_reach_another() -> None:
    line = BROKEN.splitlines()[FINDING_LINE - 1]
    cells = [(0, BROKEN), (1, f"{line}  # shardlint: ignore\n"), (2, f"\n{line}\n")]
    findings = Linter(Settings()).check_source(source_from_cells("n.ipynb", cells))
    assert [(finding.span.cell, finding.span.line) for finding in findings] == [(0, FINDING_LINE), (2, 2)]


@pytest.mark.parametrize(
    ("path", "comment", "expected"),
    [
        ("fixtures/a.py", "# expect: SHL202", True),
        ("models/fixtures/deep/a.py", "# expect: SHL101, SHL202", True),
        ("fixtures/a.py", "# expect: SHL101", False),
        ("fixtures/a.py", "# expect-silent: SHL202", True),
        ("src/a.py", "# expect: SHL202", False),
    ],
)
def test_a_fixture_announces_its_findings(path: str, comment: str, expected: bool) -> None:
    lines = BROKEN.splitlines()
    lines[FINDING_LINE - 1] += f"  {comment}"
    assert [finding.expected for finding in check("\n".join(lines), path)] == [expected]


def test_a_cell_announces_its_findings() -> None:
    line = BROKEN.splitlines()[FINDING_LINE - 1]
    cells = [(0, BROKEN), (3, f"{line}  # expect: SHL202\n")]
    findings = Linter(Settings()).check_source(source_from_cells("fixtures/n.ipynb", cells))
    assert [(finding.span.cell, finding.expected) for finding in findings] == [(0, False), (3, True)]


def test_findings_come_in_reading_order(tmp_path: Path) -> None:
    for name in ("b.py", "a.py"):
        (tmp_path / name).write_text(f"{BROKEN}{BROKEN.splitlines()[FINDING_LINE - 1]}\n")
    report = Linter(Settings(root=str(tmp_path))).check_paths([str(tmp_path)])
    assert [(Path(f.span.path).name, f.span.line) for f in report.findings] == [
        ("a.py", 7), ("a.py", 8), ("b.py", 7), ("b.py", 8),
    ]  # fmt: skip
    assert report.files == 2
    assert report.failing == report.findings


def test_files_that_do_not_mention_sharding_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def broken(:\n")
    (tmp_path / "b.py").write_bytes(b"\xff")
    linter = Linter(Settings(root=str(tmp_path)))
    assert linter.check_paths([str(tmp_path)]).findings == ()
    assert codes(linter.check_paths([str(tmp_path / "a.py")]).findings) == ["SHL001"]
    exhaustive = Linter(Settings(root=str(tmp_path), exhaustive=True))
    assert exhaustive.check_paths([str(tmp_path)]).findings == ()


def test_a_crash_of_inference_stays_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    (tmp_path / "b.py").write_text(BROKEN)
    sound = shardlint.inference.analyze

    def crashing(
        sources: Sequence[Source], settings: InferenceSettings, noticed: Noticed | None
    ) -> list[Use | FileProblem]:
        if any(source.path.endswith("a.py") for source in sources):
            raise KeyError("boom")
        return sound(sources, settings, noticed)

    monkeypatch.setattr(shardlint.inference, "analyze", crashing)
    first, second = Linter(Settings(root=str(tmp_path))).check_paths([str(tmp_path)]).findings
    assert (first.code, first.severity, Path(first.span.path).name) == ("SHL009", Severity.ERROR, "a.py")
    assert "KeyError: 'boom'" in first.message
    assert "report" in first.message
    assert (second.code, Path(second.span.path).name) == ("SHL202", "b.py")


def test_a_crash_of_a_rule_stays_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    (tmp_path / "b.py").write_text(BROKEN)
    sound = shardlint.rules.judge

    def crashing(uses: Sequence[Use], settings: RuleSettings) -> list[Finding]:
        if any(use.place.resolve().path.endswith("b.py") for use in uses):
            raise ZeroDivisionError
        return sound(uses, settings)

    monkeypatch.setattr(shardlint.rules, "judge", crashing)
    report = Linter(Settings(root=str(tmp_path))).check_paths([str(tmp_path)])
    assert codes(report.findings) == ["SHL202", "SHL009"]
    assert "ZeroDivisionError" in report.findings[1].message


def test_each_mesh_of_the_configuration_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (Mesh((name,), (4,), (AxisType.AUTO,)) for name in "xy")
    seen: list[Mesh | None] = []
    asked = True

    def noting(
        sources: Sequence[Source], settings: InferenceSettings, noticed: Noticed
    ) -> list[Use | FileProblem]:
        seen.append(settings.mesh)
        noticed.asks_mesh = asked
        use = ApiReference(place=Span("a.py", 1, 1, 1, 2), environment=Environment(), name="jax.P")
        return [use]

    monkeypatch.setattr(shardlint.inference, "analyze", noting)
    check("", meshes=(("one", one), ("two", two)))
    check("", meshes=(("one", one),), mesh=two)
    check("")
    assert seen == [None, one, two, None, two, None]
    seen.clear()
    asked = False
    check("", meshes=(("one", one), ("two", two)))
    assert seen == [None]


def test_the_lines_of_a_notebook_are_those_of_its_cell(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cells = [{"cell_type": "markdown", "source": "#"}, {"cell_type": "code", "source": "%time\nx = 1"}]
    path.write_text(json.dumps({"cells": cells}))
    assert list(Excerpts().lines(Span(str(path), 1, 1, 1, 2, cell=1))) == ["%time", "x = 1"]
    assert list(Excerpts().lines(Span(str(path), 1, 1, 1, 2, cell=0))) == []
    assert list(Excerpts().lines(Span(str(tmp_path / "no.py"), 1, 1, 1, 2))) == []
