"""`--fix` and its kin: what is changed, what is reported then, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import BAD, HEADER, OLD, check, write_notebook

from shardlint.fixes.documents import Document
from shardlint.fixes.fixpoint import MOST_ROUNDS, fix_all
from shardlint.model.findings import Applicability, Edit, Finding, Fix, Severity
from shardlint.model.spans import Span
from shardlint.source import Source

MAPPED = 'f = shard_map(lambda x: x, mesh, P("data"), P("data"), False)\n'
NEW = "from jax import shard_map\n"
KEYWORDS = 'f = shard_map(lambda x: x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), check_vma=False)\n'
MISSPELT = 's = NamedSharding(mesh, P("dta"))\n'


def test_safe_fixes_are_applied_and_the_rest_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEADER + OLD + MAPPED + MISSPELT)
    ran = check(tmp_path, "a.py", "--fix")
    assert path.read_text() == HEADER + NEW + KEYWORDS + MISSPELT
    assert ran.code == 1
    assert ran.found == ["SHL103:9"]
    assert "Fixed 1 finding." in ran.err
    assert "1 fixable with `--fix --unsafe-fixes`" in ran.out


def test_unsafe_fixes_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEADER + OLD + MAPPED + MISSPELT)
    ran = check(tmp_path, "a.py", "--fix", "--unsafe-fixes", "--show-fixes")
    assert path.read_text() == HEADER + NEW + KEYWORDS + MISSPELT.replace("dta", "data")
    assert ran.code == 0
    assert "- a.py:\n    1 × SHL103 (unknown-mesh-axis)\n    1 × SHL801 (deprecated-api)\n" in ran.err
    assert check(tmp_path, "a.py").code == 0


def test_a_check_says_what_could_be_fixed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEADER + OLD + MAPPED + MISSPELT)
    assert "1 fixable with `--fix` (1 fix more with `--unsafe-fixes`)" in check(tmp_path, "a.py").out


def test_a_diff_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes((HEADER + OLD + MAPPED).replace("\n", "\r\n").encode())
    before = path.read_bytes()
    ran = check(tmp_path, "a.py", "--diff")
    assert ran.code == 1
    assert ran.out.startswith("--- a.py\n+++ a.py\n@@")
    assert f"-{OLD.strip()}\r\n" in ran.out or f"-{OLD.strip()}\n" in ran.out
    assert path.read_bytes() == before
    path.write_text(HEADER)
    assert check(tmp_path, "a.py", "--diff").code == 0


def test_fix_only_reports_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEADER + OLD + MAPPED + BAD + "\n")
    ran = check(tmp_path, "a.py", "--fix-only")
    assert (ran.code, ran.out) == (0, "")
    assert path.read_text() == HEADER + NEW + KEYWORDS + BAD + "\n"


def test_a_notebook_keeps_its_outputs(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write_notebook(path, [HEADER, "%time 1\n" + OLD + MAPPED, 's = NamedSharding(mesh, ("data",))'])
    before = path.read_text(encoding="utf-8").splitlines()
    assert check(tmp_path, "a.ipynb", "--fix").code == 0
    after = path.read_text(encoding="utf-8").splitlines()
    assert len(after) == len(before)
    assert [new.strip() for old, new in zip(before, after, strict=True) if old != new] == [
        json.dumps(NEW) + ",",
        json.dumps(KEYWORDS),
        json.dumps('s = NamedSharding(mesh, P("data",))'),
    ]


def test_a_name_is_called_anew_in_all_cells(tmp_path: Path) -> None:
    write_notebook(tmp_path / "a.ipynb", [HEADER + OLD, "shard_map", MAPPED])
    check(tmp_path, "a.ipynb", "--fix", "--unsafe-fixes")
    cells = [cell["source"] for cell in json.loads((tmp_path / "a.ipynb").read_text())["cells"]]
    assert cells == [(HEADER + NEW).splitlines(keepends=True), ["shard_map"], [KEYWORDS]]


def test_what_the_fix_of_an_error_uncovers_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEADER + BAD.replace('"model"', '"modle"') + "\n")
    ran = check(tmp_path, "a.py", "--fix", "--unsafe-fixes")
    assert path.read_text() == HEADER + BAD + "\n"
    assert ran.found == ["SHL202:7"]


def test_fixes_that_break_another_file_are_taken_back(tmp_path: Path) -> None:
    tools, user = tmp_path / "tools.py", tmp_path / "user.py"
    tools.write_text(HEADER + OLD)
    user.write_text(
        'from tools import P, mesh, shard_map\n\nf = shard_map(lambda x: x, mesh, P("data"), P("data"))\n'
    )
    before = tools.read_bytes()
    ran = check(tmp_path, ".", "--fix")
    assert tools.read_bytes() == before
    assert "all fixes were taken back: they make new errors in user.py" in ran.err
    assert "Fixed" not in ran.err


def test_a_read_only_file_is_an_error_and_others_are_fixed(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    for path in (first, second):
        path.write_text(HEADER + OLD + MAPPED)
    first.chmod(0o444)
    ran = check(tmp_path, ".", "--fix")
    assert ran.code == 2
    assert "shardlint: a.py cannot be written: it is read-only" in ran.err
    assert first.read_text() == HEADER + OLD + MAPPED
    assert second.read_text() == HEADER + NEW + KEYWORDS


@pytest.mark.parametrize(
    "flags", [("--write-baseline", "b.json", "--fix"), ("--add-ignores", "--diff"), ("--add-ignores=a#b",)]
)
def test_what_does_not_go_together(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text(HEADER + BAD + "\n")
    ran = check(tmp_path, "a.py", *flags)
    assert ran.code == 2
    assert (tmp_path / "a.py").read_text() == HEADER + BAD + "\n"


# -- rounds, with fixes of our own --------------------------------------------------------------


def finding(line: int, column: int, end: int, text: str, code: str, severity: Severity) -> Finding:
    span = Span("a.py", line, column, line, end)
    return Finding(
        code, "n", severity, f"of {code}", span, fix=Fix(code, Applicability.SAFE, (Edit(span, text),))
    )


def rounds(text: str, look: dict[str, tuple[str, str, Severity]]) -> tuple[str, list[str], int]:
    """Fix each word of a text that has a finding: its code, what is written instead, its severity."""
    count = 0

    def check_words(sources: object) -> list[Finding]:
        nonlocal count
        count += 1
        found = []
        for source in sources if isinstance(sources, list) else []:
            assert isinstance(source, Source)
            for number, line in enumerate(source.cells[0].text.split("\n"), 1):
                for word, (code, new, severity) in look.items():
                    if word in line.split():
                        at = line.split().index(word)
                        start = len(" ".join(line.split()[:at])) + (2 if at else 1)
                        found.append(finding(number, start, start + len(word), new, code, severity))
        return found

    document = Document("a.py", text.encode())
    fixed = fix_all([document], check_words([document.source]), False, check_words)
    return fixed.after.get("a.py", document).text, fixed.notes, count


WARNING, ERROR = Severity.WARNING, Severity.ERROR


def test_fixes_go_on_until_nothing_is_left() -> None:
    look = {f"w{n}": (f"SHL8{n}", f"w{n + 1}", WARNING) for n in range(4)}
    assert rounds("w0\n\nw2", look)[:2] == ("w4\n\nw4", [])


def test_fixes_that_call_for_each_other_end() -> None:
    look = {"a": ("SHL801", "b", WARNING), "b": ("SHL802", "a", WARNING)}
    text, notes, count = rounds("a", look)
    assert text in ("a", "b")
    assert notes == [f"after {MOST_ROUNDS} rounds there is still something to fix in a.py"]
    assert count == MOST_ROUNDS + 1


def test_a_fix_that_makes_an_error_is_left_out_and_the_others_are_not() -> None:
    look = {"a": ("SHL801", "bad", WARNING), "c": ("SHL802", "d", WARNING), "bad": ("SHL202", "bad", ERROR)}
    text, notes, _ = rounds("a\nc", look)
    assert text == "a\nd"
    assert notes == ["a.py:1: the fix of SHL801 (SHL801) would make a new error, and was left out"]


@pytest.mark.parametrize("text", ["a", "x a", "x\n\na a"])
def test_a_fix_that_leaves_its_finding_is_an_internal_error(text: str) -> None:
    after, notes, _ = rounds(text.replace("a", "stays"), {"stays": ("SHL202", "stays", ERROR)})
    assert after == text.replace("a", "stays")
    assert all("does not remove it, which is an internal error, and was left out" in note for note in notes)
    assert notes


def test_what_a_fix_uncovers_in_another_place_is_no_internal_error() -> None:
    look = {"a": ("SHL202", "b\na", ERROR)}
    assert rounds("a", look)[1] == [f"after {MOST_ROUNDS} rounds there is still something to fix in a.py"]


def test_overlapping_fixes_take_turns() -> None:
    span = Span("a.py", 1, 1, 1, 4)
    inner = finding(1, 2, 3, "x", "SHL802", WARNING)
    outer = Finding("SHL801", "n", WARNING, "m", span, fix=Fix("m", Applicability.SAFE, (Edit(span, "yyy"),)))
    fixed = fix_all([Document("a.py", b"abc")], [inner, outer], False, lambda sources: [])
    assert [f.code for f in fixed.fixed] == ["SHL801"]
    assert fixed.after["a.py"].data == b"yyy"


def test_a_fix_in_a_file_that_is_not_checked_is_not_applied(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(HEADER + 'spec = P("dta")\n')
    (tmp_path / "user.py").write_text(
        "from jax.sharding import NamedSharding\nfrom tools import *\nNamedSharding(mesh, spec)\n"
    )
    check(tmp_path, "user.py", "--fix", "--unsafe-fixes")
    assert (tmp_path / "tools.py").read_text() == HEADER + 'spec = P("dta")\n'
