"""Baselines: what is known again after edits, what goes, and what is no baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import BAD, GOOD, HEADER, OLD, check, write_notebook

PROGRAM = f"{HEADER}\n\ndef first():\n    return {BAD}\n\n\ndef second():\n    return {BAD}\n"
LONGER = BAD.replace("10", "14")


def entries(path: Path) -> list[dict[str, object]]:
    found = json.loads(path.read_text(encoding="utf-8"))["findings"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(PROGRAM)
    ran = check(tmp_path, ".", "--write-baseline", "known.json")
    assert (ran.code, ran.out, ran.err) == (0, "", "Wrote 2 findings to known.json.\n")
    return tmp_path


def test_what_is_known_is_not_reported(project: Path) -> None:
    assert check(project, ".").code == 1
    ran = check(project, ".", "--baseline", "known.json")
    assert (ran.code, ran.err) == (0, "")
    (project / "shardlint.toml").write_text('baseline = "known.json"\n')
    assert check(project, ".").code == 0
    assert check(project, "a.py").code == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def first", "import os\n\n\ndef zeroth():\n    return 1\n\n\ndef first"),
        ("def first", "def renamed"),
        ("def first():\n    return ", "def first():\n    # note\n    x = 1\n    return  "),
        (f"first():\n    return {BAD}", f"first():\n    return {BAD}  # note"),
        (f"first():\n    return {BAD}", f"first():\n    return {LONGER}"),
        (f"first():\n    return {BAD}", f"first():\n    value = {BAD}\n    return value"),
        ('(2, 4), ("data"', '(1, 8), ("data"'),
    ],
)
def test_edits_around_a_finding_do_not_make_it_new(project: Path, old: str, new: str) -> None:
    path = project / "a.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    ran = check(project, ".", "--baseline", "known.json")
    assert (ran.code, ran.found, ran.err) == (0, [], "")


def test_a_file_that_was_moved_is_known_again(project: Path) -> None:
    (project / "a.py").rename(project / "b.py")
    assert check(project, ".", "--baseline", "known.json").code == 0


@pytest.mark.parametrize(
    "added", [f"\n\ndef third():\n    return {BAD}\n", f"    {BAD}\n", f"{HEADER and ''}\nx = {LONGER}\n"]
)
def test_another_one_is_new(project: Path, added: str) -> None:
    path = project / "a.py"
    path.write_text(path.read_text().replace("return jax", "y = jax") + added)
    ran = check(project, ".", "--baseline", "known.json")
    assert ran.code == 1
    assert len(ran.found) == 1


def test_what_is_gone_goes(project: Path) -> None:
    path = project / "a.py"
    path.write_text(path.read_text().replace(BAD, GOOD, 1))
    assert (
        "1 finding of known.json is gone, and no longer in it"
        in check(project, ".", "--baseline", "known.json").err
    )
    assert [entry["where"] for entry in entries(project / "known.json")] == ["second"]
    # So that it is new when it comes back.
    path.write_text(PROGRAM)
    assert check(project, ".", "--baseline", "known.json").found == ["SHL202:10"]


def test_a_file_that_says_nothing_of_sharding_any_more_has_no_findings(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    assert "2 findings" in check(project, ".", "--baseline", "known.json").err
    assert entries(project / "known.json") == []


@pytest.mark.parametrize("flags", [("--select", "SHL1"), ("--devices", "16"), ("b.py",)])
def test_what_was_not_looked_for_stays(project: Path, flags: tuple[str, ...]) -> None:
    (project / "b.py").write_text(HEADER)
    before = (project / "known.json").read_bytes()
    (project / "a.py").write_text(PROGRAM.replace(BAD, GOOD))
    check(project, *(flags if "b.py" in flags else (".", *flags)), "--baseline", "known.json")
    assert (project / "known.json").read_bytes() == before


def test_a_file_that_cannot_be_read_whole_keeps_its_findings(project: Path) -> None:
    before = (project / "known.json").read_bytes()
    (project / "a.py").write_text(PROGRAM.replace("def first", "def first)"))
    assert check(project, ".", "--baseline", "known.json").code == 1
    assert (project / "known.json").read_bytes() == before


def test_a_read_only_baseline_is_told_of(project: Path) -> None:
    known = project / "known.json"
    known.chmod(0o444)
    (project / "a.py").write_text(PROGRAM.replace(BAD, GOOD, 1))
    ran = check(project, ".", "--baseline", "known.json")
    assert (ran.code, ran.err) == (0, "1 finding of known.json is gone; it is read-only\n")


def test_alike_findings_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEADER + f"{BAD}\n" * 3)
    check(tmp_path, ".", "--write-baseline", "known.json")
    assert [entry["count"] for entry in entries(tmp_path / "known.json")] == [3]
    (tmp_path / "a.py").write_text(HEADER + f"{BAD}\n" * 4)
    assert check(tmp_path, ".", "--baseline", "known.json").found == ["SHL202:10"]


def test_cells_that_move_are_known_again(tmp_path: Path) -> None:
    write_notebook(tmp_path / "a.ipynb", [HEADER, BAD])
    check(tmp_path, ".", "--write-baseline", "known.json")
    write_notebook(tmp_path / "a.ipynb", [HEADER, "x = 1", f"y = 2\n{BAD}"])
    assert check(tmp_path, ".", "--baseline", "known.json").code == 0


def test_the_file_is_sorted_with_a_line_for_each(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.py", "a.py", "sub/c.py"):
        (tmp_path / name).write_text(HEADER + OLD + BAD + "\n")
    check(tmp_path, ".", "--write-baseline", "sub/known.json")
    text = (tmp_path / "sub" / "known.json").read_text()
    assert [(entry["path"], entry["code"]) for entry in entries(tmp_path / "sub" / "known.json")] == [
        ("../a.py", "SHL202"), ("../a.py", "SHL801"), ("../b.py", "SHL202"), ("../b.py", "SHL801"),
        ("c.py", "SHL202"), ("c.py", "SHL801"),
    ]  # fmt: skip
    assert text.count("\n") == 11
    check(tmp_path, "sub", "b.py", "a.py", "--write-baseline", "again.json")
    check(tmp_path, ".", "--write-baseline", "once.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "once.json").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "b.json does not exist; `--write-baseline b.json` makes it"),
        ("{", "is no baseline: Expecting"),
        ("[" * 100_000, "is no baseline"),
        ("[]", 'it has no list of "findings"'),
        ('{"version": 2, "findings": []}', "version 2"),
        ('{"version": 1, "findings": [3]}', "finding 1 is no object"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', 'finding 1 has no "code"'),
        ('{"version": 1, "findings": [\n<<<<<<< ours\n', "unresolved merge conflict"),
        ('{"version": 1, "findings": [{"path": "a", "code": "b", "where": "", "line": "", "message": "", '
         '"count": 0}]}', '"count" must be a whole number above 0, not 0'),
        (b"\xff\xfe", "cannot be read"),
    ],
)  # fmt: skip
def test_what_is_no_baseline_is_an_error(tmp_path: Path, text: str | bytes | None, message: str) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    if text is not None:
        (tmp_path / "b.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = check(tmp_path, ".", "--baseline", "b.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("shardlint: b.json")
    assert message in ran.err


def test_a_baseline_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    ran = check(tmp_path, ".", "--write-baseline", "no/such/folder.json")
    assert ran.code == 2
    assert "no/such/folder.json cannot be written" in ran.err


def test_what_is_known_is_not_fixed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEADER + OLD)
    check(tmp_path, ".", "--write-baseline", "known.json")
    check(tmp_path, ".", "--baseline", "known.json", "--fix")
    assert (tmp_path / "a.py").read_text() == HEADER + OLD
