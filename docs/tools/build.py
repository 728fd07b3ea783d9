"""Build the site: the pages in ``docs/``, and those that are made from the code.

``python docs/tools/build.py [FOLDER]`` writes it to FOLDER (``site`` unless given), and fails where a link
leads nowhere. Nothing that is made is kept in ``docs/``: the pages of the rules, the reference of the command
line and the changelog are put beside copies of the other pages, in a folder that is thrown away.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import command_pages
import release_pages
import rule_pages
from shardlint.api import known_rules

DOCS = Path(__file__).parents[1]

#: The subjects of the rules, by the hundreds of their codes.
SUBJECTS = {
    "SHL1": "Specs and meshes",
    "SHL2": "Specs and arrays",
    "SHL3": "shard_map and collectives",
    "SHL4": "Meshes",
    "SHL5": "Flax",
    "SHL6": "Memory and movement",
    "SHL7": "Explicit axes",
    "SHL8": "Releases of JAX",
    "SHL9": "Fixtures and cost",
    "SHL0": "Files and comments",
}


def main(arguments: list[str]) -> int:
    """Build the site and return the exit code: 0 if nothing is wrong with it."""
    target = Path(arguments[0] if arguments else "site").resolve()
    with tempfile.TemporaryDirectory(prefix="shardlint-docs-") as folder:
        compose(Path(folder))
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        done = subprocess.run(command, cwd=folder)
        if done.returncode == 0:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(Path(folder) / "site", target)
    return done.returncode


def compose(folder: Path) -> None:
    """Put the pages, and the configuration of the site, into a folder."""
    shutil.copytree(
        DOCS, folder / "docs", ignore=shutil.ignore_patterns("tools", "mkdocs.yml", "__pycache__")
    )
    for path, text in made():
        file = folder / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    settings = yaml.safe_load((DOCS / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["nav"] = [_rules() if entry == {"Rules": "rules/"} else entry for entry in settings["nav"]]
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


def made() -> Iterator[tuple[str, str]]:
    """Yield the pages that are made from the code: their paths, and their Markdown."""
    yield from rule_pages.pages()
    yield "commands.md", command_pages.page()
    yield "releases.md", release_pages.page()
    yield "changelog.md", (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")


def _rules() -> dict[str, Any]:
    entries: list[Any] = ["rules/index.md"]
    for prefix, subject in SUBJECTS.items():
        rules = [rule for rule in known_rules() if rule.code.startswith(prefix)]
        entries.append({subject: [{f"{rule.code} {rule.name}": f"rules/{rule.name}.md"} for rule in rules]})
    return {"Rules": entries}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
