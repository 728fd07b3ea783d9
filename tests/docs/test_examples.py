"""What the documentation shows is what happens: its sessions, its programs, its data."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import jax
import pytest
import yaml
from support.command import forked_program
from support.jax_answers import jax_raises

import examples
from examples import Reader, blocks

DOCS = examples.ROOT / "docs"
PAGES = {str(page.relative_to(DOCS)): page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
DONE = [
    name for name, page in PAGES.items() if any(b.language in ("python", "console") for b in blocks(page))
]
CHANGING = [name for name in DONE if any(block.is_part for block in blocks(PAGES[name]))]
#: What a test takes is not said twice in the same time.
SECONDS = re.compile(r"\bin \d+\.\d+s\b")
#: The JAX that ran what is shown: sizes of temporaries and words of exceptions are those of its release.
RAN = re.compile(r"(?:\bby|·|\s\s) JAX (\d[\d.]*\d)|JAX (\d[\d.]*\d) was asked")


def releases_in(text: str) -> set[str]:
    """The releases of JAX that ran what a text shows."""
    return {one or other for one, other in RAN.findall(text)}


def different_sessions(page: str, folder: Path) -> list[str]:
    """What a page's sessions print, and its commands, otherwise than it says."""
    reader = Reader(page, folder, forked_program())
    found = [
        f"{session.printed}\nis not\n{session.block.text}"
        for session in reader.sessions()
        if releases_in(session.block.text) <= {jax.__version__}
        and SECONDS.sub("", session.printed) != SECONDS.sub("", session.block.text)
    ]
    if reader.changes_shardlint:
        found += [done.stdout for done in reader.commands() if done.returncode]
    return found


def different_programs(*pages: str) -> list[str]:
    """What programs of pages raise otherwise than they say."""
    return [
        f"{program.raised}: {program.message}, of\n{program.block.text}"
        for program in examples.programs(pages, jax_raises)
        if program.raised != program.raises
    ]


def test_one_release_of_jax_ran_what_is_shown() -> None:
    assert len(set().union(*map(releases_in, PAGES.values()))) == 1


@pytest.mark.parametrize("name", DONE)
def test_a_page_says_what_happens(name: str, tmp_path: Path) -> None:
    wrong = different_sessions(PAGES[name], tmp_path / "page")
    assert not wrong, "\n\n".join([*wrong, f"python docs/tools/examples.py docs/{name}"])


def test_programs_do_in_jax_what_they_say() -> None:
    wrong = different_programs(*PAGES.values())
    assert not wrong, "\n\n".join(wrong)


def test_pages_are_met() -> None:
    assert sorted(CHANGING) == ["adding-a-rule.md", "adding-an-overlay.md"]
    assert len(DONE) > 10


def test_planted_differences_are_found(tmp_path: Path) -> None:
    sessions = ("$ echo yes\nno\n", "$ echo yes\n", "$ true\nyes\n", "$ echo yes\nyes\n")
    pages = [f"```console\n{session}```\n" for session in sessions]
    found = [len(different_sessions(page, tmp_path / str(n))) for n, page in enumerate(pages)]
    assert found == [1, 1, 1, 0]
    programs = (
        "1 / 0",
        "1  # raises ValueError",
        "1 / 0  # raises ValueError",
        "1 / 0  # raises ZeroDivisionError",
    )
    pages = [f"```python\n{program}\n```\n" for program in programs]
    assert len(different_programs(*pages)) == 3


def test_a_page_is_followed_from_top_to_bottom(tmp_path: Path) -> None:
    page = (
        '```text title="a/b.txt"\none\ntwo\n```\n'
        "```console\n$ cat a/b.txt\none\ntwo\n$ echo $((1 + 1))\n2\n```\n"
        "```diff\n--- a/a/b.txt\n+++ b/a/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n```\n"
        "```console\n$ cat a/b.txt\none\nthree\n```\n"
        "````python\n'''\n```python\nno\n```\n'''\n1 / 0  # raises ZeroDivisionError\n````\n"
    )
    assert different_sessions(page, tmp_path / "page") == []
    assert different_programs(page) == []


def data() -> list[tuple[str, str, str]]:
    kinds = ("toml", "yaml", "json")
    return [(n, b.language, b.text) for n, page in PAGES.items() for b in blocks(page) if b.language in kinds]


@pytest.mark.parametrize(("name", "kind", "text"), data())
def test_data_can_be_read(name: str, kind: str, text: str) -> None:
    read = {"toml": tomllib.loads, "yaml": yaml.safe_load, "json": json.loads}[kind]
    assert read(text)


def test_every_block_has_a_language() -> None:
    for name, page in PAGES.items():
        outside = re.sub(r"^(`{3,})\w.*?^\1$", "", page, flags=re.DOTALL | re.MULTILINE)
        assert "```" not in outside, name
