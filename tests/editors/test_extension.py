"""The VS Code extension: what it says of itself, its own tests, and VS Code with it in a browser."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path

import editor_cache
import pytest
import run_browser

import editor_settings
import shardlint
from shardlint_server.settings.options import HINTS, Options

MANIFEST = editor_settings.manifest()
SETTINGS = MANIFEST["contributes"]["configuration"]["properties"]

#: What runs with the other tests; all of them where the environment says so (see `run_browser`).
FIRST = ("diagnostics", "hover", "hints", "quickfix", "rename", "notebook")


@pytest.fixture
def alone() -> Iterator[None]:
    """The tools are in one folder: who builds there is alone."""
    with (editor_cache.BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_it_has_shardlint_s_version() -> None:
    assert MANIFEST["version"] == shardlint.__version__


def test_the_page_lists_its_settings() -> None:
    page = editor_settings.PAGE.read_text(encoding="utf-8")
    assert page == editor_settings.with_table(page), "python docs/tools/editor_settings.py writes them anew"


def test_the_server_takes_its_settings() -> None:
    """All but those that the extension itself acts upon, with the server's defaults."""
    own = {"interpreter", "path", "importStrategy", "confirm", "trace"}
    names = [name.removeprefix("shardlint.") for name in SETTINGS]
    sent = {name.partition(".")[0] for name in names} - own
    assert sent | {"python", "trusted"} == {field.name for field in dataclasses.fields(Options)}
    assert {name for name in names if name.startswith("inlayHints.")} == {
        f"inlayHints.{kind}" for kind in HINTS
    }
    for field in dataclasses.fields(Options):
        if (setting := SETTINGS.get(f"shardlint.{field.name}")) is not None:
            assert setting["default"] == getattr(Options(), field.name)


def test_the_pages_name_its_commands() -> None:
    titles = [f"{command['category']}: {command['title']}" for command in MANIFEST["contributes"]["commands"]]
    for page in (editor_settings.PAGE, editor_cache.EXTENSION / "README.md"):
        text = page.read_text(encoding="utf-8")
        assert [title for title in titles if f"| {title} |" not in text] == []


def test_what_starts_programs_is_restricted_until_the_workspace_is_trusted() -> None:
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited"
    starting = {f"shardlint.{name}" for name in ("path", "interpreter", "importStrategy")}
    assert starting <= set(trust["restrictedConfigurations"]) <= set(SETTINGS)


def test_versions_are_pinned_without_a_lock_file() -> None:
    """A lock file would hold the addresses that packages came from."""
    assert all(version[0].isdigit() for version in MANIFEST["devDependencies"].values())
    assert not (editor_cache.EXTENSION / "package-lock.json").exists()
    assert "package-lock=false" in (editor_cache.EXTENSION / ".npmrc").read_text()


@pytest.mark.skipif(
    editor_cache.missing_tools() is not None,
    reason=f"{editor_cache.missing_tools()}; python tests/editors/editor_cache.py fetches them",
)
def test_it_is_typed_and_its_tests_pass(alone: None) -> None:
    editor_cache.copy_extension()
    editor_cache.npm("run", "check", folder=editor_cache.BUILD)
    printed = editor_cache.npm("test", folder=editor_cache.BUILD).stdout
    assert re.search(r"^\S* pass [1-9]", printed, re.MULTILINE), printed


@pytest.mark.skipif(
    editor_cache.missing_editor() is not None,
    reason=f"{editor_cache.missing_editor()}; python tests/editors/run_browser.py --install fetches it",
)
def test_vs_code_in_a_browser(alone: None, tmp_path: Path) -> None:
    pictures = Path(os.environ.get("SHARDLINT_PICTURES") or tmp_path)
    scenarios = run_browser.SCENARIOS if os.environ.get("SHARDLINT_SCENARIOS") == "all" else FIRST
    outcomes = list(run_browser.run(scenarios, pictures))
    failed = [f"{outcome.name}: {outcome.error}" for outcome in outcomes if outcome.error is not None]
    assert not failed, "\n\n".join([*failed, f"pictures in {pictures}"])
    assert {outcome.name for outcome in outcomes} == set(scenarios)
