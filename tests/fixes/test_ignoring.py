"""Comments that ignore: whose findings they take, which are in vain, and `--add-ignores`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import BAD, GOOD, HEADER, check, write_notebook
from support import checking
from support.checking import places

LINES = """\
jax.device_put(  {first}
    jnp.zeros((8, 10)),
    NamedSharding(mesh, P(None, "model")),  {own}
)  {last}
"""
IGNORE = "# shardlint: ignore[SHL202] known"


def found(text: str, **settings: Any) -> list[tuple[str, int]]:
    return places(checking.check(HEADER + text, **settings), HEADER)


def lines(first: str = "", own: str = "", last: str = "") -> str:
    return LINES.format(first=first, own=own, last=last)


@pytest.mark.parametrize(
    "text",
    [
        f"{BAD}  {IGNORE}\n",
        f"{BAD}  # note  {IGNORE}\n",
        f"{BAD}  # noqa # shardlint: ignore\n",
        f"{IGNORE}\n\n# note\n{BAD}\n",
        lines(first=IGNORE),
        lines(own=IGNORE),
        lines(last=IGNORE),
        f"x = {BAD[:15]} \\\n {BAD[15:]}  {IGNORE}\n".replace("(jnp", "(jnp"),
        f"if True:\n    # shardlint: disable[SHL202] all of it\n    {BAD}\n",
        f"# shardlint: disable\n{BAD}\n# shardlint: enable\n",
        f"{BAD}  # shardlint: disable[SHL202]\n",
        f"{BAD}\n# shardlint: ignore-file[SHL2]\n",
    ],
)
def test_what_is_ignored(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"x = '{IGNORE}'; {BAD}\n", 1),
        (f'{BAD}; x = """\n{IGNORE}\n"""\n', 1),
        (f"if True:\n    # shardlint: disable[SHL202]\n    {BAD}\n{BAD}\n", 4),
        (f"# shardlint: disable[SHL202]\n{BAD}\n# shardlint: enable[SHL202]\n{BAD}\n", 4),
        (f"# shardlint: disable\n{BAD}\n# shardlint: enable[SHL202]\n{BAD}\n", 4),
    ],
)
def test_what_is_not(text: str, line: int) -> None:
    assert found(text) == [("SHL202", line)]


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (f"{GOOD}  {IGNORE}\n", f"{GOOD}\n"),
        (f"{GOOD}\t{IGNORE}  # note\n", f"{GOOD}\t# note\n"),
        (f"{GOOD}  # note  {IGNORE}\n", f"{GOOD}  # note\n"),
        (f"{GOOD}  # shardlint: ignore\n", f"{GOOD}\n"),
        (f"{BAD}  # shardlint: ignore[SHL103, SHL202] why\n", f"{BAD}  # shardlint: ignore[SHL202] why\n"),
        (f"{BAD}  # shardlint: ignore[SHL202,SHL2, SHL103]\n", f"{BAD}  # shardlint: ignore[SHL202]\n"),
        (f"{IGNORE}\n{GOOD}\n", f"{GOOD}\n"),
        (f"if True:\n    {IGNORE}\n    {GOOD}\n", f"if True:\n    {GOOD}\n"),
        (f"{GOOD}\n# shardlint: ignore-file[SHL202]", f"{GOOD}"),
        (f"# shardlint: disable[SHL202]\n{GOOD}\n", f"{GOOD}\n"),
    ],
)
def test_what_is_in_vain_is_taken_out(tmp_path: Path, text: str, fixed: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEADER + text)
    assert "SHL012" in check(tmp_path, "a.py").out
    assert check(tmp_path, "a.py", "--fix").code == 0
    assert path.read_text() == HEADER + fixed
    assert check(tmp_path, "a.py").code == 0


def test_what_cannot_be_known_to_be_in_vain_is_not_reported() -> None:
    comment = f"{GOOD}  {IGNORE}\n"
    assert found(comment, ignore=("SHL202",)) == []
    assert found(comment, select=("SHL1", "SHL012")) == []
    assert (
        found(f"def f(x, mesh):\n    return jax.device_put(x, NamedSharding(mesh, P('a')))  {IGNORE}\n") == []
    )
    assert [code for code, _ in found(f"x = (\n{comment}")] == ["SHL001"]
    assert found(f"{GOOD}  # shardlint: ignore[SHL012, SHL202]\n") == []
    assert found(f"{GOOD}  # shardlint: ignore[SHL901]\n") == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore[SHL2020]", 'no rule is called "SHL2020"; did you mean "SHL202"?'),
        ("ignore[indivisble-dimension]", 'did you mean "indivisible-dimension"?'),
        ("ignore[foo]", "`shardlint rules` lists them"),
        ("ignore SHL202", "write `ignore[SHL202]`"),
        ("disable=SHL202", "write `disable[SHL202]`"),
        ("ignore[]", "names no rule"),
        ("enable[SHL202]", "`enable` stands on a line of its own"),
    ],
)
def test_what_is_not_written_so_is_reported(comment: str, message: str) -> None:
    found = checking.check(f"{HEADER}{GOOD}  # shardlint: {comment}\n")
    (finding,) = [f for f in found if f.code == "SHL013"]
    assert message in finding.message


def test_a_word_that_is_none_is_reported() -> None:
    (finding,) = checking.check(f"{HEADER}{GOOD}  # shardlint: ignroe[SHL202]\n")
    assert "did you mean `ignore`?" in finding.message


# -- --add-ignores ------------------------------------------------------------------------------

TRIPLE = 'f("""\n""", jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model"))), """\n""")'


@pytest.mark.parametrize(
    ("text", "added"),
    [
        (BAD, f"{BAD}  # shardlint: ignore[SHL202] old"),
        (f"{BAD}  # note", f"{BAD}  # note  # shardlint: ignore[SHL202] old"),
        (f"{BAD}  # shardlint: mesh=(a=2)", None),
        (f"{BAD} # shardlint: ignore[SHL601] why", f"{BAD}  # shardlint: ignore[SHL202] old"),
        ("x = \\\n    1, \\\n    " + BAD + ", \\\n    2", None),
        (f"def f(*a): pass\n{TRIPLE}", f"def f(*a): pass\n{TRIPLE}  # shardlint: ignore[SHL202] old"),
        (BAD.replace('"model"', '"""model"""'), None),
        (lines(last="# end"), None),
        ("if True: " + BAD + "; y = 1", None),
        (f"# shardlint: disable[SHL1]\n{BAD}", None),
    ],
)
def test_comments_are_added_to_what_is_found(tmp_path: Path, text: str, added: str | None) -> None:
    path = tmp_path / "a.py"
    path.write_bytes((HEADER + text).replace("\n", "\r\n").encode("utf-8-sig"))
    ran = check(tmp_path, "a.py", "--add-ignores=old")
    assert ran.code == 0, ran.err
    once = path.read_bytes()
    if added is not None:
        assert once.decode("utf-8-sig") == (HEADER + added).replace("\n", "\r\n")
    compile(once, "a.py", "exec")
    after = check(tmp_path, "a.py")
    assert [code for code in after.found if not code.startswith("SHL0")] == []
    check(tmp_path, "a.py", "--add-ignores=new")
    assert path.read_bytes() == once


def test_comments_are_added_to_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write_notebook(path, [HEADER, f"{BAD}\n1", BAD, GOOD])
    before = path.read_text(encoding="utf-8").splitlines()
    assert check(tmp_path, "a.ipynb", "--add-ignores").err == "Added comments for 2 findings in 1 file.\n"
    after = path.read_text(encoding="utf-8").splitlines()
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [line.count("  # shardlint: ignore[SHL202]") for line in changed] == [1, 1]
    assert check(tmp_path, "a.ipynb").code == 0


def test_what_no_comment_can_ignore_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{HEADER}{BAD}\nx = 1  # shardlint: ignore[SHL999]\n")
    (tmp_path / "b.py").write_text(f"{HEADER}def f(:\n")
    assert check(tmp_path, ".", "--add-ignores").err.splitlines() == [
        "Added comments for 1 finding in 1 file.",
        "No comment can ignore 2 others (SHL001, SHL013).",
    ]


def test_a_reason_that_the_encoding_lacks(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: latin-1\n" + (HEADER + BAD).encode())
    ran = check(tmp_path, "a.py", "--add-ignores=轴")
    assert ran.code == 2
    assert "latin-1, has no '轴'" in ran.err
    assert path.read_bytes().endswith(BAD.encode())
