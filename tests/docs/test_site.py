"""The site: it builds without a warning and offline, and shows of each rule what is tested."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from programs_with_fixes import CASES

import build
import command_pages
import jax_says
import rule_pages
from shardlint.api import Settings
from shardlint.cli.commands import main
from shardlint.rules import AnyRule, all_rules

DOCS = build.DOCS
#: Rules whose fix is not made by a rewrite of a rule: of comments.
OTHER_FIXES = {"SHL012", "SHL013"}
RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The pages that are made, by path."""
    return dict(build.made())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built where there is no network: whoever asks for it is told that there is none."""
    target = tmp_path_factory.mktemp("site") / "html"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, str(DOCS / "tools" / "build.py"), str(target)],
        env={**os.environ, **proxies, "PYTHONPATH": str(DOCS.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def text_of(page: Path) -> str:
    """What a page of the site says, without markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


@RULES
def test_a_rule_has_the_page_that_links_lead_to(rule: AnyRule, site: Path) -> None:
    address = Settings(docs_url="https://docs.example.com").page_of(rule.name)
    assert address is not None
    text = text_of(site / address.removeprefix("https://docs.example.com/") / "index.html")
    assert f"{rule.name} ({rule.code})" in text
    assert rule.bad in text
    assert rule.good in text
    for finding in rule_pages.findings(rule.code):
        assert finding.message in text
    measured = [known[rule.code] for known in jax_says.table().values() if rule.code in known]
    for said in measured:
        assert said is None or said["raises"] in text
    said = measured[-1]
    assert said is None or f"{said['raises']}: {said['message']}" in text


def test_what_check_writes_leads_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = all_rules()[0]
    (tmp_path / "program.py").write_text(rule.bad)
    (tmp_path / "shardlint.toml").write_text('docs-url = "https://docs.example.com/"\n')
    for _ in range(2):  # The second time nothing is read but what was found before.
        assert main(["check", str(tmp_path), "--output-format", "sarif"]) == 1
        assert f'"helpUri": "https://docs.example.com/rules/{rule.name}/"' in capsys.readouterr().out


def test_the_index_lists_every_rule_once(pages: dict[str, str]) -> None:
    rows = re.findall(r"^\| (SHL\d+) \| \[(.+?)\]\((.+?)\.md\) \|", pages["rules/index.md"], re.MULTILINE)
    assert sorted(rows) == [(rule.code, rule.name, rule.name) for rule in rule_pages.RULES]


def test_the_pages_of_rules_are_their_docstrings(pages: dict[str, str]) -> None:
    for rule in all_rules():
        page = pages[f"rules/{rule.name}.md"]
        page = re.sub(r"\[([\w-]+)\]\(\1\.md\)", r"\1", page)
        for line in rule.docs.strip().splitlines():
            assert line in page, (rule.code, line)


def test_every_page_is_in_the_navigation(tmp_path: Path) -> None:
    build.compose(tmp_path)
    there = {str(page.relative_to(tmp_path / "docs")) for page in (tmp_path / "docs").rglob("*.md")}
    listed = re.findall(r"\S+\.md$", (tmp_path / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(there)


def test_every_option_is_in_the_reference(site: Path) -> None:
    text = text_of(site / "commands" / "index.html")
    for name, words, parser in command_pages.commands():
        assert f"shardlint {name}" in text
        for action in parser._actions:
            for option in action.option_strings:
                assert option in ("-h", "--help") or option in text, (name, option)
        assert words[1:] in text


def test_nothing_is_fetched_by_who_reads_it(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)\"", page.read_text(encoding="utf-8")
        )
        fetched += re.findall(
            r"<link\b[^>]*\brel=\"(?:stylesheet|icon|preload|preconnect)\"[^>]*", page.read_text("utf-8")
        )
        assert not [part for part in fetched if "//" in part], page


@pytest.mark.parametrize("planted", ["[a](nowhere.md)", "[a](ci.md#nowhere)", "[a](rules/no-rule.md)"])
def test_a_planted_link_to_nowhere_fails_the_build(planted: str, tmp_path: Path) -> None:
    for name in ("index.md", "ci.md"):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(f"# A page\n\n{planted if name == 'index.md' else 'text'}\n")
    settings = yaml.safe_load((DOCS / "mkdocs.yml").read_text())
    settings["nav"] = ["index.md", "ci.md"]
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode != 0
    (tmp_path / "docs" / "index.md").write_text("# A page\n\n[a](ci.md#a-page)\n")
    shutil.rmtree(tmp_path / ".cache", ignore_errors=True)
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0


def test_the_table_of_fixes_has_every_fix() -> None:
    assert set(rule_pages.fix_notes()) == {rule.code for rule in all_rules() if rule.fix} | OTHER_FIXES


@pytest.mark.parametrize("name", CASES)
def test_the_table_of_fixes_says_how_safe_they_are(name: str) -> None:
    case = CASES[name]
    assert ("safe" if case.safe else "unsafe") in rule_pages.fix_words(case.code).split(", ")
