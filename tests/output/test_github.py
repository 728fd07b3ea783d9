"""GitHub's workflow commands, as GitHub's own `@actions/core` writes them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_findings import SETUP, WRONG, made_up, notebook, of_all_rules, write

from shardlint.api import Excerpts, Linter, Settings, read_source
from shardlint.output.formats import github

#: Level, message and properties, and what @actions/core 3.0.1 prints of them.
RECORDED: list[tuple[str, str, dict[str, str], str]] = [
    ("error", "plain", {}, "::error::plain"),
    ("warning", "", {"file": "a.py"}, "::warning file=a.py::"),
    ("notice", "100%\r\nmore, a:b ::c", {"title": "t"}, "::notice title=t::100%25%0D%0Amore, a:b ::c"),
    (
        "error", "%0A is no newline", {"title": "50%: a,b\n", "file": "ä & b/c d%2C,e:f.py", "line": "3"},
        "::error title=50%25%3A a%2Cb%0A,file=ä & b/c d%252C%2Ce%3Af.py,line=3::%250A is no newline",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("level", "message", "properties", "printed"), RECORDED)
def test_commands_are_escaped_as_the_toolkit_does_it(
    level: str, message: str, properties: dict[str, str], printed: str
) -> None:
    assert github.command(level, properties, message) == printed


PROGRAM = """\
import { error, warning, notice } from "@actions/core"
const names = {
    title: "title", file: "file", line: "startLine", endLine: "endLine",
    col: "startColumn", endColumn: "endColumn",
}
for (const [level, properties, message] of JSON.parse(process.argv[2])) {
    const given = Object.fromEntries(Object.entries(properties).map(([key, value]) => [names[key], value]))
    ;({ error, warning, notice })[level](message, given)
}
"""


def test_the_toolkit_writes_the_same(tmp_path: Path) -> None:
    """Needs node and npm's registry; without them the recorded commands have to do."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    (tmp_path / "program.mjs").write_text(PROGRAM)
    (tmp_path / "package.json").write_text("{}")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "@actions/core@3.0.1"]
    try:
        subprocess.run(install, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("@actions/core cannot be had")
    findings, excerpts = of_all_rules()
    commands = [
        *github.render(made_up()[1:], excerpts.in_file).split("\n")[:-1],
        *github.render(findings, excerpts.in_file).split("\n")[:-1],
        *(github.command(level, properties, message) for level, message, properties, _ in RECORDED),
    ]
    given = json.dumps([[level, properties, text] for level, properties, text in map(parsed, commands)])
    done = subprocess.run(
        ["node", "program.mjs", given], cwd=tmp_path, check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.split("\n")[:-1] == commands


def parsed(command: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the runner does: split first, then unescape."""
    _, head, data = command.split("::", 2)
    level, _, properties = head.partition(" ")

    def plain(text: str, escapes: str) -> str:
        for escape, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            text = text.replace(escape, char) if char in escapes else text
        return text

    pairs = (pair.split("=", 1) for pair in properties.split(",") if pair)
    return level, {key: plain(value, ":,\r\n%") for key, value in pairs}, plain(data, "\r\n%")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(min_size=1))
def test_what_is_escaped_can_be_read_back(message: str, title: str) -> None:
    command = github.command("error", {"title": title, "file": "a.py"}, message)
    assert not set(command) & {"\r", "\n"}
    assert parsed(command) == ("error", {"title": title, "file": "a.py"}, message)


def test_what_commands_say() -> None:
    plain, full, info, announced, whole = map(
        parsed, github.render(made_up(), lambda span: span).split("\n")[:-1]
    )
    assert [said[0] for said in (plain, full, info, announced, whole)] == [
        "error", "warning", "notice", "notice", "error",
    ]  # fmt: skip
    assert plain[1] == {
        "title": "shardlint SHL202 (indivisible-dimension)", "file": "häuser & co/a b%20,c:d.py",
        "line": "2", "endLine": "2", "col": "3", "endColumn": "9",
    }  # fmt: skip
    assert full[2].split("\n")[1:] == ["häuser & co/b.py:1:1: made here", "help: a help"]
    assert "col" not in announced[1], "GitHub takes columns of one line only"


def test_a_notebooks_lines_are_of_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, "n.ipynb", notebook([SETUP, f"pass\n{WRONG}\n"]))
    findings = Linter(Settings()).check_source(read_source(path))
    (said,) = map(parsed, github.render(findings, Excerpts().in_file).split("\n")[:-1])
    properties: dict[str, Any] = said[1]
    line = Path(path).read_text().splitlines()[int(properties["line"]) - 1]
    marked = line[int(properties["col"]) - 1 : int(properties["endColumn"]) - 1]
    assert marked == '\\"model\\"'
    assert "cell 2, line 2: dimension 1" in said[2]
