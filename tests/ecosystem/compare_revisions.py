"""What a change does to findings in real code: two revisions of shardlint over local checkouts.

    python tests/ecosystem/compare_revisions.py OLD NEW CHECKOUT...

OLD and NEW are revisions of this repository, or folders that hold a shardlint. Every finding gained or lost
is printed, to be read by hand, then times and crashes a checkout. Exits 1 when a revision crashed.

A checkout whose folder is called ``owner+name``, as a file in ``configurations/`` is, is checked with that
configuration: the meshes its authors deploy on, and where its logical axis rules are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = Path(__file__).parent / "configurations"
#: Codes that say shardlint failed, not the program.
CRASHES = ("SHL009",)
LIMIT = 3600

Key = tuple[str, int, str, str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """One revision over one checkout. ``failure`` is what it printed where it gave no findings."""

    findings: dict[Key, str]
    seconds: float
    failure: str = ""

    @property
    def crashes(self) -> int:
        """How many files shardlint failed on; all of them count as one where it gave no findings."""
        return sum(code in CRASHES for _, _, code, _, _ in self.findings) + bool(self.failure)


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--devices", type=int, help="how many devices there are")
    options = parser.parse_args()
    options_given = [] if options.devices is None else ["--devices", str(options.devices)]
    crashed = False
    with (
        tempfile.TemporaryDirectory() as folder,
        unpacked(options.old, Path(folder) / "old") as old,
        unpacked(options.new, Path(folder) / "new") as new,
    ):
        for checkout in options.checkouts:
            given = [*options_given, *configured(checkout)]
            before, after = run(old, checkout, given), run(new, checkout, given)
            print("\n".join(report(checkout.name, before, after)), flush=True)
            crashed |= bool(before.crashes or after.crashes)
    return int(crashed)


def configured(checkout: Path) -> list[str]:
    """The option that names the configuration of a checkout, where there is one."""
    file = CONFIGURATIONS / f"{checkout.resolve().name}.toml"
    return ["--config", str(file)] if file.is_file() else []


@contextmanager
def unpacked(revision: str, folder: Path) -> Iterator[Path]:
    """The folder of a revision: itself, or a work tree made for the while."""
    if Path(revision).is_dir():
        yield Path(revision)
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), revision], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def run(shardlint: Path, checkout: Path, options: Sequence[str] = ()) -> Run:
    """Check a checkout with the shardlint in a folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(shardlint), str(shardlint / "server")))}
    command = [
        sys.executable,
        "-m",
        "shardlint",
        "check",
        ".",
        "--no-cache",
        "--output-format",
        "json",
        *options,
    ]
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return Run({}, LIMIT, "took too long")
    seconds = time.perf_counter() - start
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        return Run({}, seconds, done.stderr.strip() or f"exit {done.returncode}")
    return Run({key_of(finding): finding["message"] for finding in findings}, seconds)


def key_of(finding: dict[str, Any]) -> Key:
    """What makes a finding the same in two runs."""
    place = str(finding["column"]) if "cell" not in finding else f"{finding['cell']}:{finding['column']}"
    return finding["path"], finding["line"], finding["code"], finding["severity"], place


def report(name: str, before: Run, after: Run) -> Iterator[str]:
    """What was gained and lost, and one line that counts."""
    for sign, ours, theirs in (("-", before, after), ("+", after, before)):
        for key in sorted(ours.findings.keys() - theirs.findings.keys()):
            path, line, code, severity, _ = key
            yield f"{sign} {name}/{path}:{line}: {severity}[{code}] {ours.findings[key]}"
        if ours.failure:
            yield f"{sign} {name}: {ours.failure.splitlines()[-1]}"
    gained, lost = (len(a.findings.keys() - b.findings.keys()) for a, b in ((after, before), (before, after)))
    yield (
        f"{name}: {len(before.findings)} findings, then {len(after.findings)} (+{gained} -{lost}); "
        f"crashes {before.crashes}, then {after.crashes}; {before.seconds:.1f} s, then {after.seconds:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
