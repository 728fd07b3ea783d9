"""Look for releases of jax, jaxlib and flax that were not measured; measure them and tell what changed."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import environments
import law_checks
import measure
import published
import release_differences
import release_files

PACKAGES = ("jax", "jaxlib", "flax")
FOUND_NEW = 3
#: A report is the text of an issue, of which GitHub takes 65,536 characters.
LONGEST = 60_000


def newest(package: str) -> str:
    """Return the newest release of a package that pip finds. Raises RuntimeError."""
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    told = subprocess.run(command, capture_output=True, text=True)
    match = re.match(rf"{package} \(([\d.]+)\)", told.stdout)
    if match is None:
        raise RuntimeError(f"pip finds no {package}: {told.stderr.strip()[-500:]}")
    return match[1]


def news(measured: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the packages with a release beyond what was measured, with both."""
    return [
        f"{package} {found[package]} (measured: {measured.get(package, 'none')})"
        for package in PACKAGES
        if environments.numbers(found[package]) > environments.numbers(measured.get(package, "0"))
    ]


def report(new: list[str], old: str, release: str) -> str:
    """Return what changed from a release to another, and where the laws differ, in Markdown."""
    checked = io.StringIO()
    with contextlib.redirect_stdout(checked):
        law_checks.run([release], examples=1)
    parts = [
        f"New: {', '.join(new)}.",
        f"## What changed from JAX {old} to {release}",
        _block("\n".join(release_differences.report(old, release))),
        "## The laws beside it",
        _block(checked.getvalue()),
        "## To adopt it",
        "See *A new release* in `docs/versions.md`.",
    ]
    return "\n\n".join(parts) + "\n"


def _block(text: str) -> str:
    half = LONGEST // 2
    return f"```text\n{text if len(text) < half else text[:half] + ' …'}\n```"


def run(path: Path, folder: Path, given: list[str]) -> int:
    """Look, measure, and write the report; ``given`` are taken for what is new, instead of asking pip."""
    known = release_files.stored()
    measured = release_files.read(known[-1])["releases"]
    found = {package: newest(package) for package in PACKAGES} if not given else {}
    new = [f"jax {release}" for release in given] or news(measured, found)
    if not new:
        print(f"nothing newer than {measured}")
        _outputs(new="", title="")
        return 0
    release = given[-1] if given else found["jax"]
    before = release_files.read(release)
    old = next((one for one in reversed(known) if one != release), release)
    # A new Flax with a JAX that is known makes another environment of that JAX.
    answers = measure.measure(release, folder / "canary" if before else folder, list(release_files.SECTIONS))
    if before:
        old = f"{release}-before"
        release_files.write(old, before)
    release_files.write(release, answers)
    published.write()
    path.write_text(report(new, old, release), encoding="utf-8")
    if before:
        (release_files.FOLDER / f"{old}.json").unlink()
    print(f"new: {', '.join(new)}; see {path}")
    _outputs(new=" ".join(new), title=f"New releases: {', '.join(new)}")
    return FOUND_NEW


def _outputs(**values: str) -> None:
    if path := os.environ.get("GITHUB_OUTPUT"):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in values.items())
