"""GitLab's code quality report: its documented fields, and fingerprints that stay when lines move."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_findings import SETUP, WRONG, made_up, notebook, of_all_rules, write
from support.checking import check

from shardlint.api import Excerpts, Linter, Settings, read_source
from shardlint.model.findings import Finding
from shardlint.output.formats import gitlab
from shardlint.output.formats.fingerprints import fingerprints

#: What GitLab's documentation says of a report, and its validator asks for.
_POSITION = {
    "type": "object",
    "required": ["line"],
    "properties": {"line": {"type": "integer", "minimum": 1}},
}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "location", "severity"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "positions"],
                "properties": {
                    # Relative to the repository, and without ./ in front.
                    "path": {"type": "string", "pattern": r"^(?!\./|/)"},
                    "positions": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": _POSITION, "end": _POSITION},
                    },
                },
            },
        },
    },
}


def report(findings: Sequence[Finding], excerpts: Excerpts) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(gitlab.render(findings, excerpts.lines, excerpts.in_file))
    jsonschema.validate(loaded, SCHEMA)
    marks = [issue["fingerprint"] for issue in loaded]
    assert len(set(marks)) == len(marks), "GitLab shows one of those that are alike"
    return loaded


def test_reports_are_valid() -> None:
    assert report([], Excerpts()) == []
    assert len(report(*of_all_rules())) > 50
    issues = report(made_up(), Excerpts())
    assert [issue["severity"] for issue in issues] == ["critical", "minor", "info", "info", "critical"]
    assert issues[1]["check_name"] == "SHL103 unknown-mesh-axis"
    assert issues[1]["location"] == {
        "path": "häuser & co/a b%20,c:d.py",
        "positions": {"begin": {"line": 2, "column": 3}, "end": {"line": 2, "column": 9}},
    }


def test_paths_are_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    Path("a.py").write_text(SETUP + WRONG)
    findings = Linter(Settings()).check_paths(["./a.py"]).findings
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    (issue,) = report(findings, Excerpts())
    assert issue["location"]["path"] == "src/a.py"


def marks_of(text: str, path: str = "a.py") -> list[str]:
    return fingerprints(check(text, path, devices=None), Excerpts({path: text.encode()}).lines)


def test_fingerprints_stay_when_lines_move() -> None:
    before = marks_of(f"{SETUP}{WRONG}\n")
    assert len(before) == 1
    indented = f"if mesh:\n    {WRONG}\n"
    for moved in (f"# one more\n\n{SETUP}\n\n{WRONG}\n", f"{SETUP}{indented}", f"{SETUP}{WRONG}\ny = 1\n"):
        assert marks_of(moved) == before
    assert marks_of(f"{SETUP}{WRONG}\n", "b.py") != before
    assert marks_of(f"{SETUP}{WRONG.replace('10', '12 + 1')}\n") != before
    # The same line twice is two findings, of which the first is the one that was there.
    twice = marks_of(f"{SETUP}{WRONG}\n{WRONG}\n")
    assert len(set(twice)) == 2
    assert twice[0] == before[0]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["", "# a comment", "pass", "y = 1"]), max_size=6), st.integers(0, 6))
def test_fingerprints_stay_under_other_edits(lines: list[str], at: int) -> None:
    around = [*lines[:at], WRONG, *lines[at:]]
    assert marks_of(SETUP + "\n".join(around)) == marks_of(SETUP + WRONG)


def test_fingerprints_stay_when_cells_move(tmp_path: Path) -> None:
    marks = []
    for cells in ([SETUP, WRONG], ["pass", SETUP, "y = 1", f"\n{WRONG}"]):
        path = write(tmp_path, "n.ipynb", notebook(cells))
        findings = Linter(Settings()).check_source(read_source(path))
        marks.append(fingerprints(findings, Excerpts().lines))
    assert len(marks[0]) == 1
    assert marks[0] == marks[1]
